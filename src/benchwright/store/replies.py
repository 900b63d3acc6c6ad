"""The journal of a model run: one JSON line for every model call, written as soon as the call has ended.

A line holds what the call cost and, when it gave one, the reply.  A reply that was acknowledged is there after
``kill -9``: what has a reply is never asked again, and what was spent is counted by whoever goes on.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchwright.core.attempts import Ending
from benchwright.core.budget import LedgerEntry, TokenUsage
from benchwright.store.journal import Journal, check_schema, check_types

NAME = "replies.jsonl"
SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model gave for one sample of one problem."""

    text: str
    """The answer as written, without what the provider keeps apart as reasoning."""
    reasoning: str = ""
    """Reasoning that the provider keeps apart; never graded."""
    ending: Ending
    ending_detail: str = ""
    model: str = ""
    """The model that answered, in the provider's words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRecord:
    """One call of a model that has ended."""

    problem_id: str
    sample: int
    reply: Reply | None
    """None when the call failed."""
    charge: LedgerEntry
    """What the call counts for in the run's account."""
    error: str = ""
    seconds: float = 0.0
    at: str = ""
    """When the call ended, ISO 8601 with time zone."""

    def to_plain(self) -> dict[str, Any]:
        """The call as the plain data of its line."""
        reply = self.reply
        return {
            "schema": SCHEMA_VERSION,
            "problem_id": self.problem_id,
            "sample": self.sample,
            "reply": reply
            and {
                "text": reply.text,
                "reasoning": reply.reasoning,
                "ending": reply.ending.value,
                "ending_detail": reply.ending_detail,
                "model": reply.model,
            },
            "charge": self.charge.to_plain(),
            "error": self.error,
            "seconds": round(self.seconds, 3),
            "at": self.at,
        }

    @classmethod
    def from_plain(cls, data: Mapping[str, Any]) -> "CallRecord":
        """The call of a line; raises ``KeyError``, ``TypeError`` or ``ValueError`` when it is none."""
        check_schema(data, SCHEMA_VERSION)
        reply = data["reply"]
        check_types(data, problem_id=str, sample=int, charge=dict, error=str, seconds=(int, float), at=str)
        if reply is not None:
            check_types(reply, text=str, reasoning=str, ending=str, ending_detail=str, model=str)
        return cls(
            problem_id=data["problem_id"],
            sample=data["sample"],
            reply=None
            if reply is None
            else Reply(
                text=reply["text"],
                reasoning=reply["reasoning"],
                ending=Ending(reply["ending"]),
                ending_detail=reply["ending_detail"],
                model=reply["model"],
            ),
            charge=LedgerEntry.from_plain(data["charge"]),
            error=data["error"],
            seconds=data["seconds"],
            at=data["at"],
        )


class ReplyJournal(Journal):
    """Reads a run's journal and appends to it; use as a context manager."""

    line_is, kept = "a record of a model call", "replies"

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        """Read what is there, as `Journal` says."""
        self.calls: list[CallRecord] = []
        self._replies: dict[tuple[str, int], CallRecord] = {}
        super().__init__(path, read_only=read_only)

    def _take(self, data: Mapping[str, Any]) -> None:
        self._note(CallRecord.from_plain(data))

    def _note(self, call: CallRecord) -> None:
        self.calls.append(call)
        if call.reply is not None:
            self._replies.setdefault((call.problem_id, call.sample), call)

    def reply(self, problem_id: str, sample: int) -> Reply | None:
        """The reply for a sample, or None when there is none yet; the first one counts if there are several."""
        call = self._replies.get((problem_id, sample))
        return None if call is None else call.reply

    def usage(self, problem_id: str, sample: int) -> TokenUsage | None:
        """What the call that gave a sample's reply has used, as far as the provider said."""
        call = self._replies.get((problem_id, sample))
        return None if call is None else call.charge.usage

    def answered(self) -> Iterator[tuple[str, int]]:
        """Problem and sample number of everything that has a reply."""
        yield from self._replies

    def append(self, call: CallRecord) -> None:
        """Write a call; raises `MachineError` when the disk does not take it."""
        self._write(call.to_plain())
        self._note(call)
