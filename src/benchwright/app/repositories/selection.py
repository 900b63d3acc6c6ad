"""Which instances are meant, and with what their environments are built."""

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchwright.app.workspace import Workspace
from benchwright.benchmarks.repositories import REPOSITORY_BENCHMARKS, RepositorySet
from benchwright.core.repositories import RepositoryLimits
from benchwright.environments.repositories.instances import RepositoryEnvironments
from benchwright.environments.repositories.rootfs import RootfsChoice
from benchwright.environments.repositories.spec import load_specs
from benchwright.sandboxes.base import WorkspaceLimits
from benchwright.sandboxes.registry import SANDBOXES

DEFAULT_SANDBOX = "namespace"
ALL = "*"
"""In place of a repository: any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Rows, and the place where they run."""

    benchmark: str
    subset: str | None = None
    version: str | None = None
    data: Path | None = None
    """Local file with the rows; None loads the published data."""
    ids: tuple[str, ...] = ()
    sandbox: str = DEFAULT_SANDBOX
    sources: Mapping[str, str] = field(default_factory=dict)
    """Local clone or address by repository name, for building; under ``*`` one for all others, with ``{owner}`` and
    ``{name}`` filled in."""
    specs: Path | None = None
    """Folder with the user's own environment specifications."""
    rootfs: Path | None = None
    """Tar archive with the root file system to build on; None makes Debian's, or takes the one that is built."""
    images: str | None = None
    """Template of the names of images to pull, instead of environments built here."""
    limits: RepositoryLimits = field(default_factory=RepositoryLimits)

    @property
    def workspace_limits(self) -> WorkspaceLimits:
        """What everything in a workspace may use together, a grading's and an agent's alike."""
        return WorkspaceLimits(
            memory_bytes=self.limits.memory_bytes,
            processes=self.limits.processes,
            scratch_bytes=self.limits.scratch_bytes,
        )

    def load(self) -> RepositorySet:
        """The chosen rows; raises `UsageError` for data that is not as claimed and for unknown ids."""
        benchmark = REPOSITORY_BENCHMARKS.get(self.benchmark)
        problems = benchmark.load(subset=self.subset, version=self.version, path=self.data)
        return problems.only(self.ids) if self.ids else problems


def environments_of(selection: Selection, workspace: Workspace) -> RepositoryEnvironments:
    """The builder of environments for a selection; they are built as layers whatever sandbox uses them."""
    specs = load_specs(selection.specs)
    return RepositoryEnvironments(
        workspace.home,
        SANDBOXES.get(DEFAULT_SANDBOX)(),
        sources=_sources(selection.sources, {repo for repo, _ in specs}),
        specs=specs,
        rootfs=RootfsChoice(tarball=selection.rootfs) if selection.rootfs else None,
    )


@contextlib.contextmanager
def environments_in_use(selection: Selection, workspace: Workspace) -> Iterator[None]:
    """Keep others from removing built environments meanwhile; a home that is only readable is never collected."""
    store = environments_of(selection, workspace).store
    with contextlib.ExitStack() as stack:
        if store.root.is_dir():
            with contextlib.suppress(OSError):
                stack.enter_context(store.in_use())
        yield


def _sources(given: Mapping[str, str], repos: Iterable[str]) -> dict[str, str]:
    """Place by repository: the one given for it, or the one for all with its name filled in."""
    found = {name: place for name, place in given.items() if name != ALL}
    if ALL in given:
        for repo in repos:
            owner, _, name = repo.partition("/")
            found.setdefault(repo, given[ALL].replace("{owner}", owner).replace("{name}", name))
    return found
