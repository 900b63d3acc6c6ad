"""Images of a container engine for repository problems: made here from layers, or pulled from a registry.

Nothing is built by the engine: an image is written as an archive and loaded, so no builder and no base image of a
registry are needed, and equal layers are shared between images.  What the engine already has is not sent again.

Pulled images carry the repository's later history; `prepare_pulled` cuts it, in each workspace, and checks the cut.
"""

import itertools
import json
import platform
import re
import string
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchwright.core.digest import digest_of
from benchwright.core.errors import MachineError, UsageError
from benchwright.core.repositories import WORK, RepositoryProblem
from benchwright.environments.repositories.cut import check_cut, cut_commands
from benchwright.environments.repositories.files import told_plainly
from benchwright.environments.repositories.image_archives import (
    LAYERS_LABEL,
    Blob,
    image_config,
    write_image,
    write_layer,
)
from benchwright.environments.repositories.proof import HistoryProof
from benchwright.sandboxes.base import Image, RunLimits, Workspace
from benchwright.sandboxes.containers.engine import Answer, Engine
from benchwright.sandboxes.users import UserMapping

IMAGE_LABEL = "benchwright.image"
"""Label of an image: the digest of what it was made from."""

_LIST_TRIES = 5  # somebody else may remove an image between two calls

IMAGE_FORM = 1
"""Raised when the same layers make another image than before."""

OFFICIAL_TEMPLATE = "swebench/sweb.eval.{arch}.{official_id}:latest"
"""The benchmark authors' images on Docker Hub (swebench 4.1.0, ``harness/test_spec/test_spec.py``,
``instance_image_key``: the id in lower case, ``__`` written ``_1776_``)."""

EPOCH_TEMPLATE = "ghcr.io/epoch-research/swe-bench.eval.{arch}.{id}:latest"
"""Epoch AI's images (github.com/epoch-research/SWE-bench, README: ``<arch>`` is x86_64 or arm64)."""

TEMPLATES = {"official": OFFICIAL_TEMPLATE, "epoch": EPOCH_TEMPLATE}
"""Templates by the names that stand for them."""

CONDA_ENVIRONMENT = "/opt/miniconda3/envs/testbed"
"""Where both kinds of pulled images have the environment of the tests (swebench 4.1.0, ``harness/dockerfiles``)."""

CONDA_ENVIRON: Mapping[str, str] = {
    "PATH": f"{CONDA_ENVIRONMENT}/bin:/opt/miniconda3/condabin:/opt/miniconda3/bin"
    ":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/root",
    "CONDA_DEFAULT_ENV": "testbed",
    "CONDA_EXE": "/opt/miniconda3/bin/conda",
    "CONDA_PREFIX": CONDA_ENVIRONMENT,
    "CONDA_PYTHON_EXE": "/opt/miniconda3/bin/python",
    "CONDA_SHLVL": "2",
}
"""What activating that environment sets, as the official script does before each command."""

_CUT_SECONDS = 600.0
"""For cutting a history; the largest of the 12 repositories takes about 7 s of CPU time."""

_TAG = re.compile(r"[a-z0-9]+(?:[._/-]+[a-z0-9]+)*(?::[A-Za-z0-9_][A-Za-z0-9_.-]*)?")
_UNKNOWN_IMAGE = ("manifest unknown", "not found", "does not exist", "access denied", "no such image")


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageLayer:
    """A layer to make an image of."""

    path: Path
    digest: str
    """Of its content; equal digests must mean equal files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineImage:
    """An image of ours that an engine has."""

    id: str
    tags: tuple[str, ...]
    digest: str
    """Of what it was made from; equals `Image.digest` of `build_image`."""
    layers: tuple[str, ...]
    """Digests of its layers, the lowest first."""
    diff_ids: tuple[str, ...]
    """The engine's names of these layers."""
    bytes: int
    """Of all its layers, those that other images have too included."""


def build_image(
    engine: Engine,
    layers: Sequence[ImageLayer],
    *,
    tag: str,
    environ: Mapping[str, str],
    owner: UserMapping,
    workdir: str = WORK,
    scratch: Path | None = None,
) -> Image:
    """Make an image of layers, or find the one that was made of them before.

    Args:
        engine: Where it shall be.
        layers: The lowest first.
        tag: What it shall be called, such as ``benchwright/sphinx-doc__sphinx-8265:latest``.
        environ: Variables that every command in it gets.
        owner: Who is root inside, of the layers' files.
        workdir: Folder in which commands start.
        scratch: Where to write layers before they are sent; the system's folder for temporary files when None.

    Raises `UsageError` for a tag or a layer that no image can have, `MachineError` when the engine does not take it
    or the disk is full, and what `Engine.call` raises.
    """
    if not layers or not _TAG.fullmatch(tag):
        raise UsageError(f"An image needs layers and a name in lower case such as `name/of:tag`, not {tag!r}.")
    digests = [layer.digest for layer in layers]
    digest = digest_of({"form": IMAGE_FORM, "layers": digests, "environ": dict(environ), "workdir": workdir})
    present = list_images(engine)
    for found in present:
        if found.digest == digest:
            _expect(engine.call("tag", found.id, tag), f"call an image {tag}")
            return _image(found, environ, workdir)
    recipe = _Recipe(layers=layers, digest=digest, tag=tag, environ=environ, workdir=workdir, owner=owner)
    known = _longest_common_start(digests, present)
    with told_plainly(f"make the image {tag}"), tempfile.TemporaryDirectory(dir=scratch) as folder:
        answer = _load(engine, recipe, known, Path(folder))
        if answer.status != 0 and known:
            # An engine that keeps images in containerd wants every layer, and another process may have removed some.
            answer = _load(engine, recipe, (), Path(folder))
    _expect(answer, f"load the image {tag}")
    loaded = next((found for found in list_images(engine) if found.digest == digest), None)
    if loaded is None:
        raise MachineError(f"The container engine took the image {tag}, but does not list it.")
    return _image(loaded, environ, workdir)


def _image(found: EngineImage, environ: Mapping[str, str], workdir: str) -> Image:
    """An image by the engine's own id: its name may be given to another one at any time."""
    return Image(digest=found.digest, reference=found.id, environ=dict(environ), workdir=workdir)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Recipe:
    """What an image is made from."""

    layers: Sequence[ImageLayer]
    digest: str
    tag: str
    environ: Mapping[str, str]
    workdir: str
    owner: UserMapping


def _load(engine: Engine, recipe: _Recipe, known: Sequence[str], folder: Path) -> Answer:
    """Give the engine an image, without its first layers when it has them under known names."""
    blobs = [Blob(diff_id=diff_id, path=None) for diff_id in known]
    for layer in recipe.layers[len(known) :]:
        path = folder / f"{len(blobs)}.tar"
        with path.open("wb") as file:
            blobs.append(Blob(diff_id=write_layer(layer.path, file, owner=recipe.owner), path=path))
    digests = [layer.digest for layer in recipe.layers]
    config = image_config(
        [blob.diff_id for blob in blobs],
        digests,
        environ=recipe.environ,
        workdir=recipe.workdir,
        labels={IMAGE_LABEL: recipe.digest, LAYERS_LABEL: " ".join(digests)},
        machine=platform.machine(),
    )
    return engine.feed("load", write=lambda stream: write_image(stream, config, blobs, tag=recipe.tag))


def _longest_common_start(digests: Sequence[str], images: Iterable[EngineImage]) -> tuple[str, ...]:
    """The engine's names of as many of the first layers as it has on top of each other."""
    best: tuple[str, ...] = ()
    for image in images:
        pairs = zip(digests, image.layers, strict=False)
        common = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))
        if common > len(best):
            best = image.diff_ids[:common]
    return best


def list_images(engine: Engine) -> tuple[EngineImage, ...]:
    """The images that were made here and that the engine still has.  Raises `MachineError`."""
    for _ in range(_LIST_TRIES):
        listed = engine.call("image", "ls", "-q", "--no-trunc", "--filter", f"label={IMAGE_LABEL}")
        ids = list(dict.fromkeys(_expect(listed, "list images").text.split()))
        if not ids:
            return ()
        looked = engine.call("image", "inspect", *ids)
        if looked.status == 0 or "no such image" not in looked.errors.lower():
            break
    return tuple(_engine_image(row) for row in json.loads(_expect(looked, "look at images").output))


def _engine_image(row: Mapping[str, Any]) -> EngineImage:
    labels = row["Config"].get("Labels") or {}
    return EngineImage(
        id=row["Id"],
        tags=tuple(row.get("RepoTags") or ()),
        digest=labels.get(IMAGE_LABEL, ""),
        layers=tuple(labels.get(LAYERS_LABEL, "").split()),
        diff_ids=tuple(row["RootFS"]["Layers"]),
        bytes=int(row["Size"]),
    )


def remove_image(engine: Engine, reference: str) -> bool:
    """Remove an image, and the layers that no other has; False when it is not there.

    Raises `MachineError` when the engine does not, for one because a container uses it.
    """
    answer = engine.call("image", "rm", reference)
    if answer.status != 0 and "no such image" in answer.errors.lower():
        return False
    _expect(answer, f"remove the image {reference}")
    return True


def image_name(template: str, problem_id: str, arch: str) -> str:
    """What a registry calls the image of a problem.

    Args:
        template: ``official``, ``epoch``, or a text with ``{id}`` or ``{official_id}``, and ``{arch}`` if wanted.
        problem_id: The benchmark's id, such as ``sphinx-doc__sphinx-8265``.
        arch: ``x86_64`` or ``arm64``.

    Raises `UsageError` for a template that names no problem or has other fields.
    """
    text = TEMPLATES.get(template, template)
    plain_id = problem_id.lower()
    values = {"arch": arch, "id": plain_id, "official_id": plain_id.replace("__", "_1776_")}
    try:
        fields = {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}
        if not fields <= values.keys() or not fields & {"id", "official_id"}:
            raise ValueError
        return text.format(**values)
    except ValueError as error:
        raise UsageError(
            f"An image template is one of {', '.join(TEMPLATES)}, or a name with {{id}} or {{official_id}} in it (and "
            f"{{arch}} if wanted), not {template!r}."
        ) from error


def pull_image(engine: Engine, template: str, problem: RepositoryProblem) -> Image:
    """The image of a problem that others have made, pulled unless the engine has it.

    Its digest is that of the registry, or the engine's own id of an image that never was in one.  Its repository has
    later history: call `prepare_pulled` in each workspace.

    Raises `UsageError` when the registry has no such image, `MachineError` when it cannot be reached or the disk is
    full, and what `image_name` and `Engine.call` raise.
    """
    arch = engine.facts.architecture
    name = image_name(template, problem.id, {"aarch64": "arm64"}.get(arch, arch))
    found = engine.call("image", "inspect", name)
    if found.status != 0:
        _pull(engine, name)
        found = _expect(engine.call("image", "inspect", name), f"look at the image {name}")
    (row,) = json.loads(found.output)
    repository = name.rpartition(":")[0]
    pinned = next((text for text in row.get("RepoDigests") or () if text.startswith(f"{repository}@")), row["Id"])
    digest = str(pinned).rpartition("sha256:")[2]
    return Image(digest=digest, reference=str(pinned), environ=dict(CONDA_ENVIRON), workdir=WORK)


def _pull(engine: Engine, name: str) -> None:
    answer = engine.call("pull", "--quiet", name, seconds=None)
    said = answer.errors.lower()
    if answer.status == 0:
        return
    if any(words in said for words in _UNKNOWN_IMAGE) and "lookup" not in said:
        raise UsageError(f"The registry has no image {name} ({answer.complaint}); choose another template or build it.")
    raise MachineError(
        f"Could not pull the image {name} ({answer.complaint}); check the network and the disk, or build one here."
    )


def prepare_pulled(workspace: Workspace, problem: RepositoryProblem, *, absent: Iterable[str] = ()) -> HistoryProof:
    """Cut later history out of a workspace that was opened from a pulled image, and check what is left.

    Args:
        workspace: Fresh; nothing but the image's own programs have run in it.
        problem: Its base commit is the end of what may stay.
        absent: Commits that must not be readable afterwards.

    Raises `MachineError` when the cut fails or something later is left, and `SandboxFault`.
    """
    absent = tuple(absent)
    limits = RunLimits(wall_seconds=_CUT_SECONDS)
    *steps, facts = cut_commands(problem.base_commit, absent=absent)
    for step in steps:
        result = workspace.run(step, limits=limits, cwd="/")
        if result.exit_status != 0:
            words = result.output.decode(errors="backslashreplace").strip()
            raise MachineError(f"Could not cut the history in the image of {problem.id}: {words[-500:]}")
    result = workspace.run(["sh", "-c", 'exec "$@" 2> /dev/null', "sh", *facts], limits=limits, cwd="/")
    return check_cut(result.output, problem.base_commit, absent=absent, name=f"in the image of {problem.id}")


def _expect(answer: Answer, what: str) -> Answer:
    """The answer, if it is a good one; raises `MachineError` otherwise."""
    if answer.status != 0:
        said = answer.errors.strip().splitlines()  # an inspection that fails also prints an empty list
        raise MachineError(f"The container engine could not {what}: {said[-1] if said else answer.complaint}")
    return answer
