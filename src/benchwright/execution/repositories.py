"""One patch in one fresh workspace: apply it, put the hidden tests in place, run them, and write down what was seen."""

import contextlib
import os
import shlex
import subprocess
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchwright.core.errors import SandboxFault
from benchwright.core.execution import ExitCause
from benchwright.core.repositories import (
    INSTALL_STEP,
    TESTS_STEP,
    WORK,
    Edit,
    RepositoryLimits,
    RepositoryRecord,
    Step,
)
from benchwright.execution.reports import PLACE, PTH_NAME, ReportCollector, pth_text, site_packages_command
from benchwright.sandboxes.base import Image, RunLimits, RunResult, Sandbox, Workspace, WorkspaceLimits

HARNESS_VERSION = 1
"""Of this procedure and the witnesses: raise it when either changes what the evidence says."""

GIT_SECONDS = 120.0
"""For applying a patch: the largest in SWE-bench applies in a second."""
_SHELL = ("bash", "-c")
_GIT_ENVIRON = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "LC_ALL": "C"}
_APPLY = ("git", "apply", "-p1", "--whitespace=nowarn", "-")
_OUTPUT_KEPT = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenFile:
    """One file as it must be when the tests run; ``data`` is None for one that must not be there."""

    path: str
    """Relative to the repository."""
    data: bytes | None
    mode: int = 0o644


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where patches of one instance are run."""

    sandbox: Sandbox
    image: Image


@dataclass(frozen=True, slots=True, kw_only=True)
class Procedure:
    """What is done in the workspace, in this order; made by :mod:`benchwright.grading`."""

    patches: tuple[tuple[str, str], ...]
    """(Note, patch) in the order they are tried, each whole or not at all; empty for no patch."""
    dropped: tuple[Edit, ...]
    install: str | None
    """Shell command that installs the repository again, or None where the patch makes that needless."""
    hidden: tuple[HiddenFile, ...]
    tests: str
    """Shell command."""
    environ: Mapping[str, str]
    limits: RepositoryLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenTests:
    """The row's test patch, and every file it touches, before and after."""

    patch: str
    touched: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """What an instance is before any candidate has touched it."""

    site_packages: str
    """Folder from which every Python of the environment loads what it is told to at its start."""
    files: frozenset[str]
    """Every path that git tracks at the base commit."""
    hidden: tuple[HiddenFile, ...]
    """The hidden tests, as files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What a run gave."""

    record: RepositoryRecord
    base: Base
    """For another run of the same instance."""
    procedure: Procedure


class StepFault(SandboxFault):
    """The sandbox broke while a command of the procedure ran, which the candidate's code may have brought about."""

    def __init__(self, step: str, message: str) -> None:
        super().__init__(message)
        self.step = step


class _Stop(Exception):
    """The procedure ends here; what was seen so far is the evidence."""


def run_procedure(
    job_digest: str,
    make: Callable[[Base], Procedure],
    place: Place,
    *,
    limits: RepositoryLimits,
    base: Base | HiddenTests,
) -> Seen:
    """Run a procedure in a fresh workspace that is gone afterwards.

    Args:
        job_digest: Whose evidence it is.
        make: Makes the procedure, knowing the base.
        place: Where.
        limits: For the workspace.
        base: What is known of the instance from an earlier run, or the test patch to find it out with.

    Raises `SandboxFault` when the sandbox breaks or the test patch does not belong to the repository, and
    `MachineError` when the machine cannot provide a sandbox.
    """
    started = time.monotonic()
    with ReportCollector() as collector:
        with open_workspace(place, limits, shared={PLACE: collector.folder}) as workspace:
            known = base if isinstance(base, Base) else read_base(workspace, base)
            arm_witness(workspace, known)
            procedure = make(known)
            run = _Run(workspace, procedure)
            with contextlib.suppress(_Stop):
                run.all()
        sessions, reports, errors = collector.finish()
    record = RepositoryRecord(
        job_digest=job_digest,
        patch_applied=run.applied,
        patch_message=run.message,
        dropped=procedure.dropped,
        steps=tuple(run.steps),
        sessions=sessions,
        reports=reports,
        report_errors=(*errors, *(f"{path} was written to while the tests ran" for path in run.rewritten)),
        sandbox=place.sandbox.name,
        wall_seconds=time.monotonic() - started,
    )
    return Seen(record=record, base=known, procedure=procedure)


_OPEN: set[Workspace] = set()
"""Workspaces in which something runs now, in whatever thread."""


@contextlib.contextmanager
def open_workspace(
    place: Place, limits: RepositoryLimits, *, shared: Mapping[str, Path] | None = None
) -> Iterator[Workspace]:
    """A fresh workspace of a place, without network; gone afterwards."""
    workspace = place.sandbox.open(
        place.image,
        WorkspaceLimits(
            memory_bytes=limits.memory_bytes, processes=limits.processes, scratch_bytes=limits.scratch_bytes
        ),
        shared=shared,
    )
    with workspace:
        _OPEN.add(workspace)
        try:
            yield workspace
        finally:
            _OPEN.discard(workspace)


def close_workspaces() -> None:
    """Close every workspace of this process; what runs in one ends with a `SandboxFault` in its own thread."""
    for workspace in list(_OPEN):
        workspace.close()


class _Run:
    """The state of one procedure while it runs."""

    def __init__(self, workspace: Workspace, procedure: Procedure) -> None:
        self.applied = not procedure.patches
        self.message = ""
        self.steps: list[Step] = []
        self.rewritten: tuple[str, ...] = ()
        self._workspace = workspace
        self._procedure = procedure

    def all(self) -> None:
        procedure = self._procedure
        self._apply()
        if procedure.install is not None:
            self._step(INSTALL_STEP, procedure.install)
        self._put_hidden()
        before = self._stamps()
        self._step(TESTS_STEP, procedure.tests)
        self.rewritten = tuple(path for path, stamp in self._stamps().items() if before[path] != stamp)

    def _apply(self) -> None:
        messages = []
        for number, (note, patch) in enumerate(self._procedure.patches):
            result = self._workspace.run(
                _APPLY,
                limits=RunLimits(wall_seconds=GIT_SECONDS, output_bytes=_OUTPUT_KEPT),
                environ=_GIT_ENVIRON,
                cwd=WORK,
                stdin=patch.encode("utf-8", "surrogateescape"),
            )
            if result.exit_cause is ExitCause.FINISHED:
                self.applied, self.message = True, note if number else ""
                return
            messages.append(decode(result.output).strip() or f"git apply ended with {result.exit_cause.value}")
        if not self.applied:
            self.message = messages[0]
            raise _Stop

    def _put_hidden(self) -> None:
        try:
            put_hidden(self._workspace, self._procedure.hidden)
            if self.steps:
                self._run_nothing()  # a container is written to when the next command runs
        except SandboxFault:
            # The candidate's patch or its code may have filled the scratch space.  If the sandbox still
            # works, it was not the sandbox that failed.
            if not self.steps and not self._procedure.patches:
                raise
            self._run_nothing()
            raise _Stop from None

    def _run_nothing(self) -> None:
        self._workspace.run(("true",), limits=RunLimits(wall_seconds=GIT_SECONDS))

    def _stamps(self) -> dict[str, str | None]:
        hidden = self._procedure.hidden
        return {file.path: self._workspace.stamp(f"{WORK}/{file.path}") for file in hidden if file.data is not None}

    def _step(self, name: str, command: str) -> None:
        try:
            step = run_step(self._workspace, name, command, self._procedure)
        except SandboxFault as fault:
            raise StepFault(name, str(fault)) from fault
        self.steps.append(step)
        if step.exit_cause in (ExitCause.WALL_TIME, ExitCause.MEMORY, ExitCause.OUTPUT):
            raise _Stop


def run_step(workspace: Workspace, name: str, command: str, procedure: Procedure) -> Step:
    """Run one shell command of a procedure in the repository."""
    limits = RunLimits(wall_seconds=procedure.limits.wall_seconds, output_bytes=procedure.limits.output_bytes)
    result = workspace.run((*_SHELL, command), limits=limits, environ=procedure.environ, cwd=WORK)
    return step_of(name, result)


def step_of(name: str, result: RunResult) -> Step:
    """A command's result as evidence."""
    return Step(
        name=name,
        exit_cause=result.exit_cause,
        exit_status=result.exit_status,
        wall_seconds=result.wall_seconds,
        cpu_seconds=result.cpu_seconds,
        memory_peak_bytes=result.memory_peak_bytes,
        output=decode(result.output),
        output_total_bytes=result.output_total_bytes,
    )


def decode(output: bytes) -> str:
    """Output as text; bytes that are no UTF-8 become replacement characters, carriage returns stay."""
    return output.decode("utf-8", "replace")


def arm_witness(workspace: Workspace, base: Base) -> None:
    """Have every Python of the environment load the witness at its start."""
    workspace.put(f"{base.site_packages}/{PTH_NAME}", pth_text().encode())


def put_hidden(workspace: Workspace, hidden: Sequence[HiddenFile]) -> None:
    """Put the hidden tests in place, whatever is there."""
    for file in hidden:
        path = f"{WORK}/{file.path}"
        if file.data is None:
            workspace.remove(path)
        else:
            workspace.put(path, file.data, mode=file.mode)


_SURVEY = """
{python} || exit 90
printf '\\0'
git ls-tree -r --name-only -z HEAD || exit 91
printf '\\0'
for path; do if [ -x "$path" ]; then printf '%s\\0' "$path"; fi; done
"""
"""One command instead of three: the interpreter's folder, the tracked files, which files of the tests can be run."""


def read_base(workspace: Workspace, tests: HiddenTests) -> Base:
    """What is in a workspace that no candidate has seen yet; raises `SandboxFault` when it is not as it should be."""
    script = _SURVEY.format(python=shlex.join(site_packages_command()))
    result = workspace.run(
        (*_SHELL, script, "sh", *tests.touched),
        limits=RunLimits(wall_seconds=GIT_SECONDS),
        environ=_GIT_ENVIRON,
        cwd=WORK,
    )
    if result.exit_cause is not ExitCause.FINISHED:
        raise SandboxFault(f"the environment is not as it was built: {decode(result.output)[-500:].strip()}")
    folder, _, rest = result.output.decode("utf-8", "surrogateescape").partition("\n\0")
    files, _, executable = rest.partition("\0\0")
    if not folder.startswith("/"):
        raise SandboxFault(f"the environment's Python names no folder for packages, but {folder[-200:]!r}")
    return Base(
        site_packages=folder,
        files=frozenset(files.split("\0")) - {""},
        hidden=hidden_files(workspace, tests, frozenset(executable.split("\0"))),
    )


def hidden_files(workspace: Workspace, tests: HiddenTests, executable: Collection[str]) -> tuple[HiddenFile, ...]:
    """What the files that a test patch touches must be: their version at the base commit with the patch applied.

    The base version is read from a workspace that no candidate has seen yet; the patch is applied to it by the
    host's git in a folder of its own.  Raises `SandboxFault` when the patch does not apply: the row and the
    repository do not fit together.
    """
    with tempfile.TemporaryDirectory(prefix="benchwright-tests-") as name:
        folder = Path(name)
        for path in tests.touched:
            data = workspace.get(f"{WORK}/{path}")
            if data is not None:
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_bytes(data)
                (folder / path).chmod(0o755 if path in executable else 0o644)
        _apply_here(folder, tests.patch)
        return tuple(_hidden_file(folder, path) for path in tests.touched)


def _apply_here(folder: Path, patch: str) -> None:
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environ = {**own, **_GIT_ENVIRON, "GIT_CEILING_DIRECTORIES": str(folder.parent)}
    done = subprocess.run(
        _APPLY,
        input=patch.encode("utf-8", "surrogateescape"),
        cwd=folder,
        env=environ,
        capture_output=True,
        check=False,
    )
    if done.returncode != 0:
        raise SandboxFault(
            f"the test patch does not apply to the files at the base commit ({decode(done.stderr).strip()}): the data "
            f"and the built repository do not belong together"
        )


def _hidden_file(folder: Path, path: str) -> HiddenFile:
    file = folder / path
    if file.is_symlink() or not file.is_file():
        return HiddenFile(path=path, data=None)
    return HiddenFile(path=path, data=file.read_bytes(), mode=0o755 if os.access(file, os.X_OK) else 0o644)


@dataclass(frozen=True, slots=True, kw_only=True)
class OfficialProcedure:
    """What swebench's harness does in its container (v2.1.0 lineage), without its network."""

    patch: str
    script: str
    """Its evaluation script: reinstalls, puts the test patch on the candidate's tree, runs the tests."""
    environ: Mapping[str, str]
    limits: RepositoryLimits


_OFFICIAL_PATCH = "/tmp/patch.diff"
_OFFICIAL_CHAIN = (
    ("git", "apply", "--verbose", _OFFICIAL_PATCH),
    ("git", "apply", "--verbose", "--reject", _OFFICIAL_PATCH),
    ("patch", "--batch", "--fuzz=5", "-p1", "-i", _OFFICIAL_PATCH),
)
"""One after the other on the same tree, whatever an earlier one left there (swebench 4.1.0, ``run_evaluation``)."""


def run_official(job_digest: str, procedure: OfficialProcedure, place: Place) -> RepositoryRecord:
    """Run the official procedure in a fresh workspace; raises as `run_procedure` does."""
    started = time.monotonic()
    steps: list[Step] = []
    with open_workspace(place, procedure.limits) as workspace:
        workspace.put(_OFFICIAL_PATCH, procedure.patch.encode("utf-8", "surrogateescape"))
        applied, message = _official_apply(workspace)
        if applied:
            limits = RunLimits(wall_seconds=procedure.limits.wall_seconds, output_bytes=procedure.limits.output_bytes)
            result = workspace.run((*_SHELL, procedure.script), limits=limits, environ=procedure.environ, cwd=WORK)
            steps.append(step_of(TESTS_STEP, result))
    return RepositoryRecord(
        job_digest=job_digest,
        patch_applied=applied,
        patch_message=message,
        steps=tuple(steps),
        sandbox=place.sandbox.name,
        wall_seconds=time.monotonic() - started,
    )


def _official_apply(workspace: Workspace) -> tuple[bool, str]:
    message = ""
    for command in _OFFICIAL_CHAIN:
        limits = RunLimits(wall_seconds=GIT_SECONDS, output_bytes=_OUTPUT_KEPT)
        result = workspace.run(command, limits=limits, environ=_GIT_ENVIRON, cwd=WORK)
        if result.exit_cause is ExitCause.FINISHED:
            return True, "" if command is _OFFICIAL_CHAIN[0] else f"applied by {' '.join(command[:-1])}"
        message = decode(result.output).strip()
    return False, message
