"""Token usage, prices, and the ledger that keeps a run within its budget."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.core import budget as module
from benchwright.core.budget import (
    NOTHING,
    Budget,
    Decision,
    Estimate,
    Fit,
    Ledger,
    LedgerEntry,
    Price,
    PriceTable,
    Remaining,
    Reservation,
    TokenUsage,
)
from benchwright.core.errors import UsageError

SHIPPED = Path(module.__file__).parents[1] / "bridge" / "prices.toml"

counts = st.integers(0, 10_000)
usages = st.builds(
    TokenUsage,
    input_tokens=counts,
    cache_read_tokens=counts,
    cache_write_tokens=counts,
    output_tokens=counts,
    reasoning_tokens=counts,
)
amounts = st.floats(0, 200).map(lambda amount: round(amount, 4))
prices = st.builds(
    Price,
    input=amounts,
    output=amounts,
    cache_read=st.none() | amounts,
    cache_write=st.none() | amounts,
    as_of=st.just("2026-10-24"),
    source=st.just("a test"),
)
entries = st.one_of(
    st.builds(LedgerEntry, usage=usages, retry=st.booleans()),
    st.builds(
        lambda tokens, written, retry: LedgerEntry(
            usage=None,
            estimated_tokens=tokens + written,
            estimated_output_tokens=written,
            failed=True,
            retry=retry,
        ),
        counts,
        counts,
        st.booleans(),
    ),
)


def price(**values: object) -> Price:
    """A price with what a test does not care about filled in."""
    plain: dict[str, object] = {"input": 1.0, "output": 2.0, "as_of": "2026-10-24", "source": "a test", **values}
    return Price(**plain)  # type: ignore[arg-type]


def used(input_tokens: int = 0, output_tokens: int = 0) -> TokenUsage:
    """What a call without any cache reports."""
    return TokenUsage(input_tokens=input_tokens, output_tokens=output_tokens)


def expected(input_tokens: int, output_tokens: int = 0) -> Estimate:
    """What a call may use at most."""
    return Estimate(input_tokens=input_tokens, output_tokens=output_tokens)


def granted(decision: Decision) -> Reservation:
    """The reservation of a call that fits."""
    assert decision.fit is Fit.FITS, decision
    assert decision.reservation is not None
    return decision.reservation


# Usage


@given(usages, usages)
def test_usage_adds_up_count_by_count(a: TokenUsage, b: TokenUsage) -> None:
    """Every count is added, and the total counts reasoning once, as output."""
    both = a + b
    assert both.to_plain() == {name: count + b.to_plain()[name] for name, count in a.to_plain().items()}
    assert both.total == a.total + b.total
    assert a.total == a.input_tokens + a.cache_read_tokens + a.cache_write_tokens + a.output_tokens
    assert a + NOTHING == a


@given(usages)
def test_usage_survives_json(usage: TokenUsage) -> None:
    """Counts come back from plain data as they were."""
    assert TokenUsage.from_plain(json.loads(json.dumps(usage.to_plain()))) == usage


def test_counts_that_are_absent_are_nothing() -> None:
    """Providers leave counts out or give none."""
    assert TokenUsage.from_plain({"input_tokens": 3, "cache_read_tokens": None}) == used(3)


@pytest.mark.parametrize("data", [{"input_tokens": -1}, {"input_tokens": 1.5}, {"input_tokens": True}, {"tokens": 1}])
def test_foreign_counts_are_refused(data: dict[str, int]) -> None:
    """A negative, broken or unknown count is an error, not a number."""
    with pytest.raises(ValueError, match="expected"):
        TokenUsage.from_plain(data)


# Prices


def test_each_kind_of_token_has_its_price() -> None:
    """A million tokens of each kind cost what the price says; reasoning is not charged twice."""
    usage = TokenUsage(
        input_tokens=1_000_000,
        cache_read_tokens=2_000_000,
        cache_write_tokens=3_000_000,
        output_tokens=4_000_000,
        reasoning_tokens=4_000_000,
    )
    assert price(input=1, output=10, cache_read=0.1, cache_write=1.25).cost(usage) == 1 + 0.2 + 3.75 + 40
    assert price(input=1, output=10).cost(usage) == 1 + 2 + 3 + 40


@given(prices, usages, usages)
def test_cost_is_exact_and_additive(per_million: Price, a: TokenUsage, b: TokenUsage) -> None:
    """What two usages cost together is what they cost apart, without rounding."""
    assert per_million.exact_cost(a + b) == per_million.exact_cost(a) + per_million.exact_cost(b)
    assert per_million.exact_cost(used(1_000_000)) == Fraction(str(per_million.input))


@pytest.mark.parametrize(
    "values",
    [{"input": -1.0}, {"output": float("nan")}, {"cache_read": float("inf")}, {"input": None}, {"as_of": "in May"}],
)
def test_a_price_that_is_none_is_refused(values: dict[str, object]) -> None:
    """Negative, endless and undated prices are errors."""
    with pytest.raises(ValueError, match=r"expected|Invalid isoformat"):
        price(**values)


TABLE = """
schema = 1
[models."gpt-4o"]
providers = ["openai"]
input = 2.5
output = 10
cache_read = 1.25
as_of = 2026-05-27
source = "https://example.org"
[models."gpt-4o-2024-05-13"]
input = 5
output = 15
as_of = "2025-06-03"
source = "https://example.org"
[models."anyone"]
input = 0
output = 0
as_of = 2026-05-27
source = "our own machine"
note = "free"
"""


@pytest.mark.parametrize(
    ("model", "entry"),
    [
        ("gpt-4o", "gpt-4o"),
        ("openai/gpt-4o", "gpt-4o"),
        ("gpt-4o-2024-08-06", "gpt-4o"),
        ("openai/gpt-4o-2024-08-06", "gpt-4o"),
        ("openai/gpt-4o-latest", "gpt-4o"),
        ("openai/gpt-4o@20240806", "gpt-4o"),
        ("gpt-4o-2024-05-13", "gpt-4o-2024-05-13"),
        ("azure/gpt-4o-2024-05-13", "gpt-4o-2024-05-13"),
        ("vllm/anyone-001", "anyone"),
        ("a/b/anyone", "anyone"),
        ("azure/gpt-4o", None),
        ("openai/azure/gpt-4o", None),
        ("gpt-4o-mini", None),
        ("gpt-4o-0806", None),
        ("GPT-4o", None),
        ("", None),
    ],
)
def test_models_are_found_by_the_rule(model: str, entry: str | None) -> None:
    """By exact name, then without the provider the entry holds for, then without a version; otherwise not at all."""
    table = PriceTable.from_toml(TABLE)
    found = table.entry(model)
    assert (found and found.name) == entry
    assert table.price(model) == (None if entry is None else table.prices[entry])


def test_dates_and_text_are_read_alike() -> None:
    """TOML's dates and dates in quotes are the same, and a price of 0 is a price."""
    table = PriceTable.from_toml(TABLE)
    assert table.prices["gpt-4o"].as_of == "2026-05-27"
    assert table.prices["gpt-4o-2024-05-13"].as_of == "2025-06-03"
    assert table.prices["anyone"].cost(used(5, 5)) == 0.0
    plain = table.prices["gpt-4o"].to_plain()
    assert json.loads(json.dumps(plain)) == plain
    assert (plain["input"], plain["providers"]) == (2.5, ["openai"])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("schema = ", "mine.toml is not a TOML file"),
        ("schema = 2", "mine.toml has schema 2, this version reads 1"),
        ("", "schema None"),
        ("schema = 1", "names no model"),
        ("schema = 1\nmodels = 3", "names no model"),
        ("schema = 1\n[models]\nx = 3", "price of 'x' cannot be read (expected a table)"),
        ("schema = 1\n[models.x]\ninput = 1", "missing"),
        ('schema = 1\n[models.x]\ninput = 1\noutput = "2"\nas_of = 2026-01-01\nsource = "s"', "as output, got '2'"),
        ('schema = 1\n[models.x]\ninput = 1\noutput = 2\nas_of = 2026-01-01\nsource = "s"\nbatch = 1', "batch"),
        ('schema = 1\n[models.x]\ninput = 1\noutput = 2\nas_of = "soon"\nsource = "s"', "isoformat"),
        ('schema = 1\n[models.x]\ninput = 1\noutput = 2\nas_of = 5\nsource = "s"', "expected text"),
        (
            'schema = 1\n[models.x]\ninput = 1\noutput = 2\nas_of = 2026-01-01\nsource = "s"\nproviders = "o"',
            "list of names",
        ),
    ],
)
def test_a_broken_price_file_is_named(text: str, words: str) -> None:
    """One sentence says which file, which model and what is wrong."""
    with pytest.raises(UsageError) as caught:
        PriceTable.from_toml(text, "mine.toml")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value).strip()


def test_shipped_prices_are_sound() -> None:
    """The table that comes with the program loads; each entry says for whom it holds, from where, and as of when."""
    table = PriceTable.from_toml(SHIPPED.read_text(encoding="utf-8"), SHIPPED.name)
    assert len(table.prices) > 40
    for name, entry in table.prices.items():
        assert entry.providers, name
        assert "https://" in entry.source, name
        assert entry.as_of > "2025-01-01", name
        assert 0 < entry.input <= entry.output, name
        assert entry.cache_read is None or entry.cache_read < entry.input, name
        assert entry.cache_write is None or entry.cache_write > entry.input, name
        for provider in entry.providers:
            assert table.entry(f"{provider}/{name}") == (name, entry)
    assert table.price("anthropic/claude-opus-4-5-20251101") == table.prices["claude-opus-4-5"]
    assert table.price("together/deepseek-flash") is None
    assert table.price("openai/gpt-4o-2024-05-13") == table.prices["gpt-4o-2024-05-13"]


# Budgets


@pytest.mark.parametrize(
    "values", [{"max_tokens": 0}, {"max_tokens": -1}, {"max_cost": 0.0}, {"max_cost": float("nan")}]
)
def test_a_budget_of_nothing_is_misuse(values: dict[str, float]) -> None:
    """Zero, less and no number are refused with what to do instead."""
    with pytest.raises(UsageError, match="leave it out"):
        Budget(**values)  # type: ignore[arg-type]


def test_a_limit_in_money_needs_a_price() -> None:
    """Without a price the limit cannot be kept: refused at once, with what to do; tokens can be limited anyway."""
    with pytest.raises(UsageError, match="price of hf/mine is not known; give a price file"):
        Budget(max_cost=5).check_price("hf/mine", None)
    with pytest.raises(UsageError, match="price file"):
        Ledger(Budget(max_cost=5), None)
    Budget(max_cost=5).check_price("hf/mine", price())
    Budget(max_tokens=5).check_price("hf/mine", None)


# The ledger


@given(st.lists(entries), st.none() | prices)
def test_sums_are_what_was_charged(charged: list[LedgerEntry], per_million: Price | None) -> None:
    """Reported and estimated tokens are summed apart; nothing is lost and nothing charged twice."""
    ledger = Ledger.rebuilt(Budget(), per_million, charged)
    assert ledger.entries == tuple(charged)
    assert ledger.spent == sum((entry.usage for entry in charged if entry.usage is not None), NOTHING)
    assert ledger.estimated.total == sum(entry.estimated_tokens for entry in charged)
    assert (ledger.calls, ledger.failures) == (len(charged), sum(entry.usage is None for entry in charged))
    assert ledger.retries == sum(entry.retry for entry in charged)
    assert ledger.exceeded() is None
    assert ledger.remaining == Remaining(tokens=None, cost=None)
    if per_million is None:
        assert (ledger.cost, ledger.estimated_cost) == (None, None)
    else:
        parts = [per_million.exact_cost(entry.usage) for entry in charged if entry.usage is not None]
        assert ledger.cost == float(sum(parts, Fraction(0)))
    plain = ledger.to_plain()
    assert json.loads(json.dumps(plain)) == plain
    assert (plain["total_tokens"], plain["estimated_tokens"]) == (ledger.spent.total, ledger.estimated.total)


@given(st.lists(entries))
def test_a_ledger_comes_back_from_its_entries(charged: list[LedgerEntry]) -> None:
    """A run that goes on knows what was spent before, down to the last token."""
    first = Ledger.rebuilt(Budget(), price(), charged)
    lines = [json.dumps(entry.to_plain()) for entry in first.entries]
    again = Ledger.rebuilt(Budget(), price(), [LedgerEntry.from_plain(json.loads(line)) for line in lines])
    assert again.entries == first.entries
    assert again.to_plain() == first.to_plain()


@pytest.mark.parametrize(
    "data",
    [
        {"usage": None, "estimated_tokens": -1},
        {"usage": None, "estimated_tokens": 1, "estimated_output_tokens": 2},
        {"usage": {"input_tokens": 1}, "estimated_tokens": 1},
        {"usage": {"tokens": 1}},
    ],
)
def test_foreign_entries_are_refused(data: dict[str, object]) -> None:
    """What is no entry, or estimates what was reported, is an error."""
    with pytest.raises(ValueError, match=r"expected|no estimate"):
        LedgerEntry.from_plain(data)


def test_an_unreported_call_is_estimated_apart() -> None:
    """A call that failed counts with what it had sent, next to what was reported, and against the budget."""
    ledger = Ledger(Budget(max_tokens=100), price())
    ledger.settle(granted(ledger.reserve(expected(10, 20))), used(9, 12))
    entry = ledger.settle(granted(ledger.reserve(expected(30, 20))), None, retry=True)
    assert entry == LedgerEntry(usage=None, estimated_tokens=30, failed=True, retry=True)
    assert (ledger.spent, ledger.estimated) == (used(9, 12), used(30))
    assert (ledger.cost, ledger.estimated_cost) == (33 / 1_000_000, 30 / 1_000_000)
    assert ledger.remaining.tokens == 100 - 21 - 30
    assert (ledger.calls, ledger.retries, ledger.failures) == (2, 1, 1)


def test_estimates_may_be_given() -> None:
    """A call that is known not to be billed costs nothing; one with a reply but no report may count its output too."""
    ledger = Ledger(Budget(), price(input=1, output=3))
    refused = ledger.settle(granted(ledger.reserve(expected(10, 20))), None, estimated_tokens=0)
    assert (refused.estimated, refused.failed) == (NOTHING, True)
    silent = ledger.settle(granted(ledger.reserve(expected(10, 20))), None, estimated_tokens=30, failed=False)
    assert (silent.estimated, silent.failed) == (used(10, 20), False)
    assert ledger.estimated_cost == (10 + 60) / 1_000_000


def test_a_reservation_is_settled_once() -> None:
    """The same call cannot be charged twice, nor freed after it was charged."""
    ledger = Ledger(Budget(), price())
    reservation = granted(ledger.reserve(expected(1, 1)))
    ledger.settle(reservation, used(1, 1))
    with pytest.raises(ValueError, match="before"):
        ledger.settle(reservation, used(1, 1))
    with pytest.raises(ValueError, match="before"):
        ledger.release(reservation)
    assert ledger.calls == 1


def test_calls_wait_for_those_in_flight() -> None:
    """What would fit if calls in flight come out cheaper waits; what cannot fit any more never will."""
    ledger = Ledger(Budget(max_tokens=100), None)
    first = granted(ledger.reserve(expected(20, 50)))
    waiting = ledger.reserve(expected(20, 20))
    assert (waiting.fit, waiting.reservation) == (Fit.WAIT, None)
    assert waiting.reason == (
        "A call may use 40 tokens, but of the budget of 100 tokens 70 are spent or reserved by calls in flight."
    )
    ledger.settle(first, used(20, 10))
    second = granted(ledger.reserve(expected(20, 20)))
    assert ledger.reserve(expected(20, 51)).fit is Fit.NEVER
    assert ledger.reserve(expected(20, 50)).fit is Fit.WAIT
    ledger.release(second)
    assert ledger.reserved == expected(0)
    never = ledger.reserve(expected(20, 51))
    assert never.reason == "A call may use 71 tokens, but of the budget of 100 tokens 30 are spent already."
    assert ledger.reserve(expected(20, 50)).fit is Fit.FITS


def test_money_is_limited_like_tokens() -> None:
    """A call is reserved at the dearest its input may cost, and charged at what it did cost."""
    ledger = Ledger(Budget(max_cost=0.5), price(input=1, output=10, cache_read=0.1, cache_write=1.25))
    first = granted(ledger.reserve(expected(80_000, 40_000)))  # 0.1 + 0.4
    assert ledger.reserve(expected(1)).fit is Fit.WAIT
    ledger.settle(first, TokenUsage(cache_read_tokens=80_000, output_tokens=20_000))  # 0.008 + 0.2
    assert ledger.cost == 0.208
    assert ledger.remaining.cost == 0.292
    never = ledger.reserve(expected(0, 29_201))
    assert never.fit is Fit.NEVER
    assert never.reason == "A call may cost 0.292 USD, but of the budget of 0.5 USD 0.208 are spent already."
    assert ledger.reserve(expected(0, 29_200)).fit is Fit.FITS


def test_a_tenth_three_times_is_three_tenths() -> None:
    """The last call that fits is not refused by rounding: 0.1 + 0.2 is 0.3."""
    ledger = Ledger(Budget(max_cost=0.3), price(input=0.1, output=0.2))
    for _ in range(3):
        ledger.settle(granted(ledger.reserve(expected(1_000_000))), used(1_000_000))
    assert ledger.remaining.cost == 0.0
    assert ledger.exceeded() is None


def test_overrunning_a_budget_is_said() -> None:
    """A call that used more than it reserved may overrun the budget; one sentence says by which number."""
    ledger = Ledger(Budget(max_tokens=1_500), price())
    ledger.charge(LedgerEntry(usage=used(1_000, 500)))
    assert ledger.exceeded() is None
    ledger.charge(LedgerEntry(usage=None, estimated_tokens=1, failed=True))
    assert ledger.exceeded() == "The run has used 1,501 tokens, over its budget of 1,500."
    assert ledger.remaining.tokens == 0
    dear = Ledger.rebuilt(Budget(max_cost=1), price(), [LedgerEntry(usage=used(2_000_000))])
    assert dear.exceeded() == "The run has cost 2 USD, over its budget of 1 USD."
    assert dear.remaining.cost == 0.0


@given(
    st.none() | st.integers(1, 20_000),
    st.none() | st.floats(0.0001, 1).map(lambda amount: round(amount, 4)),
    prices,
    st.lists(st.tuples(counts, counts, st.floats(0, 1), st.sampled_from(["settle", "fail", "leave", "release"]))),
)
def test_a_budget_is_never_overrun(
    max_tokens: int | None,
    max_cost: float | None,
    per_million: Price,
    calls: list[tuple[int, int, float, str]],
) -> None:
    """If every call uses at most what it reserved, what is spent stays within the budget, with calls in flight too."""
    ledger = Ledger(Budget(max_tokens=max_tokens, max_cost=max_cost), per_million)
    in_flight: list[Reservation] = []
    for input_tokens, output_tokens, share, fate in calls:
        free_before = not in_flight
        decision = ledger.reserve(expected(input_tokens, output_tokens))
        assert not (free_before and decision.fit is Fit.WAIT), "nobody is in flight to wait for"
        if decision.reservation is None:
            continue
        in_flight.append(decision.reservation)
        reservation = in_flight.pop(0) if fate != "leave" else None
        if reservation is not None and fate == "release":
            ledger.release(reservation)
        elif reservation is not None:
            most = reservation.estimate
            read, written = int(most.input_tokens * share), int(most.output_tokens * share)
            usage = TokenUsage(input_tokens=most.input_tokens - read, cache_write_tokens=read, output_tokens=written)
            ledger.settle(reservation, usage if fate == "settle" else None)
        assert ledger.exceeded() is None
        total = ledger.spent.total + ledger.estimated.total
        if max_tokens is not None:
            assert total + ledger.reserved.tokens <= max_tokens
            assert ledger.remaining.tokens == max_tokens - total
        if max_cost is not None:
            assert ledger.remaining.cost is not None
            assert ledger.remaining.cost >= 0
    for reservation in in_flight:
        ledger.settle(reservation, used(reservation.estimate.input_tokens, reservation.estimate.output_tokens))
    assert ledger.exceeded() is None
    assert ledger.reserved == expected(0)
