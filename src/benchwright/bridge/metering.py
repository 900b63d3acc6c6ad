"""The meter of runs that ask for one answer a sample, and the solver that asks through it.

What has an answer in the journal is not asked again: the answer is played back.
"""

from collections.abc import Sequence
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

from inspect_ai.model import ModelOutput
from inspect_ai.solver import Generate, Solver, TaskState, solver

from benchwright.benchmarks.base import SampleKey
from benchwright.bridge.call_meter import CallMeter, Ended, NotAsked, Request, Send
from benchwright.bridge.replies import output_of
from benchwright.bridge.scoring import NOT_ASKED, PROBLEM
from benchwright.core.budget import Ledger, Reservation
from benchwright.core.errors import MachineError
from benchwright.store.replies import CallRecord, Reply, ReplyJournal

__all__ = ["Meter", "NotAsked", "current", "metered"]

current: ContextVar[SampleKey] = ContextVar("benchwright_sample")


class Meter(CallMeter):
    """Counts, keeps and limits the calls of one model in one run."""

    def __init__(
        self,
        journal: ReplyJournal,
        ledger: Ledger,
        *,
        timeout: int | None = None,
        reply_tokens: int | None = None,
        secrets: Sequence[str] = (),
    ) -> None:
        """Make a meter.

        Args:
            journal: Where calls are kept; a sample that has a reply there is not asked again.
            ledger: What was spent, earlier invocations included, and what may be.
            timeout: Seconds for one try of one call.
            reply_tokens: Most tokens of one reply, when the user has set a limit.
            secrets: Texts that no error may carry into a file; servers repeat keys that they refuse.
        """
        longest = max((call.charge.usage.output_tokens for call in journal.calls if call.charge.usage), default=0)
        super().__init__(ledger, timeout=timeout, reply_tokens=reply_tokens, secrets=secrets, longest=longest)
        self._journal = journal
        self._tried = {SampleKey(call.problem_id, call.sample) for call in journal.calls}

    async def _call(self, request: Request, send: Send) -> Any:
        key = current.get()
        stored = self._journal.reply(*key)
        if stored is not None:
            return output_of(stored, self._journal.usage(*key))
        return await self._measured(key, request, send)

    def _overflowed(self, key: SampleKey | None, reply: Reply) -> ModelOutput:
        return output_of(reply, None)

    def _close(self, key: SampleKey | None, request: Request, reservation: Reservation, ended: Ended) -> None:
        """Charge a call that has ended, and keep it with its reply in one line: neither is there without the other."""
        assert key is not None, "every call is some sample's"
        charge = self.ledger.settle(
            reservation,
            ended.usage,
            estimated_tokens=ended.estimated_tokens,
            failed=ended.reply is None,
            retry=key in self._tried,
        )
        self._tried.add(key)
        record = CallRecord(
            problem_id=key.problem_id,
            sample=key.sample,
            reply=ended.reply,
            charge=charge,
            error=ended.error,
            seconds=ended.seconds,
            at=datetime.now(UTC).isoformat(timespec="milliseconds"),
        )
        try:
            self._journal.append(record)
        except MachineError as failure:
            self.give_up(failure)
            raise


def metered(meter: Meter) -> Solver:
    """The solver that asks through a meter: it names the sample to it, and passes over samples not to be asked."""

    @solver(name="ask")
    def make() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            key = SampleKey(state.metadata[PROBLEM], state.epoch - 1)
            token = current.set(key)
            try:
                state = await generate(state)
            except NotAsked as reason:
                state.metadata[NOT_ASKED] = str(reason)
            except Exception as error:
                meter.note_failure(key, error)
                raise
            else:
                meter.note_success(key)
            finally:
                current.reset(token)
            return state

        return solve

    return make()
