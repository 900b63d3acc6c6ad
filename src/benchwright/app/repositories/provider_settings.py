"""Writing settings with which Inspect's own sandbox providers open the environments of repository problems."""

import dataclasses
import enum
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchwright.app.repositories.places import image_tag
from benchwright.app.repositories.selection import Selection
from benchwright.app.repositories.setups import select
from benchwright.app.workspace import Workspace
from benchwright.core.errors import MachineError, UsageError
from benchwright.core.repositories import RepositoryProblem
from benchwright.environments.repositories.provider_settings import (
    compose_settings,
    pushed_reference,
    values_settings,
)
from benchwright.sandboxes.base import Image, WorkspaceLimits

PUSH_SCRIPT = "push-images.sh"


class Provider(enum.StrEnum):
    """Whose settings; the values are Inspect's names."""

    DOCKER = "docker"
    K8S = "k8s"


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenSettings:
    """What was written."""

    files: Mapping[str, Path]
    """The file of each instance, by id."""
    images: Mapping[str, str]
    """What the provider calls each instance's image, by id."""
    push_script: Path | None
    """Gives the images to the registry; None where none is needed."""
    unavailable: Mapping[str, str]
    """Why an instance's environment cannot be had on this machine, by id; these have no file."""


def write_settings(
    selection: Selection, provider: Provider, out: Path, workspace: Workspace, *, registry: str | None = None
) -> WrittenSettings:
    """Write one folder with settings for each chosen instance; files of the same name are replaced.

    The container engine of this machine gets the images, as with ``--sandbox docker``; nothing is pushed.

    Args:
        selection: Which instances; all must be built.
        provider: For whom.
        out: Folder for the folders, which are called by the instances' ids.
        workspace: Where the environments are.
        registry: Where the cluster shall pull from; needed for ``k8s``, and for nothing else.

    Raises:
        UsageError: An instance is not built, images are pulled ones, or the registry is missing or of no use.
        MachineError: The files cannot be written, or what making the images raises.
    """
    if selection.images is not None:
        raise UsageError(
            "Pulled images carry the repository's later history, which only our own sandboxes cut; leave --images out "
            "and build the environments."
        )
    if (registry is None) == (provider is Provider.K8S):
        raise UsageError("--registry says where a cluster pulls images from: give it with --for k8s, and only there.")
    if registry is not None:
        pushed_reference(registry, "checked/before-images-are-made:latest", "0")
    selected = select(dataclasses.replace(selection, sandbox="docker"), workspace)
    limits = selection.workspace_limits
    files: dict[str, Path] = {}
    images: dict[str, str] = {}
    for problem in selected.available:
        image = selected.setups[problem.id].place.image
        name, images[problem.id], text = _settings(problem, image, limits, registry)
        files[problem.id] = _write(out / problem.id / name, text)
    ids = {problem: setup.place.image.reference for problem, setup in selected.setups.items()}
    script = None if registry is None else _write(out / PUSH_SCRIPT, _push_script(ids, images))
    return WrittenSettings(files=files, images=images, push_script=script, unavailable=selected.unavailable)


def _settings(
    problem: RepositoryProblem, image: Image, limits: WorkspaceLimits, registry: str | None
) -> tuple[str, str, str]:
    """Name of the file, of the image, and the file's text."""
    tag = image_tag(problem)
    if registry is None:
        return "compose.yaml", tag, compose_settings(image, limits, tag=tag, instance=problem.id)
    reference = pushed_reference(registry, tag, image.digest)
    return "values.yaml", reference, values_settings(image, limits, reference=reference, instance=problem.id)


def _push_script(ids: Mapping[str, str], references: Mapping[str, str]) -> str:
    """Shell commands that push images, taken by the engine's own ids, under the names that were settled."""
    lines = ["#!/bin/sh", "# Gives the images to the registry that the settings beside this file name.", "set -eu"]
    for problem, reference in references.items():
        lines.append(f"docker tag {shlex.quote(ids[problem])} {shlex.quote(reference)}")
        lines.append(f"docker push {shlex.quote(reference)}")
    return "\n".join([*lines, ""])


def _write(path: Path, text: str) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        if path.suffix == ".sh":
            path.chmod(0o755)
    except OSError as error:
        raise MachineError(f"Could not write {path} ({error.strerror}); choose another folder with --out.") from error
    return path
