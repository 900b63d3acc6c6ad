"""The environments of repository problems: built layer by layer, opened as images.

Each problem stands on up to six layers: root file system, Debian packages its specification asks for, interpreter,
packages of its repository and version, in large repositories the files of an older commit, and its own: the checkout
without a future, what the project itself needs, and the project installed.  Every finished layer stays, so that an
interrupted build goes on where it was.
"""

import dataclasses
import enum
import functools
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchwright.core.digest import digest_of
from benchwright.core.errors import BenchwrightError, MachineError, UsageError
from benchwright.core.repositories import WORK, RepositoryProblem
from benchwright.environments.interpreters import find_uv
from benchwright.environments.repositories.checkout import check_out
from benchwright.environments.repositories.git import GitError, git
from benchwright.environments.repositories.history import History, HistoryStore
from benchwright.environments.repositories.installing import (
    BY_PIP,
    FINISH,
    PYTHON,
    WHEELHOUSE,
    Inventory,
    build_requirements,
    environment_key,
    environment_layer,
    fill_wheelhouse,
    normal_name,
    put_constraints,
    system_key,
    system_layer,
    take_inventory,
    uv_variables,
)
from benchwright.environments.repositories.layers import (
    Collected,
    Draft,
    Layer,
    LayerKey,
    LayerKind,
    LayerStore,
    Made,
    remove_tree,
)
from benchwright.environments.repositories.merging import merge, subtract
from benchwright.environments.repositories.packing import Packed, pack, unpack
from benchwright.environments.repositories.planning import Machine, Plan, make_plan
from benchwright.environments.repositories.proof import prove
from benchwright.environments.repositories.pythons import (
    PythonPlaces,
    UnavailableError,
    built_pythons,
    describe_python,
    python_layer,
    python_places,
)
from benchwright.environments.repositories.rootfs import RootfsChoice, rootfs_layer, why_not_here
from benchwright.environments.repositories.sealing import set_times, shift_owners
from benchwright.environments.repositories.sources import open_source
from benchwright.environments.repositories.spec import RepositorySpec, Specs, load_specs, requirements_from, spec_for
from benchwright.environments.repositories.trees import MANY_FOLDERS, count_folders, older_commit, tree_layer
from benchwright.environments.repositories.workbench import (
    BASE_ENVIRON,
    UV,
    Session,
    StepFailedError,
    Workbench,
    uv_version,
)
from benchwright.sandboxes.base import Image, Sandbox
from benchwright.sandboxes.users import user_mapping

Report = Callable[[str], None]
"""Takes one line saying what is done now."""

INSTANCE_FIELDS = ("pre_install", "install", "requirement", "build_requires_extra", "constraints")
"""Fields of a specification that decide what is in an instance's own layer."""

PROCEDURE = 1
"""Raised when the steps of an instance make something else of the same inputs."""

OFFLINE: Mapping[str, str] = {
    "PIP_NO_INDEX": "1",
    "PIP_FIND_LINKS": WHEELHOUSE,
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_ROOT_USER_ACTION": "ignore",
}
"""Lets pip build and install without a network from the wheels that are there."""

IMAGE_ENVIRON: Mapping[str, str] = {
    **{name: value for name, value in BASE_ENVIRON.items() if name != "DEBIAN_FRONTEND"},
    **OFFLINE,
}
"""Variables of every command in a workspace of a finished instance."""

LACKING = re.compile(r"No matching distribution found for (?P<requirement>[^\n]+)")
MOST_ADDITIONS = 8
"""Build requirements that only building makes known are added one by one, as long as there are no more."""

LOCKED = re.compile(r"^[A-Za-z0-9][\w.-]*(?:\[[^\]]*\])?==\S+.*$", re.MULTILINE)
"""A line of a resolution that names a release; the project itself is named by its path."""

FORGET_STATUS = "git ls-files -z -m | xargs -0r git ls-files -z -s -- | git update-index -z --index-info"
"""Lets git compare the files that pre-install steps edited by their bytes: all files get one time in the end, so an
edit that keeps a file's size would look like none."""


class Built(enum.StrEnum):
    """What a build came to for one problem."""

    BUILT = "built"
    KEPT = "kept"
    """It was there already."""
    UNAVAILABLE = "unavailable"
    """No interpreter of its version can be had on this machine."""
    FAILED = "failed"
    LEFT_OUT = "left out"
    """The size cap was reached before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildOutcome:
    """What a build came to for one problem."""

    problem_id: str
    built: Built
    message: str = ""
    """Why it is not there, with the failing command and its last lines."""
    bytes: int = 0
    """What its own layer takes that no other has."""
    wall_seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildReport:
    """What a build came to."""

    outcomes: tuple[BuildOutcome, ...]
    bytes: int
    """What the store takes now."""

    @property
    def failures(self) -> tuple[str, ...]:
        """What went wrong, one text per problem that failed."""
        return tuple(outcome.message for outcome in self.outcomes if outcome.built is Built.FAILED)

    def counted(self, built: Built) -> int:
        """How many problems came to this."""
        return sum(outcome.built is built for outcome in self.outcomes)


class RepositoryEnvironments:
    """The environments below one home folder."""

    def __init__(
        self,
        home: Path,
        sandbox: Sandbox,
        *,
        sources: Mapping[str, str | Path] | None = None,
        specs: Specs | None = None,
        rootfs: RootfsChoice | None = None,
        environ: Mapping[str, str] = os.environ,
        install_python: bool = False,
    ) -> None:
        """Nothing is read or written yet but the specifications.

        Args:
            home: The folder of `default_home`.
            sandbox: In which layers are built; it must be one that opens layers.
            sources: Local clone or address by repository name; GitHub's address for those not named.
            specs: Specifications by repository and version; the shipped ones when None.
            rootfs: Root file system; when None, Debian's, or whichever is there.
            environ: The caller's variables: for interpreters, tools and the network.
            install_python: Whether uv may download interpreters.
        """
        self.store = LayerStore(home / "repositories", owner=user_mapping())
        self.histories = HistoryStore(folder=self.store.root / "history")
        self._sandbox = sandbox
        self._sources = dict(sources or {})
        self._specs = load_specs() if specs is None else specs
        self._rootfs = rootfs
        self._environ = environ
        self._install_python = install_python

    def spec(self, problem: RepositoryProblem) -> RepositorySpec:
        """The specification of a problem's environment; raises `UsageError` when there is none."""
        return spec_for(problem.repo, problem.version, self._specs)

    def places(self) -> PythonPlaces:
        """Where interpreters are looked for."""
        return python_places(self._environ, install=self._install_python)

    def stack(self, problem: RepositoryProblem) -> tuple[Layer, ...] | None:
        """The finished layers of a problem, the lowest first, or None when one is not built.

        Where several interpreters fit, as after unpacking what another machine built, the newest that a whole stack
        stands on counts.
        """
        spec = self.spec(problem)
        for below in self._finished_below(spec):
            environment = self.store.find(environment_key(spec, problem.environment_commit, below))
            if environment is None:
                continue
            instance = self.store.find(instance_key(problem, spec, (*below, environment)))
            if instance is None:
                continue
            known = {layer.key.digest for layer in (*below, environment)}
            trees = [
                self.store.find_by_digest(LayerKind.TREE, digest)
                for digest in instance.manifest.lower
                if digest not in known
            ]
            if None not in trees:
                return (*below, environment, *(tree for tree in trees if tree is not None), instance)
        return None

    def image(self, problem: RepositoryProblem) -> Image | None:
        """What workspaces of a problem start from, or None when it is not built.

        Raises `UnavailableError` when it cannot be built on this machine for want of an interpreter, and `UsageError`
        when there is no specification for it.
        """
        layers = self.stack(problem)
        if layers is not None:
            self.store.touch(layers[-1])
            return image_of(layers)
        python = self.spec(problem).python
        rootfs = self.rootfs()
        if (rootfs is None or not built_pythons(self.store, rootfs, python)) and not describe_python(
            python, self.places()
        ):
            raise UnavailableError(f"{problem.id} needs Python {python}, which was not found on this machine.")
        return None

    def build(
        self,
        problems: Iterable[RepositoryProblem],
        *,
        report: Report,
        size_cap: int | None = None,
    ) -> BuildReport:
        """Build what is not there yet, one problem after the other; one that fails does not stop the others.

        Args:
            problems: Which.
            report: Called with one line per step.
            size_cap: Bytes that the store may take; the problem during which they are exceeded is the last.

        Raises `MachineError` when nothing can be built here at all: no uv, no way to a root file system.
        """
        wanted = list(problems)
        outcomes = []
        used = self.store.measure() if size_cap is not None else 0
        with self.store.in_use():
            run = _Run(self, wanted, report)
            for number, problem in enumerate(wanted, start=1):
                report(f"[{number}/{len(wanted)}] {problem.id}")
                if size_cap is not None and used >= size_cap and self._stack_or_none(problem) is None:
                    outcome = _left_out(problem, size_cap)
                else:
                    outcome = run.build(problem)
                if size_cap is not None and outcome.built is Built.BUILT:
                    used = self.store.measure()
                report(f"[{number}/{len(wanted)}] {problem.id}: {outcome.built}{_reason(outcome)}")
                outcomes.append(outcome)
        return BuildReport(outcomes=tuple(outcomes), bytes=self.store.measure())

    def plan(self, problems: Iterable[RepositoryProblem]) -> Plan:
        """What building these problems' environments would take on this machine; nothing is built or fetched."""
        rootfs = self.rootfs()
        places = self.places()
        choice = self._rootfs or RootfsChoice()

        @functools.cache
        def built(python: str) -> bool:
            return rootfs is not None and bool(built_pythons(self.store, rootfs, python))

        @functools.cache
        def interpreter(python: str) -> str:
            return "built" if built(python) else describe_python(python, places)

        def system_built(spec: RepositorySpec) -> bool:
            key = None if rootfs is None else system_key(spec, rootfs)
            return key is not None and self.store.find(key) is not None

        machine = Machine(
            spec=lambda problem: self._specs.get((problem.repo, problem.version)),
            is_built=lambda problem: self._stack_or_none(problem) is not None,
            interpreter=interpreter,
            interpreter_built=built,
            system_built=system_built,
            rootfs_built=rootfs is not None,
            rootfs_problem="" if rootfs is not None else why_not_here(choice, self._environ),
        )
        return make_plan(problems, machine)

    def pack(self, problems: Iterable[RepositoryProblem], out: Path) -> Packed:
        """Write the environments of these problems into one new compressed file.

        Raises `UsageError` that names those that are not built, or when the file is there already.
        """
        wanted = list(problems)
        stacks = {problem.id: self.stack(problem) for problem in wanted}
        missing = [name for name, layers in stacks.items() if layers is None]
        if missing:
            raise UsageError(
                f"The environments of {len(missing)} of {len(wanted)} instances are not built ({', '.join(missing[:3])}"
                f"{', …' if len(missing) > 3 else ''}); build them first, or leave them out."
            )
        return pack((layer for layers in stacks.values() for layer in layers or ()), out, store=self.store)

    def unpack(self, file: Path) -> Packed:
        """Put the environments of such a file among those of this home; see `packing.unpack`."""
        return unpack(file, store=self.store)

    def remove(self, problems: Iterable[RepositoryProblem]) -> int:
        """Remove the problems' own layers; returns the bytes that became free.  What they share with others stays."""
        return sum(self.store.remove(layers[-1]) for layers in map(self.stack, problems) if layers is not None)

    def collect(self, cap: int) -> Collected:
        """Remove downloads, leftovers, and then the layers used longest ago until ``cap`` bytes are left at most.

        Histories of repositories without an instance go too.  Raises `UsageError`, having removed no layer, when those
        that stay alone take more than that, and `MachineError` when another process uses the store.
        """
        with self.store.alone():
            for folder in (self.store.root / "cache", self.histories.folder / "clones"):
                remove_tree(folder)
        self._drop_histories()
        histories = self.store.measure("history")
        if histories > cap:
            raise UsageError(
                f"The repositories' histories take {histories / 2**30:.1f} GiB, more than the {cap / 2**30:.1f} GiB "
                f"that may be left; remove instances first (bw env remove), or allow more."
            )
        done = self.store.collect(cap)
        freed = done.freed_bytes + self._drop_histories()
        return dataclasses.replace(done, freed_bytes=freed, bytes=self.store.measure())

    def _drop_histories(self) -> int:
        """Remove the histories of repositories of which no instance is built; returns the bytes freed."""
        folder = self.histories.folder
        built = {layer.key.name.rpartition("-")[0] for layer in self.store.layers(LayerKind.INSTANCE)}
        before = self.store.measure("history")
        for one in folder.glob("*__*"):
            if one.is_dir() and not any(name == one.name or name.startswith(one.name) for name in built):
                remove_tree(one)
        return before - self.store.measure("history")

    def rootfs(self) -> Layer | None:
        """The root file system that environments stand on, when it is built."""
        if self._rootfs is not None:
            return self.store.find(self._rootfs.key())
        preferred = self.store.find(RootfsChoice().key())
        if preferred is not None:
            return preferred
        others = self.store.layers(LayerKind.ROOTFS)
        return others[-1] if others else None

    def _finished_below(self, spec: RepositorySpec) -> Iterator[tuple[Layer, ...]]:
        """What a repository's packages can stand on: the finished layers, once per interpreter that fits."""
        rootfs = self.rootfs()
        key = None if rootfs is None else system_key(spec, rootfs)
        system = None if key is None else self.store.find(key)
        if rootfs is None or (key is not None and system is None):
            return
        for python in built_pythons(self.store, rootfs, spec.python):
            yield (rootfs, python) if system is None else (rootfs, system, python)

    def _stack_or_none(self, problem: RepositoryProblem) -> tuple[Layer, ...] | None:
        try:
            return self.stack(problem)
        except UsageError:
            return None  # without a specification: building says so


def offline_environ(spec: RepositorySpec) -> dict[str, str]:
    """Variables with which a specification's commands run without a network, in layers or in another's image."""
    return {**OFFLINE, **spec.environ}


def image_of(layers: Sequence[Layer]) -> Image:
    """The image of a stack of layers."""
    contents = [layer.manifest.content.digest for layer in layers]
    return Image(
        digest=digest_of({"layers": contents, "environ": dict(IMAGE_ENVIRON)}),
        layers=tuple(layer.path for layer in layers),
        environ=IMAGE_ENVIRON,
        workdir=WORK,
    )


def instance_key(problem: RepositoryProblem, spec: RepositorySpec, below: Sequence[Layer]) -> LayerKey:
    """Key of a problem's own layer over root file system, interpreter, packages."""
    inputs = {
        "repo": problem.repo,
        "base": problem.base_commit,
        "spec": {name: getattr(spec, name) for name in INSTANCE_FIELDS},
        "below": [layer.manifest.content.digest for layer in below],
        "procedure": PROCEDURE,
    }
    return LayerKey(kind=LayerKind.INSTANCE, name=problem.id, digest=digest_of(inputs))


class _Run:
    """One call of `RepositoryEnvironments.build`."""

    def __init__(self, environments: RepositoryEnvironments, problems: Sequence[RepositoryProblem], report: Report):
        self._all = environments
        self._store = environments.store
        self._report = report
        self._bases: dict[str, list[str]] = defaultdict(list)
        for problem in problems:
            self._bases[problem.repo].append(problem.base_commit)
        self._histories: dict[str, dict[str, History]] = {}
        uv = find_uv(environments._environ)
        if uv is None:
            raise MachineError("Building environments needs uv; install it with `pip install uv`.")
        self._uv = uv
        self._bench = Workbench(environments._sandbox, self._store, environ=environments._environ, uv=uv)
        choice = environments._rootfs or RootfsChoice()
        built = environments.rootfs()
        if built is None:
            report("root file system")
        self._rootfs = built or rootfs_layer(self._store, choice, environ=environments._environ)

    def build(self, problem: RepositoryProblem) -> BuildOutcome:
        """Build one problem; what goes wrong becomes its outcome."""
        try:
            spec = self._all.spec(problem)
            below = self._below(problem, spec)
            layer = self._store.find(instance_key(problem, spec, below))
            if layer is not None:
                return BuildOutcome(problem_id=problem.id, built=Built.KEPT)
            layer = self._instance(problem, spec, below)
        except UnavailableError as error:
            return BuildOutcome(problem_id=problem.id, built=Built.UNAVAILABLE, message=str(error))
        except BenchwrightError as error:
            return BuildOutcome(problem_id=problem.id, built=Built.FAILED, message=str(error))
        return BuildOutcome(
            problem_id=problem.id,
            built=Built.BUILT,
            bytes=layer.manifest.content.new_bytes,
            wall_seconds=layer.manifest.wall_seconds,
        )

    def _below(self, problem: RepositoryProblem, spec: RepositorySpec) -> tuple[Layer, ...]:
        """The layers that an instance stands on, those made that are not there."""
        below = [self._rootfs]
        system = system_layer(self._bench, self._store, spec, self._rootfs)
        if system is not None:
            below.append(system)
        if not built_pythons(self._store, self._rootfs, spec.python):
            self._report(f"  Python {spec.python}")
        below.append(python_layer(self._store, self._all._sandbox, self._rootfs, spec.python, self._all.places()))
        key = environment_key(spec, problem.environment_commit, below)
        environment = self._store.find(key)
        if environment is None:
            self._report(f"  packages of {spec.repo} {spec.version}")
            environment = environment_layer(
                self._bench,
                self._store,
                spec,
                commit=problem.environment_commit,
                requirements=self._requirements(problem, spec),
                below=below,
            )
        return (*below, environment)

    def _instance(self, problem: RepositoryProblem, spec: RepositorySpec, below: Sequence[Layer]) -> Layer:
        self._report("  checkout and installation")
        return instance_layer(
            self._bench,
            self._store,
            problem,
            spec,
            history=self._history(problem),
            below=below,
            uv=uv_version(self._uv),
        )

    def _source(self, repo: str) -> str | Path:
        return self._all._sources.get(repo, f"https://github.com/{repo}.git")

    def _requirements(self, problem: RepositoryProblem, spec: RepositorySpec) -> tuple[str, ...]:
        if not (spec.requirement_files or spec.environment_files):
            return ()
        source = open_source(
            problem.repo,
            self._source(problem.repo),
            [problem.environment_commit],
            clones=self._all.histories.folder / "clones",
        )
        return requirements_from(spec, CommitFiles(git_dir=source.git_dir, commit=problem.environment_commit))

    def _history(self, problem: RepositoryProblem) -> History:
        """The history of a base; those of all bases of its repository at once, which takes the least space."""
        stored = self._histories.setdefault(problem.repo, {})
        if problem.base_commit not in stored:
            place, add = self._source(problem.repo), self._all.histories.add
            try:
                stored.update(add(problem.repo, place, self._bases[problem.repo]))
            except UsageError:
                # One of the others is not in the source: it shall fail alone.
                stored.update(add(problem.repo, place, [problem.base_commit]))
        return stored[problem.base_commit]


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitFiles(Mapping[str, str]):
    """Texts of a commit's files by path, each read when it is asked for."""

    git_dir: Path
    commit: str

    def __getitem__(self, path: str) -> str:
        try:
            return git(self.git_dir, "cat-file", "blob", f"{self.commit}:{path}", what="read a file of a commit")
        except GitError as error:
            raise KeyError(path) from error

    def __iter__(self) -> Iterator[str]:
        names = git(self.git_dir, "ls-tree", "-r", "--name-only", "-z", self.commit, what="list the files of a commit")
        return iter(name for name in names.split("\0") if name)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def instance_layer(
    bench: Workbench,
    store: LayerStore,
    problem: RepositoryProblem,
    spec: RepositorySpec,
    *,
    history: History,
    below: Sequence[Layer],
    uv: str,
) -> Layer:
    """The layer of one problem, made if it is not there.

    Args:
        bench: Where it is built.
        store: Where it is put.
        problem: Names the base commit.
        spec: What is installed and how.
        history: The stored past of the base commit.
        below: The layers it stands on, the lowest first.
        uv: Version of uv, for the record.

    Raises `MachineError` when a step fails, when the checkout holds more than the past of its base commit, or
    when another release of the project itself is installed.
    """
    building = _Instance(bench=bench, store=store, problem=problem, spec=spec, history=history, below=below, uv=uv)
    return store.put(instance_key(problem, spec, below), building.make, lower=below)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Instance:
    """The steps that make one problem's own layer."""

    bench: Workbench
    store: LayerStore
    problem: RepositoryProblem
    spec: RepositorySpec
    history: History
    below: Sequence[Layer]
    uv: str

    def make(self, draft: Draft) -> Made:
        """Check out, fetch what is needed with the network, then install without it."""
        testbed = draft.folder / WORK.strip("/")
        check_out(self.history, testbed)
        shift_owners(draft.folder, self.store.owner)
        set_times(draft.folder)  # a file whose time were set inside would be copied, shared packs too
        fetched, deviations = self._fetch(draft)
        added: list[str] = []
        while True:
            try:
                installed, found, changed = self._install(draft, len(added))
                break
            except StepFailedError as error:
                lacking = LACKING.search(error.output)
                if lacking is None or len(added) >= MOST_ADDITIONS:
                    raise
                added.append(lacking["requirement"].strip())
                fetched += self._fetch_more(draft, added)
        check_no_other_release(found, self.problem.repo)
        proof = prove(testbed, self.problem.base_commit)
        self._stand_on_older_tree(draft, testbed)
        return Made(
            commands=(*fetched, *installed),
            versions=found.versions,
            deviations=(*self.spec.deviations, *deviations),
            facts={
                "base_commit": self.problem.base_commit,
                "edited": changed,
                "history": proof.to_plain(),
                "wheelhouse": list(found.wheels),
                "build_requirements_found": added,
                "uv": self.uv,
                "spec": self.spec.digest,
                "install": self.spec.install,
                "test": self.spec.test,
                "test_environ": dict(self.spec.environ),
            },
        )

    def _stand_on_older_tree(self, draft: Draft, testbed: Path) -> None:
        """Keep only what differs from an older commit's files, when the checkout has very many folders."""
        if count_folders(testbed) < MANY_FOLDERS:
            return
        older = older_commit(testbed / ".git", self.problem.base_commit)
        if older is not None:
            tree = tree_layer(self.store, self.problem.repo, testbed / ".git", older)
            subtract(draft.folder, tree.path)
            draft.lower.append(tree)

    def _fetch(self, draft: Draft) -> tuple[list[str], list[str]]:
        """Put what the project needs, to run and to be built, beside the checkout, which stays as it is.

        Returns the commands and what differs from the specification.
        """
        with self._session(draft, "fetch", network=True) as session:
            self._pre_install(session)
            deviations = self._install_dependencies(session) if self.spec.requirement else []
            pyproject = session.get(f"{WORK}/pyproject.toml")
            fill_wheelhouse(session, build_requirements(pyproject, name=self.problem.id))
        return self._take_fetched(session, draft), deviations

    def _fetch_more(self, draft: Draft, requirements: Sequence[str]) -> list[str]:
        with self._session(draft, f"fetch-{len(requirements)}", network=True) as session:
            fill_wheelhouse(session, requirements[-1:])
        return self._take_fetched(session, draft)

    def _take_fetched(self, session: Session, draft: Draft) -> list[str]:
        remove_tree(session.kept / WORK.strip("/"))
        merge(session.kept, draft.folder, below=[layer.path for layer in self.below])
        return session.commands

    def _install(self, draft: Draft, attempt: int) -> tuple[list[str], Inventory, list[str]]:
        """Do what the official build does with the checkout; returns commands, inventory, and edited files."""
        with self._session(draft, f"install-{attempt}", network=False) as session:
            self._pre_install(session)
            session.run(FORGET_STATUS, what="let git look at the edited files", cwd=WORK)
            if self.spec.install:
                session.run(self.spec.install, what=f"install {self.problem.repo} without a network", cwd=WORK)
            found = take_inventory(session)
            session.run(FINISH, what="compile the packages")
            changed = session.run("git status --porcelain", what="see what was edited", cwd=WORK)
        merge(session.kept, draft.folder, below=[layer.path for layer in self.below])
        return session.commands, found, changed.splitlines()

    def _session(self, draft: Draft, name: str, *, network: bool):  # type: ignore[no-untyped-def]
        scratch = draft.scratch / name
        scratch.mkdir()
        environ = {**BASE_ENVIRON, **uv_variables(self.spec)} if network else IMAGE_ENVIRON
        layers = [*(layer.path for layer in self.below), draft.folder]
        return self.bench.session(layers, scratch, network=network, environ=environ)

    def _pre_install(self, session: Session) -> None:
        for command in self.spec.pre_install:
            session.run(command, what="prepare the checkout", cwd=WORK)

    def _install_dependencies(self, session: Session) -> list[str]:
        """Install what the project requires, as chosen with the project itself at its own version among the choices.

        Where uv cannot ask the project for its requirements, because it builds with an old setuptools alone, pip does
        it as in the official installation.
        """
        put_constraints(session, self.spec)
        session.put("/tmp/project.txt", f"{self.spec.requirement}\n")
        try:
            session.run(
                f"{UV} pip freeze --python {PYTHON} > /tmp/lock.txt\n"
                f"{UV} pip compile --quiet --no-header --no-annotate --python {PYTHON} "
                "/tmp/project.txt --output-file /tmp/lock.txt",
                what=f"find what {self.spec.requirement} of {self.problem.repo} requires",
                cwd=WORK,
            )
        except StepFailedError as error:
            if not (error.is_build and self.spec.install):
                raise
            session.run(self.spec.install, what=f"install what {self.problem.repo} requires", cwd=WORK)
            return [BY_PIP.format(group=f"the requirements of {self.spec.requirement}")]
        locked = LOCKED.findall(session.get("/tmp/lock.txt") or "")
        if locked:
            session.put("/tmp/lock.txt", "".join(f"{line}\n" for line in locked))
            session.run(
                f"{UV} pip install --no-deps --python {PYTHON} -r /tmp/lock.txt",
                what=f"install what {self.problem.repo} requires",
            )
        return []


def check_no_other_release(found: Inventory, repo: str) -> None:
    """Refuse an environment in which a release of the project itself can be read: it may be a later one.

    Raises `MachineError` that names it.
    """
    linked = {normal_name(name) for name, _, url in found.installed if url.startswith(f"file://{WORK}")}
    versions = {(normal_name(name), version) for name, version in found.own}
    names = linked | {name for name, _ in versions}
    for name, version, url in found.installed:
        known = url.startswith(f"file://{WORK}") or (normal_name(name), version) in versions
        if normal_name(name) in names and not known:
            raise MachineError(f"{name} {version} is installed beside the checkout of {repo}, which it must not be.")
    for wheel in found.wheels:
        if normal_name(wheel.split("-")[0]) in names:
            raise MachineError(f"The wheel {wheel} is a release of {repo} itself, which must not be at hand.")


def _left_out(problem: RepositoryProblem, cap: int) -> BuildOutcome:
    message = f"the environments take the {cap} bytes that they may; raise the size cap, or remove some first"
    return BuildOutcome(problem_id=problem.id, built=Built.LEFT_OUT, message=message)


def _reason(outcome: BuildOutcome) -> str:
    return f" ({outcome.message.splitlines()[0]})" if outcome.message else ""
