"""Agents at work on repository problems: their budgets, what they did, and what they left.

A *turn* is one response of a model together with all its tool calls.  *Uncached* tokens are those that were read
outside a cache or written to one, and everything that was written, reasoning included.
"""

import dataclasses
import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from benchwright.core.attempts import Ending
from benchwright.core.budget import NOTHING, TokenUsage
from benchwright.core.errors import UsageError

UNCACHED_TOKENS, CACHED_READS = 2_000_000, 20_000_000
"""What a sample may use by default, as in version 2 of Epoch AI's runs of SWE-bench Verified."""


class NativeTools(enum.StrEnum):
    """Whether tools are offered in the form that a provider has of its own."""

    AUTO = "auto"
    """Where the provider has such a form for the model, and we can translate it."""
    ON = "on"
    """As auto, and an error where there is none."""
    OFF = "off"
    """Always as plain functions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentLimits:
    """What one sample may use; None means no limit."""

    uncached_tokens: int | None = UNCACHED_TOKENS
    cached_reads: int | None = CACHED_READS
    turns: int | None = None
    wall_seconds: float | None = None
    cost: float | None = None
    """USD."""

    def __post_init__(self) -> None:
        for name in ("uncached_tokens", "cached_reads", "turns", "wall_seconds", "cost"):
            limit = getattr(self, name)
            if limit is not None and not 0 < limit < float("inf"):
                raise UsageError(
                    f"A limit is more than 0, but {limit:g} was given as {name.replace('_', ' ')}; leave it out."
                )

    def to_plain(self) -> dict[str, Any]:
        """The limits as plain data."""
        return dataclasses.asdict(self)


def uncached(usage: TokenUsage) -> int:
    """Tokens that count against the budget of uncached ones."""
    return usage.input_tokens + usage.cache_write_tokens + usage.output_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a sample has used so far."""

    usage: TokenUsage = NOTHING
    cost: float | None = 0.0
    """USD, what calls without a report are taken to have used included; None when the price is not known."""
    turns: int = 0

    def over(self, limits: AgentLimits) -> str | None:
        """Which limit is exceeded, in one plain clause; None while all hold.  Time is looked at elsewhere.

        Tokens may come to a limit exactly; a turn limit is reached when no further turn is allowed.
        """
        for used, limit, what in (
            (uncached(self.usage), limits.uncached_tokens, "uncached tokens"),
            (self.usage.cache_read_tokens, limits.cached_reads, "tokens read from the cache"),
        ):
            if limit is not None and used > limit:
                return f"{used:,} {what} were used, over the budget of {limit:,}"
        if limits.cost is not None and self.cost is not None and self.cost > limits.cost:
            return f"{self.cost:.4g} USD were spent, over the budget of {limits.cost:g} USD"
        if limits.turns is not None and self.turns >= limits.turns:
            return f"all of the {limits.turns:,} turns were used"
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One tool call of an agent, as integrity checks read it."""

    turn: int
    """From 1."""
    tool: str
    text: str
    """Everything that was given to the tool: a command, a path and the text to put there, a patch."""
    output: str
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A change in the tree that is not part of the submission."""

    path: str
    why: str
    """``ignored by git``, ``made by set-up``, ``no regular file``, …"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """The difference between the tree as an agent left it and as it was handed to it."""

    patch: str
    """A git patch with binary sections, byte for byte with ``surrogateescape`` where it is no UTF-8; empty without
    any change."""
    left_out: tuple[LeftOut, ...] = ()
    left_out_more: int = 0
    """How many more there are than are listed."""


class FindingKind(enum.StrEnum):
    """What an integrity check looks for."""

    NETWORK = "network"
    """An attempt to reach another machine."""
    HISTORY = "history"
    """An attempt to see the repository's history beyond the base commit."""
    TEST_EDIT = "test_edit"
    """A change of files that hold tests."""
    RUNNER_CONFIGURATION = "runner_configuration"
    """A change of what configures the test runner."""
    OUTSIDE_WRITE = "outside_write"
    """A change outside the repository, temporary folders left aside."""
    LONG_WAIT = "long_wait"
    """A command that did nothing but wait, or ran into its time limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something in a sample that a person may want to look at."""

    kind: FindingKind
    turn: int | None
    """The turn of the transcript; None for what was found in the tree."""
    excerpt: str
    """A few words of what was done, fit for a table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentAttempt:
    """One finished sample: what an agent left, how it ended, and what it took."""

    problem_id: str
    sample: int
    """From 0."""
    ending: Ending
    ending_detail: str = ""
    submission: Submission = field(default_factory=lambda: Submission(patch=""))
    usage: TokenUsage = NOTHING
    cost: float | None = None
    turns: int = 0
    tool_calls: int = 0
    wall_seconds: float = 0.0
    """From the moment the agent was let in to the submission."""
    findings: tuple[Finding, ...] = ()
    log: str = ""
    """Inspect log that holds the transcript, relative to the run's folder."""
    log_sample: str = ""
    """The sample's id in that log."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """Versions and settings that only the sample itself shows, such as a scaffold program's version."""
    fixes: tuple[str, ...] = ()
    """Ids of the evaluation's changes that this result has and that concern its provider, tools or scaffold."""

    def to_plain(self) -> dict[str, Any]:
        """Plain data, stable under :meth:`from_plain`; the patch may hold lone surrogates."""
        return {**dataclasses.asdict(self), "facts": dict(self.facts)}

    @classmethod
    def from_plain(cls, data: Mapping[str, Any]) -> "AgentAttempt":
        """Rebuild from :meth:`to_plain` data; raises ``KeyError``, ``TypeError`` or ``ValueError`` on others."""
        values = dict(data)
        submission = dict(values["submission"])
        submission["left_out"] = tuple(LeftOut(**item) for item in submission["left_out"])
        values["submission"] = Submission(**submission)
        values["ending"] = Ending(values["ending"])
        values["usage"] = TokenUsage.from_plain(values["usage"])
        values["findings"] = tuple(Finding(**{**f, "kind": FindingKind(f["kind"])}) for f in values["findings"])
        values["fixes"] = tuple(values["fixes"])
        return cls(**values)
