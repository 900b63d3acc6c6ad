"""What model calls use and cost: token counts, prices, and a ledger that keeps a run within its budget.

    PriceTable.price(model)           what a million tokens of a model cost, or None: unknown is never 0
    Budget.check_price(model, price)  refuses, before anything is spent, a limit in money that cannot be kept
    Ledger.reserve(estimate)          may a call be sent, given what is spent and what is in flight?
    Ledger.settle(reservation, usage) it came back: charge what was reported, free the rest

Token counts are integers as the provider reported them.  Money is exact inside (fractions), so that rounding neither
lets a budget be overrun nor refuses the last call that fits.
"""

import dataclasses
import enum
import math
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any, NamedTuple

from benchwright.core.errors import UsageError

PRICES_SCHEMA = 1

_MILLION = 1_000_000
# What follows a model's name in the name of one of its versions: a date, Google's 001, or "latest".  Four digits are
# left alone: they name versions that had prices of their own (gpt-4-0125, mistral-large-2402).
_VERSION = re.compile(r"[-@](?:\d{4}-\d{2}-\d{2}|\d{8}|00\d|latest)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenUsage:
    """Tokens of one call or of many; raw counts as reported."""

    input_tokens: int = 0
    """Read at the full price: neither from a cache nor written to one."""
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0
    """Everything that was written, reasoning included."""
    reasoning_tokens: int = 0
    """Of the output, as far as the provider says; for information, priced as output."""

    def __post_init__(self) -> None:
        for name, count in self.to_plain().items():
            if type(count) is not int or count < 0:
                raise ValueError(f"expected a count of tokens as {name}, got {count!r}")

    def __add__(self, other: "TokenUsage") -> "TokenUsage":
        counts = other.to_plain()
        return TokenUsage(**{name: count + counts[name] for name, count in self.to_plain().items()})

    @property
    def total(self) -> int:
        """All tokens, whatever they cost; reasoning is in the output already."""
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens + self.output_tokens

    def to_plain(self) -> dict[str, int]:
        """The counts by name."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    @classmethod
    def from_plain(cls, data: Mapping[str, int | None]) -> "TokenUsage":
        """Counts by name, absent or None meaning 0; raises ``ValueError`` for a name or a count that is none."""
        strangers = sorted(data.keys() - {field.name for field in dataclasses.fields(cls)})
        if strangers:
            raise ValueError(f"expected counts of tokens, got {', '.join(strangers)}")
        return cls(**{name: 0 if count is None else count for name, count in data.items()})


NOTHING = TokenUsage()


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a model costs, in USD per million tokens."""

    input: float
    output: float
    cache_read: float | None = None
    """None: tokens read from a cache cost as much as others."""
    cache_write: float | None = None
    """None: tokens written to a cache cost as much as others."""
    as_of: str
    """Day on which the source gave this price, such as ``2026-10-24``."""
    source: str
    """Where the price was read."""
    providers: tuple[str, ...] = ()
    """Prefixes under which this price holds, such as ``openai`` in ``openai/gpt-4o``; empty means any."""
    note: str = ""
    """What the four numbers leave out, such as a higher price for long prompts."""

    def __post_init__(self) -> None:
        for name in ("input", "output", "cache_read", "cache_write"):
            amount = getattr(self, name)
            optional = name.startswith("cache_") and amount is None
            if not optional and not (type(amount) in (int, float) and math.isfinite(amount) and amount >= 0):
                raise ValueError(f"expected a price of 0 or more as {name}, got {amount!r}")
        date.fromisoformat(self.as_of)

    def cost(self, usage: TokenUsage) -> float:
        """What the tokens cost, in USD."""
        return float(self.exact_cost(usage))

    def exact_cost(self, usage: TokenUsage) -> Fraction:
        """What the tokens cost, in USD, without any rounding."""
        read = self.input if self.cache_read is None else self.cache_read
        write = self.input if self.cache_write is None else self.cache_write
        parts = (
            (usage.input_tokens, self.input),
            (usage.cache_read_tokens, read),
            (usage.cache_write_tokens, write),
            (usage.output_tokens, self.output),
        )
        return sum((count * _exact(amount) for count, amount in parts), Fraction(0)) / _MILLION

    def to_plain(self) -> dict[str, Any]:
        """The price as plain data."""
        return {**dataclasses.asdict(self), "providers": list(self.providers)}


def _exact(amount: float) -> Fraction:
    """The number as it is written: 0.1 is a tenth, not the nearest binary fraction."""
    return Fraction(repr(amount))


class PriceEntry(NamedTuple):
    """The entry of a price table that a model is priced by."""

    name: str
    price: Price


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceTable:
    """Prices by model name."""

    prices: Mapping[str, Price]

    def entry(self, model: str) -> PriceEntry | None:
        """The entry that prices a model, or None when its price is not known.

        Looked for in this order:

        1. the name as it is;
        2. without the provider in front (all up to the last ``/``), if the entry holds for that provider: what a
           reseller charges is not the maker's price;
        3. either of them without a version at the end: a date (``-2024-08-06``, ``-20241022``), ``-001``, ``-latest``.
        """
        for name in (model, _VERSION.sub("", model)):
            if name in self.prices:
                return PriceEntry(name, self.prices[name])
            provider, _, bare = name.rpartition("/")
            found = self.prices.get(bare)
            if found is not None and (not found.providers or provider in found.providers):
                return PriceEntry(bare, found)
        return None

    def price(self, model: str) -> Price | None:
        """The price of a model, or None when it is not known."""
        found = self.entry(model)
        return found.price if found else None

    @classmethod
    def from_toml(cls, text: str, origin: str = "The price table") -> "PriceTable":
        """The table in a price file; raises `UsageError` naming the file and what is wrong with it.

        Args:
            text: What the file holds.
            origin: Its name, for messages.
        """
        try:
            data = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise UsageError(f"{origin} is not a TOML file ({error}); correct it and try again.") from error
        return cls.from_plain(data, origin)

    @classmethod
    def from_plain(cls, data: Mapping[str, Any], origin: str = "The price table") -> "PriceTable":
        """The table in the parsed text of a price file; raises `UsageError` as :meth:`from_toml` does."""
        if data.get("schema") != PRICES_SCHEMA:
            raise UsageError(
                f"{origin} has schema {data.get('schema')!r}, this version reads {PRICES_SCHEMA}; "
                f"write `schema = {PRICES_SCHEMA}` at its top."
            )
        models = data.get("models")
        if not isinstance(models, dict) or not models:
            raise UsageError(f'{origin} names no model; expected a table such as [models."gpt-4o"].')
        return cls(prices={name: _price_from_plain(name, entry, origin) for name, entry in models.items()})


def _price_from_plain(model: str, entry: object, origin: str) -> Price:
    try:
        if not isinstance(entry, dict):
            raise ValueError("expected a table")
        values = dict(entry)
        if isinstance(values.get("as_of"), date):  # TOML has dates of its own
            values["as_of"] = values["as_of"].isoformat()
        values["providers"] = _strings(values.get("providers", []))
        if not all(isinstance(values.get(name, ""), str) for name in ("as_of", "source", "note")):
            raise ValueError("expected text as source and note and a date as as_of")
        return Price(**values)
    except (TypeError, ValueError) as error:
        reason = str(error).removeprefix("Price.__init__() ")
        raise UsageError(
            f"{origin}: the price of {model!r} cannot be read ({reason}); expected input and output in USD per million "
            f"tokens, as_of and source, and if need be cache_read, cache_write, providers and note."
        ) from error


def _strings(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError("expected a list of names as providers")
    return tuple(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What a run may use; None means no limit."""

    max_tokens: int | None = None
    """Tokens of all kinds together, cached ones included."""
    max_cost: float | None = None
    """USD."""

    def __post_init__(self) -> None:
        for what, limit in (("tokens", self.max_tokens), ("USD", self.max_cost)):
            if limit is not None and not (math.isfinite(limit) and limit > 0):
                raise UsageError(f"A budget is more than 0 {what}, but {limit:g} was given; leave it out for none.")

    def check_price(self, model: str, price: Price | None) -> None:
        """Raise `UsageError` when the cost is limited and the model's price is not known."""
        if self.max_cost is not None and price is None:
            raise UsageError(
                f"A budget of {self.max_cost:g} USD cannot be kept, because the price of {model} is not known; give a "
                f"price file that names it, or limit the tokens instead."
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What a call may use at most, by our own count before it is sent."""

    input_tokens: int
    output_tokens: int

    @property
    def tokens(self) -> int:
        """All of it."""
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEntry:
    """One model call that was sent, as the ledger keeps it."""

    usage: TokenUsage | None
    """As reported, also when the reply was thrown away later; None when nothing was reported."""
    estimated_tokens: int = 0
    """Of a call that reported nothing: what it is taken to have used.  Kept apart from what was reported."""
    estimated_output_tokens: int = 0
    """How many of the estimated ones are taken to have been written; the others cost as much as input."""
    failed: bool = False
    """Whether the call gave no reply."""
    retry: bool = False
    """Whether it repeats an earlier call, which failed or whose reply could not be used."""

    def __post_init__(self) -> None:
        counts = (self.estimated_tokens, self.estimated_output_tokens)
        if any(type(count) is not int for count in counts) or type(self.failed) is not bool:
            raise ValueError("expected counts of tokens and a flag")
        if not 0 <= self.estimated_output_tokens <= self.estimated_tokens:
            raise ValueError("expected estimated tokens to be counts, and written ones to be among them")
        if self.usage is not None and self.estimated_tokens:
            raise ValueError("a call that reported what it used has no estimate")

    @property
    def estimated(self) -> TokenUsage:
        """The estimated tokens by what they cost."""
        written = self.estimated_output_tokens
        return TokenUsage(input_tokens=self.estimated_tokens - written, output_tokens=written)

    def to_plain(self) -> dict[str, Any]:
        """The entry as plain data."""
        return {
            "usage": None if self.usage is None else self.usage.to_plain(),
            "estimated_tokens": self.estimated_tokens,
            "estimated_output_tokens": self.estimated_output_tokens,
            "failed": self.failed,
            "retry": self.retry,
        }

    @classmethod
    def from_plain(cls, data: Mapping[str, Any]) -> "LedgerEntry":
        """Rebuild an entry from :meth:`to_plain` data; raises ``TypeError`` or ``ValueError`` on foreign data."""
        values = dict(data)
        usage = values.pop("usage", None)
        return cls(usage=None if usage is None else TokenUsage.from_plain(usage), **values)


class Fit(enum.StrEnum):
    """Whether a call may be sent."""

    FITS = "fits"
    """It may; what it may use is reserved."""
    WAIT = "wait"
    """Not now: it would fit if calls in flight use less than they reserved.  Ask again when one is settled."""
    NEVER = "never"
    """What is left cannot pay for it, whatever calls in flight use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """What a call in flight may use at most."""

    number: int
    estimate: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The answer to a request to send a call."""

    fit: Fit
    reservation: Reservation | None
    """To be settled or released; None unless the call fits."""
    reason: str
    """One plain sentence; empty when the call fits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remaining:
    """What is left of a budget, calls in flight not counted; never below 0."""

    tokens: int | None
    """None: tokens are not limited."""
    cost: float | None
    """None: the cost is not limited."""


class Ledger:
    """Append-only account of a run's calls of one model, and of what calls in flight have reserved.

    As long as no call uses more than it reserved, the budget is not overrun.  One event loop owns a ledger: it is not
    safe under threads.  Calls in flight when a run is killed are in no entry, so whoever goes on does not know of them.
    """

    def __init__(self, budget: Budget, price: Price | None) -> None:
        """Open an empty ledger; raises `UsageError` for a limit in money without a price."""
        budget.check_price("this model", price)
        self.budget = budget
        self.price = price
        self._entries: list[LedgerEntry] = []
        self._unreported = False  # whether a reply came without a report; asked for after every call
        self._in_flight: dict[int, Estimate] = {}
        self._numbers = 0
        self.spent = NOTHING
        """The sum of what was reported."""
        self.estimated = NOTHING
        """The sum of what calls that reported nothing are taken to have used; counts against the budget as well."""

    @classmethod
    def rebuilt(cls, budget: Budget, price: Price | None, entries: Iterable[LedgerEntry]) -> "Ledger":
        """The ledger of a run that goes on: with everything that was charged before."""
        ledger = cls(budget, price)
        for entry in entries:
            ledger.charge(entry)
        return ledger

    @property
    def entries(self) -> tuple[LedgerEntry, ...]:
        """Every call charged, in order."""
        return tuple(self._entries)

    @property
    def calls(self) -> int:
        """Number of calls charged."""
        return len(self._entries)

    @property
    def retries(self) -> int:
        """Number of calls that repeated an earlier one."""
        return sum(entry.retry for entry in self._entries)

    @property
    def failures(self) -> int:
        """Number of calls that gave no reply."""
        return sum(entry.failed for entry in self._entries)

    @property
    def cost(self) -> float | None:
        """USD for what was reported; None when the price is not known, or a reply came without a report."""
        return None if self.price is None or self._unreported else self.price.cost(self.spent)

    @property
    def estimated_cost(self) -> float | None:
        """USD for what is estimated, on top of the cost; None when the price is not known."""
        return None if self.price is None else self.price.cost(self.estimated)

    @property
    def reserved(self) -> Estimate:
        """What all calls in flight together may use at most."""
        estimates = self._in_flight.values()
        return Estimate(
            input_tokens=sum(estimate.input_tokens for estimate in estimates),
            output_tokens=sum(estimate.output_tokens for estimate in estimates),
        )

    @property
    def remaining(self) -> Remaining:
        """What is left of the budget, calls in flight not counted."""
        tokens, money = self.budget.max_tokens, self.budget.max_cost
        return Remaining(
            tokens=None if tokens is None else max(0, tokens - self._tokens()),
            cost=None if money is None else float(max(Fraction(0), _exact(money) - self._money())),
        )

    def charge(self, entry: LedgerEntry) -> None:
        """Add a call that was made without a reservation, or that an earlier part of the run had charged."""
        self._entries.append(entry)
        self._unreported |= entry.usage is None and not entry.failed and entry.estimated_tokens > 0
        self.spent += entry.usage or NOTHING
        self.estimated += entry.estimated

    def exceeded(self) -> str | None:
        """A plain sentence when more is spent than the budget allows, otherwise None."""
        limit = self.budget.max_tokens
        if limit is not None and self._tokens() > limit:
            return f"The run has used {self._tokens():,} tokens, over its budget of {limit:,}."
        money = self.budget.max_cost
        if money is not None and self._money() > _exact(money):
            return f"The run has cost {float(self._money()):.4g} USD, over its budget of {money:g} USD."
        return None

    def reserve(self, estimate: Estimate) -> Decision:
        """Ask to send a call, and reserve what it may use if it fits."""
        reason = self._too_much(estimate, Estimate(input_tokens=0, output_tokens=0))
        if reason:
            return Decision(fit=Fit.NEVER, reservation=None, reason=f"{reason} spent already.")
        reason = self._too_much(estimate, self.reserved)
        if reason:
            return Decision(fit=Fit.WAIT, reservation=None, reason=f"{reason} spent or reserved by calls in flight.")
        self._numbers += 1
        self._in_flight[self._numbers] = estimate
        return Decision(fit=Fit.FITS, reservation=Reservation(number=self._numbers, estimate=estimate), reason="")

    def settle(
        self,
        reservation: Reservation,
        usage: TokenUsage | None,
        *,
        estimated_tokens: int | None = None,
        failed: bool | None = None,
        retry: bool = False,
    ) -> LedgerEntry:
        """Charge a call that has come back and free what it had reserved; gives the entry, to be kept.

        Raises ``ValueError`` for a reservation that was settled or released before: nothing is charged twice.

        Args:
            reservation: As :meth:`reserve` gave it.
            usage: As reported; None when nothing was.
            estimated_tokens: What a call that reported nothing is taken to have used, its input first; without it,
                the input of the estimate.  0 for a call that is known not to be billed.
            failed: Whether there is no reply; without it, whether nothing was reported.
            retry: Whether the call repeated an earlier one.
        """
        self.release(reservation)
        if estimated_tokens is None:
            estimated_tokens = reservation.estimate.input_tokens if usage is None else 0
        entry = LedgerEntry(
            usage=usage,
            estimated_tokens=estimated_tokens,
            estimated_output_tokens=max(0, estimated_tokens - reservation.estimate.input_tokens),
            failed=usage is None if failed is None else failed,
            retry=retry,
        )
        self.charge(entry)
        return entry

    def release(self, reservation: Reservation) -> None:
        """Free what was reserved for a call that was not sent after all."""
        if self._in_flight.pop(reservation.number, None) is None:
            raise ValueError(f"reservation {reservation.number} was settled or released before")

    def to_plain(self) -> dict[str, Any]:
        """The account in numbers, for a report."""
        return {
            "calls": self.calls,
            "retries": self.retries,
            "failures": self.failures,
            **self.spent.to_plain(),
            "total_tokens": self.spent.total,
            "estimated_tokens": self.estimated.total,
            "cost": self.cost,
            "estimated_cost": self.estimated_cost,
        }

    def _too_much(self, estimate: Estimate, reserved: Estimate) -> str:
        """The beginning of a sentence that says why a call does not fit, or nothing."""
        limit, money = self.budget.max_tokens, self.budget.max_cost
        if limit is not None:
            used = self._tokens() + reserved.tokens
            if used + estimate.tokens > limit:
                return f"A call may use {estimate.tokens:,} tokens, but of the budget of {limit:,} tokens {used:,} are"
        if money is not None:
            cost, spent = self._most(estimate), self._money() + self._most(reserved)
            if spent + cost > _exact(money):
                return (
                    f"A call may cost {float(cost):.4g} USD, but of the budget of {money:g} USD {float(spent):.4g} are"
                )
        return ""

    def _tokens(self) -> int:
        return self.spent.total + self.estimated.total

    def _money(self) -> Fraction:
        return Fraction(0) if self.price is None else self.price.exact_cost(self.spent + self.estimated)

    def _most(self, estimate: Estimate) -> Fraction:
        """What an estimate may cost: input at its dearest, for it may be written to a cache."""
        if self.price is None:
            return Fraction(0)
        dearest = max(
            amount for amount in (self.price.input, self.price.cache_read, self.price.cache_write) if amount is not None
        )
        return (estimate.input_tokens * _exact(dearest) + estimate.output_tokens * _exact(self.price.output)) / _MILLION
