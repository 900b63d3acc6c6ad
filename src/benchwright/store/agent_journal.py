"""The journal of an agent run: a line for every model call that has ended, and one for every finished sample.

A call says what it counts for in the run's account, whichever sample asked for it and whatever became of that.  A
finished sample holds what the agent left: it is never worked on again, unless our side or the provider failed it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchwright.core.agents import AgentAttempt
from benchwright.core.attempts import Ending
from benchwright.core.budget import LedgerEntry
from benchwright.store.journal import Journal, check_schema, check_types

NAME = "journal.jsonl"
SCHEMA_VERSION = 1
_CALL, _ATTEMPT = "call", "attempt"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentCall:
    """One call of a model on behalf of a sample that has ended; its reply is in the transcript."""

    problem_id: str
    sample: int
    try_number: int
    """Which try of the sample asked, from 1; 0 for a call that belongs to no sample."""
    charge: LedgerEntry
    """What the call counts for in the run's account."""
    error: str = ""
    seconds: float = 0.0
    at: str = ""
    """When the call ended, ISO 8601 with time zone."""

    def to_plain(self) -> dict[str, Any]:
        """The call as the plain data of its line."""
        return {
            "schema": SCHEMA_VERSION,
            "kind": _CALL,
            "problem_id": self.problem_id,
            "sample": self.sample,
            "try_number": self.try_number,
            "charge": self.charge.to_plain(),
            "error": self.error,
            "seconds": round(self.seconds, 3),
            "at": self.at,
        }

    @classmethod
    def from_plain(cls, data: Mapping[str, Any]) -> "AgentCall":
        """The call of a line; raises ``KeyError``, ``TypeError`` or ``ValueError`` when it is none."""
        check_types(
            data, problem_id=str, sample=int, try_number=int, charge=dict, error=str, seconds=(int, float), at=str
        )
        return cls(
            problem_id=data["problem_id"],
            sample=data["sample"],
            try_number=data["try_number"],
            charge=LedgerEntry.from_plain(data["charge"]),
            error=data["error"],
            seconds=data["seconds"],
            at=data["at"],
        )


class AgentJournal(Journal):
    """Reads the journal of an agent run and appends to it, from any thread; use as a context manager."""

    line_is, kept = "a model call or a finished sample", "finished samples"

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        """Read what is there, as `Journal` says."""
        self.calls: list[AgentCall] = []
        """In the order in which they ended."""
        self.attempts: dict[tuple[str, int], AgentAttempt] = {}
        """By problem and sample; the last one of a sample counts.  Those that FAILED are among them: see `done`."""
        self._tries: dict[tuple[str, int], int] = {}
        self._ended: dict[tuple[str, int], int] = {}
        super().__init__(path, read_only=read_only)

    @property
    def charges(self) -> list[LedgerEntry]:
        """What all calls count for, in order."""
        return [call.charge for call in self.calls]

    def done(self, problem_id: str, sample: int) -> bool:
        """Whether a sample is finished; a fault, nobody's answer, does not count."""
        attempt = self.attempts.get((problem_id, sample))
        return attempt is not None and attempt.ending is not Ending.FAILED

    def tries(self, problem_id: str, sample: int) -> int:
        """How often a sample was begun, as far as calls and endings show; 0 for one that never was."""
        key = (problem_id, sample)
        return max(self._tries.get(key, 0), self._ended.get(key, 0))

    def append(self, entry: AgentCall | AgentAttempt) -> None:
        """Write a call or a finished sample; raises `MachineError` when the disk does not take it."""
        if isinstance(entry, AgentCall):
            self._write(entry.to_plain())
            self._note_call(entry)
        else:
            self._write({"schema": SCHEMA_VERSION, "kind": _ATTEMPT, "attempt": entry.to_plain()})
            self._note_attempt(entry)

    def _take(self, data: Mapping[str, Any]) -> None:
        check_schema(data, SCHEMA_VERSION)
        kind = data["kind"]
        if kind == _CALL:
            self._note_call(AgentCall.from_plain(data))
        elif kind == _ATTEMPT:
            self._note_attempt(_attempt(data["attempt"]))
        else:
            raise ValueError(f"kind {kind!r:.40}")

    def _note_call(self, call: AgentCall) -> None:
        self.calls.append(call)
        key = (call.problem_id, call.sample)
        self._tries[key] = max(self._tries.get(key, 0), call.try_number)

    def _note_attempt(self, attempt: AgentAttempt) -> None:
        key = (attempt.problem_id, attempt.sample)
        self.attempts[key] = attempt
        self._ended[key] = self._ended.get(key, 0) + 1


def _attempt(data: Mapping[str, Any]) -> AgentAttempt:
    check_types(data, problem_id=str, sample=int, ending_detail=str, turns=int, tool_calls=int, facts=dict)
    check_types(data, wall_seconds=(int, float), cost=(int, float, type(None)), log=str, log_sample=str, fixes=list)
    check_types(data["submission"], patch=str, left_out=list, left_out_more=int)
    return AgentAttempt.from_plain(data)
