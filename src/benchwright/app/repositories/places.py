"""Where built environments are opened: as layers, or as container images, made of them or pulled."""

from typing import Protocol

from benchwright.app.repositories.selection import Selection
from benchwright.core.errors import UsageError
from benchwright.core.repositories import RepositoryProblem
from benchwright.environments.repositories.images import ImageLayer, build_image, image_name, pull_image
from benchwright.environments.repositories.instances import IMAGE_ENVIRON, RepositoryEnvironments
from benchwright.environments.repositories.pulled import PulledSandbox
from benchwright.environments.repositories.pythons import UnavailableError
from benchwright.execution.repositories import Place
from benchwright.sandboxes.docker import DockerSandbox
from benchwright.sandboxes.registry import SANDBOXES
from benchwright.sandboxes.users import user_mapping


class Places(Protocol):
    """Finds the place of a problem."""

    def place(self, problem: RepositoryProblem) -> Place | None:
        """Where its patches run, or None when its environment is not built.

        Raises `UnavailableError` when it cannot be had on this machine.
        """


def image_tag(problem: RepositoryProblem) -> str:
    """What the engine calls the image of a problem that is made here."""
    return f"benchwright/{problem.id.lower()}:latest"


def places_of(selection: Selection, environments: RepositoryEnvironments | None) -> Places:
    """The places of a selection; raises `UsageError` for a sandbox that cannot open such environments."""
    if selection.images is not None and selection.sandbox != "docker":
        raise UsageError("--images names images of a container engine; give --sandbox docker with it.")
    if selection.images is not None:
        return _Pulled(selection.images)
    assert environments is not None, "layers are needed where no image is pulled"
    if selection.sandbox == "docker":
        return _Images(environments)
    return _Layers(environments, selection.sandbox)


class _Layers:
    """Opened as they are."""

    def __init__(self, environments: RepositoryEnvironments, sandbox: str) -> None:
        self._environments = environments
        self._sandbox = SANDBOXES.get(sandbox)()

    def place(self, problem: RepositoryProblem) -> Place | None:
        image = self._environments.image(problem)
        return None if image is None else Place(sandbox=self._sandbox, image=image)


class _Images:
    """Made into an image of the engine first, which shares layers with others."""

    def __init__(self, environments: RepositoryEnvironments) -> None:
        self._environments = environments
        self._sandbox = DockerSandbox()

    def place(self, problem: RepositoryProblem) -> Place | None:
        if self._environments.image(problem) is None:
            return None
        layers = self._environments.stack(problem)
        assert layers is not None, "an image was found for the problem"
        image = build_image(
            self._sandbox.engine,
            [ImageLayer(path=layer.path, digest=layer.manifest.content.digest) for layer in layers],
            tag=image_tag(problem),
            environ=IMAGE_ENVIRON,
            owner=user_mapping(),
        )
        return Place(sandbox=self._sandbox, image=image)


class _Pulled:
    """Somebody else's image."""

    def __init__(self, template: str) -> None:
        self._template = template
        self._sandbox = DockerSandbox()

    def place(self, problem: RepositoryProblem) -> Place | None:
        image_name(self._template, problem.id, "x86_64")  # a template that names no problem is wrong for all of them
        try:
            image = pull_image(self._sandbox.engine, self._template, problem)
        except UsageError as error:
            raise UnavailableError(str(error)) from error
        return Place(sandbox=PulledSandbox(self._sandbox, problem), image=image)
