"""``run.json``: what a run folder is for, and whether its log is complete."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import benchwright
from benchwright.core.controls import ControlRun
from benchwright.core.digest import digest_of
from benchwright.core.errors import UsageError
from benchwright.execution.guest import guest_version
from benchwright.judging.function import JUDGE_VERSION
from benchwright.store.folder import RUN as NAME
from benchwright.store.folder import ResultsFolder

_DERIVED = frozenset({"evaluation", "environment_digest", "template_digest"})
"""Parts of an identity that change with others, which say better why."""


class Described(Protocol):
    """A run that is settled."""

    @property
    def identity(self) -> Mapping[str, Any]:
        """Whatever makes it this run and no other."""

    def facts(self) -> dict[str, Any]:
        """What is recorded of it besides."""


class RunFile:
    """The description of a run in its folder."""

    def __init__(self, folder: ResultsFolder, plan: Described) -> None:
        self._folder = folder
        self._plan = plan
        self._found = folder.run_description()
        if self._found is not None and not _is_whole(self._found):
            raise UsageError(f"{folder.path / NAME} is damaged; move the folder away and run again.")

    def refuse_changed(self) -> None:
        """Raise `UsageError`, with the difference, when the folder holds another run, or something else."""
        if self._found is None:
            if self._folder.has_manifest():
                raise UsageError(f"{self._folder.path} holds a grading, not a run; choose another folder with --out.")
            return
        identity = self._plan.identity
        names = sorted({*self._found.get("identity", ()), *identity})
        changed = [name for name in names if self._found.get(name) != identity.get(name)]
        told = [name for name in changed if name not in _DERIVED] or changed
        changes = [words for name in told for words in _changes(name, self._found.get(name), identity.get(name))]
        if changes:
            raise UsageError(
                f"{self._folder.path} holds a run with other settings ({'; '.join(changes)}); give its command again "
                f"to go on with it, or choose another folder with --out."
            )

    def begin(self) -> None:
        """Describe the run; what was noted of a finished log stays."""
        self._write(self._noted("log"), self._noted("log_of"))

    def finished_log(self, controls: Mapping[str, ControlRun]) -> Path | None:
        """A log of an earlier invocation in which every sample has the verdict that it would get now."""
        log = self._noted("log")
        if log is None or self._noted("log_of") != _circumstances(controls):
            return None
        path = (self._folder.path / log).absolute()
        return path if path.is_file() else None

    def finish(self, log: Path, controls: Mapping[str, ControlRun]) -> None:
        """Note a log that holds every sample."""
        self._write(str(log.relative_to(self._folder.path.absolute())), _circumstances(controls))

    def _noted(self, name: str) -> str | None:
        return None if self._found is None else self._found.get(name)

    def _write(self, log: str | None, circumstances: str | None) -> None:
        plan = self._plan
        described = {**plan.identity, **plan.facts(), "identity": sorted(plan.identity)}
        self._folder.write_run(described | {"log": log, "log_of": circumstances})


def _changes(name: str, before: object, now: object) -> list[str]:
    """What differs in one part of an identity: of tables only what differs in them."""
    if isinstance(before, dict) and isinstance(now, dict):
        inner = sorted(key for key in {*before, *now} if before.get(key) != now.get(key))
        return [words for key in inner for words in _changes(f"{name}.{key}", before.get(key), now.get(key))]
    return [f"{name} was {before!r}, now {now!r}"]


def _is_whole(found: Mapping[str, Any]) -> bool:
    names, log = found.get("identity", []), found.get("log")
    named = isinstance(names, list) and all(isinstance(name, str) for name in names)
    inside = log is None or (isinstance(log, str) and ".." not in Path(log).parts and not Path(log).is_absolute())
    return named and inside


def _circumstances(controls: Mapping[str, ControlRun]) -> str:
    """Digest of what the verdicts in a log depend on besides the run's identity and its replies."""
    runs = {problem: control.to_plain() for problem, control in sorted(controls.items())}
    return digest_of([benchwright.__version__, guest_version(), JUDGE_VERSION, runs])
