"""The account of a sample: what calls add up to, what the model is told of it, and whose calls a task makes."""

import asyncio
from typing import Any

import pytest

from benchwright.benchmarks.base import SampleKey
from benchwright.bridge.accounts import Account, current_account
from benchwright.core.agents import AgentLimits
from benchwright.core.attempts import Ending
from benchwright.core.budget import NOTHING, Price, TokenUsage

KEY = SampleKey("p", 0)
USAGE = TokenUsage(input_tokens=100, cache_read_tokens=1000, cache_write_tokens=10, output_tokens=50)
PRICE = Price(input=1.0, output=10.0, cache_read=0.1, as_of="2026-01-01", source="made up")


def account(price: Price | None = None, **limits: Any) -> Account:
    """An account with these limits and no others."""
    clock = iter(range(10, 1000, 50)).__next__
    return Account(KEY, AgentLimits(**{"uncached_tokens": None, "cached_reads": None, **limits}), price, clock=clock)


def test_nothing_is_spent_at_first() -> None:
    """And nothing has ended."""
    fresh = account(PRICE, turns=1)
    assert (fresh.spent.usage, fresh.spent.cost, fresh.spent.turns) == (NOTHING, 0.0, 0)
    assert fresh.over is None and fresh.ending is None


def test_calls_add_up() -> None:
    """What was reported and what is estimated are kept apart, and count together."""
    used = account(PRICE)
    used.charge(USAGE)
    used.charge(None, TokenUsage(input_tokens=7, output_tokens=3))
    used.charge(None, TokenUsage(input_tokens=1), turn=False)
    assert used.reported == USAGE
    assert used.estimated == TokenUsage(input_tokens=8, output_tokens=3)
    assert used.spent.usage == USAGE + used.estimated
    assert used.spent.turns == used.turns == 2
    assert used.spent.cost == PRICE.cost(used.spent.usage)


def test_money_is_exact() -> None:
    """A thousand calls of a tenth of a cent are a dollar, which is not over a budget of one."""
    used = account(Price(input=10.0, output=0.0, as_of="2026-01-01", source="made up"), cost=1.0)
    for _ in range(1000):
        used.charge(TokenUsage(input_tokens=100))
    assert used.spent.cost == 1.0 and used.over is None
    used.charge(TokenUsage(input_tokens=1))
    assert used.over is not None


def test_without_a_price_nobody_knows_the_cost() -> None:
    """It is not taken for nothing."""
    used = account()
    used.charge(USAGE)
    assert used.spent.cost is None


def test_estimates_exceed_a_budget_too() -> None:
    """A provider that reports nothing does not work for nothing."""
    used = account(uncached_tokens=100)
    used.charge(None, TokenUsage(input_tokens=101))
    assert used.over == "101 uncached tokens were used, over the budget of 100"


def test_what_is_said_first_of_an_ending_counts() -> None:
    """A scaffold that was stopped may say something else when it goes."""
    ended = account()
    ended.end(Ending.SUBMITTED, "by hand")
    ended.end(Ending.CRASHED, "then it fell")
    assert (ended.ending, ended.ending_detail) == (Ending.SUBMITTED, "by hand")


@pytest.mark.parametrize(
    ("limits", "line"),
    [
        ({}, "There is no budget on this task."),
        ({"wall_seconds": 2000.0}, "Budget left: 1,950 of 2,000 seconds."),
        ({"wall_seconds": 7.0}, "Budget left: 0 of 7 seconds."),
        ({"uncached_tokens": 2_000_000}, "Budget left: 1,999,840 of 2,000,000 uncached tokens."),
        ({"cached_reads": 20_000}, "Budget left: 19,000 of 20,000 cached-read tokens."),
        ({"turns": 3}, "Budget left: 2 of 3 turns."),
        ({"cost": 2.0}, "Budget left: $2.00 of $2.00."),
        ({"cost": 0.005}, "Budget left: $0.0043 of $0.0050."),
        ({"uncached_tokens": 160, "turns": 1}, "Budget left: 0 of 160 uncached tokens, 0 of 1 turns."),
        (
            {"uncached_tokens": 10, "cached_reads": 10},
            "Budget left: 0 of 10 uncached tokens, 0 of 10 cached-read tokens.",
        ),
    ],
)
def test_a_model_is_told_what_is_left(limits: dict[str, Any], line: str) -> None:
    """Of every limit that it can use up by asking; never less than nothing."""
    used = account(PRICE, **limits)
    used.charge(USAGE)
    assert used.line() == line


def test_a_task_has_the_account_that_was_current_when_it_began() -> None:
    """Samples side by side charge their own."""

    async def look(found: list[Account]) -> None:
        await asyncio.sleep(0)
        found.append(current_account.get())

    async def sample(own: Account) -> bool:
        current_account.set(own)
        found: list[Account] = []
        await asyncio.gather(look(found), look(found))
        return found == [own, own]

    async def both() -> list[bool]:
        return list(await asyncio.gather(sample(account()), sample(account())))

    assert asyncio.run(both()) == [True, True]
