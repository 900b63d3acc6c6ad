"""The account of one sample of an agent's run: what it has used, what is left, and how it came to its end.

current_account      whose calls the running task makes; set around a scaffold, inherited by the tasks it starts
Account.charge()     called by the meter for every reply, whoever asked for it
Account.over         why nothing more may be asked, once a limit is exceeded
Account.line()       what the model is told after every turn
"""

import time
from collections.abc import Callable
from contextvars import ContextVar
from fractions import Fraction

from benchwright.benchmarks.base import SampleKey
from benchwright.core.agents import AgentLimits, Spent, uncached
from benchwright.core.attempts import Ending
from benchwright.core.budget import NOTHING, Price, TokenUsage


class Account:
    """What one sample has used; every reply of the model is one turn.  One event loop owns it."""

    def __init__(
        self,
        key: SampleKey,
        limits: AgentLimits,
        price: Price | None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Open an empty account; the sample's time begins now, by a clock that counts seconds."""
        self.key = key
        self._clock = clock
        self._started = clock()
        self.limits = limits
        self._price = price
        self._cost: Fraction | None = None if price is None else Fraction(0)
        self.reported = NOTHING
        """The sum of what the provider reported."""
        self.estimated = NOTHING
        """The sum of what replies that reported nothing are taken to have used; counts against the limits as well."""
        self.turns = 0
        self.ending: Ending | None = None
        """How the agent ended, as far as the scaffold knows; None while it works."""
        self.ending_detail = ""
        self.facts: dict[str, str] = {}
        """What is to be recorded of the sample, such as the version of a scaffold's program."""

    @property
    def spent(self) -> Spent:
        """Everything that counts against the limits."""
        return Spent(
            usage=self.reported + self.estimated,
            cost=None if self._cost is None else float(self._cost),
            turns=self.turns,
        )

    @property
    def over(self) -> str | None:
        """Which limit is exceeded, in one plain clause; None while all hold."""
        return self.spent.over(self.limits)

    def charge(self, usage: TokenUsage | None, estimated: TokenUsage = NOTHING, *, turn: bool = True) -> None:
        """Count a call that has come back.

        Args:
            usage: As reported; None when nothing was.
            estimated: What a call that reported nothing is taken to have used.
            turn: Whether it gave a reply.
        """
        self.reported += usage or NOTHING
        self.estimated += estimated
        self.turns += turn
        if self._price is not None and self._cost is not None:
            self._cost += self._price.exact_cost((usage or NOTHING) + estimated)

    def end(self, ending: Ending, detail: str = "") -> None:
        """Say how the agent ended; what is said first counts."""
        if self.ending is None:
            self.ending, self.ending_detail = ending, detail

    def line(self) -> str:
        """What is left of every limit, in one line for the model."""
        spent, limits = self.spent, self.limits
        parts = [
            f"{max(0, limit - used):,} of {limit:,} {what}"
            for used, limit, what in (
                (uncached(spent.usage), limits.uncached_tokens, "uncached tokens"),
                (spent.usage.cache_read_tokens, limits.cached_reads, "cached-read tokens"),
                (spent.turns, limits.turns, "turns"),
            )
            if limit is not None
        ]
        if limits.cost is not None and spent.cost is not None:
            digits = 2 if limits.cost >= 1 else 4
            parts.append(f"${max(0.0, limits.cost - spent.cost):.{digits}f} of ${limits.cost:.{digits}f}")
        if limits.wall_seconds is not None:
            left = max(0.0, limits.wall_seconds - (self._clock() - self._started))
            parts.append(f"{left:,.0f} of {limits.wall_seconds:,.0f} seconds")
        return f"Budget left: {', '.join(parts)}." if parts else "There is no budget on this task."


current_account: ContextVar[Account] = ContextVar("benchwright_account")
