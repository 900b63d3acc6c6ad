"""What tables and reports say of a benchmark besides its results, each fact with where it comes from."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanReference:
    """How people do on the benchmark."""

    value: float
    """Share of problems solved, between 0 and 1."""
    text: str
    """One plain sentence: who, and on what."""
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskErrors:
    """How many of the benchmark's problems are thought to be wrong themselves."""

    low: float
    """Share of problems, between 0 and 1."""
    high: float
    text: str
    """One plain sentence, to stand beside every score."""
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkFacts:
    """Everything of this kind that is known of one benchmark."""

    problems: int | None = None
    """How many problems the whole of it has; None when that is known from elsewhere, or not at all."""
    public: str = ""
    """Date from which on all its problems could be read by anybody, ISO 8601; empty when unknown."""
    public_source: str = ""
    comparable_versions: tuple[frozenset[str], ...] = ()
    """Versions of the data whose scores may stand in one table; a version in none of these sets stands alone."""
    human: HumanReference | None = None
    task_errors: TaskErrors | None = None
