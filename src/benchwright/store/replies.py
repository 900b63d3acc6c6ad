"""The journal of a model run: one JSON line for every model call, written as soon as the call has ended.

A line holds what the call cost and, when it gave one, the reply.  A reply that was acknowledged is there after
``kill -9``: what has a reply is never asked again, and what was spent is counted by whoever goes on.
"""

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from benchwright.core.attempts import Ending
from benchwright.core.budget import LedgerEntry, TokenUsage
from benchwright.core.errors import MachineError, UsageError

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
        if data["schema"] != SCHEMA_VERSION:
            raise ValueError(f"schema {data['schema']!r}, this version reads {SCHEMA_VERSION}")
        reply = data["reply"]
        _check(data, problem_id=str, sample=int, charge=dict, error=str, seconds=(int, float), at=str)
        if reply is not None:
            _check(reply, text=str, reasoning=str, ending=str, ending_detail=str, model=str)
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


def _check(data: Mapping[str, Any], **types: type | tuple[type, ...]) -> None:
    """Raise ``ValueError`` for a field of another type; a number is no flag."""
    for name, kind in types.items():
        value = data[name]
        if not isinstance(value, kind) or isinstance(value, bool):
            raise ValueError(f"{name} is {value!r:.40}")


class ReplyJournal:
    """Reads a run's journal and appends to it; use as a context manager."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        """Read what is there.

        An unfinished last line, as a crash leaves it, does not count; it is cut off unless ``read_only``.  Raises
        `UsageError` when the file holds anything else than calls, `MachineError` when it cannot be read or written.
        """
        self.path = path
        self.calls: list[CallRecord] = []
        self._replies: dict[tuple[str, int], CallRecord] = {}
        try:
            # Unbuffered: what a full disk did not take must not wait in memory for another try.
            flags = os.O_RDONLY if read_only else os.O_RDWR | os.O_CREAT | os.O_APPEND
            self._descriptor = os.open(path, flags, 0o644)
        except OSError as error:
            raise MachineError(f"{path} cannot be written ({error.strerror}); choose another folder.") from error
        try:
            complete = path.read_bytes().rpartition(b"\n")
            for number, line in enumerate(complete[0].split(b"\n"), 1) if complete[1] else ():
                self._take(line, number)
            if not read_only:
                os.ftruncate(self._descriptor, len(complete[0]) + len(complete[1]))
        except BaseException:
            os.close(self._descriptor)
            raise

    def _take(self, line: bytes, number: int) -> None:
        try:
            self._note(CallRecord.from_plain(json.loads(line)))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise UsageError(
                f"{self.path}, line {number} is not a record of a model call ({error}); move the folder away and run "
                f"again."
            ) from error

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
        line = json.dumps(call.to_plain()).encode("ascii") + b"\n"
        place = os.fstat(self._descriptor).st_size
        try:
            rest = memoryview(line)
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
        except OSError as error:
            os.ftruncate(self._descriptor, place)
            raise MachineError(
                f"{self.path} could not be written ({error.strerror}); replies so far are kept, give the same command "
                f"again once there is room."
            ) from error
        self._note(call)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._descriptor)
