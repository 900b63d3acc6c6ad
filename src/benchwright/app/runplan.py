"""What a run will do, settled before anything is asked or spent."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, Protocol

import benchwright
from benchwright.app.grading import DEFAULT_FLOOR_SECONDS
from benchwright.app.workspace import Workspace
from benchwright.benchmarks.base import Benchmark, ProblemSet
from benchwright.benchmarks.registry import BENCHMARKS
from benchwright.bridge.grader import ALL_SCORES
from benchwright.bridge.models import (
    ModelSettings,
    OpenModel,
    open_model,
    secrets_of,
    without_credentials,
    without_secrets,
)
from benchwright.bridge.running import CallSettings
from benchwright.bridge.tasks import BASE_REPLY_TOKENS, Question, check_generation
from benchwright.core.budget import Budget, PriceEntry, PriceTable
from benchwright.core.digest import digest_of
from benchwright.core.errors import UsageError
from benchwright.core.execution import Isolation
from benchwright.core.prompts import Mode
from benchwright.core.runs import Score
from benchwright.execution.target import Target

__all__ = ["CallSettings", "ModelSettings", "RunOptions", "RunPlan", "plan_run"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """What to ask of which model, and how to grade it."""

    benchmark: str
    model: ModelSettings
    workers: int
    variant: str | None = None
    subset: str | None = None
    version: str | None = None
    data: Path | None = None
    ids: tuple[str, ...] = ()
    limit: int | None = None
    """Only the first so many problems."""
    samples: int = 1
    temperature: float = 0.0
    reply_tokens: int | None = None
    """Most tokens of one reply; None leaves it to the provider, in base mode `BASE_REPLY_TOKENS`."""
    generation: Mapping[str, Any] = field(default_factory=dict)
    """Further settings in the names of Inspect's ``GenerateConfig``."""
    prefill: bool = False
    preflight: bool = True
    budget: Budget = field(default_factory=Budget)
    prices: Path | None = None
    """The user's own price table."""
    calls: CallSettings = field(default_factory=CallSettings)
    environment: str | None = None
    scores: tuple[Score, ...] = ALL_SCORES
    official_limits: bool = False
    floor_seconds: float = DEFAULT_FLOOR_SECONDS
    isolation: Isolation = Isolation.NAMESPACE
    out: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """A run that can begin: everything it needs was found, nothing was asked."""

    options: RunOptions
    benchmark: Benchmark
    problems: ProblemSet
    target: Target
    question: Question
    opened: OpenModel
    price: PriceEntry | None
    """The entry the model is priced by; None when its price is not known."""
    identity: Mapping[str, Any]
    """Whatever makes it this run and no other."""
    folder: Path
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """Texts that may be written nowhere."""

    @property
    def run_id(self) -> str:
        """16 hexadecimal digits of the identity's digest."""
        return digest_of(dict(self.identity))[:16]

    @property
    def flags(self) -> tuple[str, ...]:
        """What sets the run's score apart from others of its kind."""
        mismatch = self.opened.mode is Mode.BASE and self.benchmark.for_instruction_tuned(self.question.variant)
        return ("base_model_on_instruct",) if mismatch else ()

    def facts(self) -> dict[str, Any]:
        """What is recorded of the run besides its identity."""
        options = self.options
        return {
            "run_id": self.run_id,
            "flags": list(self.flags),
            "mode_reason": self.opened.mode_reason,
            "data_source": self.problems.source,
            "data_pinned": self.problems.pinned,
            **calling_facts(options, self.opened, self.price),
            "benchwright_version": benchwright.__version__,
        }


class Calling(Protocol):
    """Options of a run, as far as they are about calls of the model."""

    @property
    def model(self) -> ModelSettings:
        """Which model, and where."""

    @property
    def budget(self) -> Budget:
        """Of the whole run."""

    @property
    def calls(self) -> CallSettings:
        """How calls are spread and repeated."""


def calling_facts(options: Calling, opened: OpenModel, price: PriceEntry | None) -> dict[str, Any]:
    """What is recorded of how a run calls its model, besides its identity."""
    return {
        "served_by": opened.served_by,
        "base_url": without_credentials(options.model.base_url),
        "price": price and {"entry": price.name, **price.price.to_plain()},
        "budget": {"max_tokens": options.budget.max_tokens, "max_cost": options.budget.max_cost},
        "calls": {
            "max_connections": options.calls.max_connections,
            "max_retries": options.calls.max_retries,
            "timeout": options.calls.timeout,
        },
    }


def plan_run(options: RunOptions, workspace: Workspace) -> RunPlan:
    """Settle a run.

    Raises:
        UsageError: Anything that would make it fail later: no such benchmark, variant, problem or environment, an
            unknown provider, a missing key, a cost limit without a price, samples without a temperature.
    """
    benchmark = BENCHMARKS.get(options.benchmark)
    variant = options.variant or benchmark.variants[0]
    if variant not in benchmark.variants:
        known = ", ".join(benchmark.variants)
        raise UsageError(f"{benchmark.title} has no variant {variant!r}; choose one of: {known}.")
    if options.samples > 1 and options.temperature <= 0:
        raise UsageError(
            f"{options.samples} samples at temperature 0 are one and the same; give --temperature above 0, or leave "
            f"--samples out."
        )
    check_generation(options.generation)
    problems = _selected(options, benchmark)
    target = workspace.target(options.environment or benchmark.environments[0])
    opened = open_model(options.model)
    question = Question(
        benchmark=benchmark,
        problems=problems,
        variant=variant,
        mode=opened.mode,
        prefill=options.prefill,
        samples=options.samples,
        generation=_generation(options, opened.mode),
    )
    price = price_table(options.prices).entry(opened.name)
    options.budget.check_price(opened.name, price and price.price)
    identity = _identity(options, question, opened, target)
    stem = "-".join((options.model.name, options.benchmark, variant)).replace("/", "-")
    default = Path("benchwright-results") / f"{stem}-{digest_of(identity)[:8]}"
    return RunPlan(
        options=options,
        benchmark=benchmark,
        problems=problems,
        target=target,
        question=question,
        opened=opened,
        price=price,
        identity=identity,
        folder=options.out or default,
        secrets=secrets_of(options.model, os.environ),
    )


def _selected(options: RunOptions, benchmark: Benchmark) -> ProblemSet:
    problems = benchmark.load(subset=options.subset, version=options.version, path=options.data)
    if options.ids:
        problems = problems.only(options.ids)
    if options.limit is not None:
        problems = problems.only([problem.id for problem in problems.problems[: options.limit]])
    return problems


def _generation(options: RunOptions, mode: Mode) -> dict[str, Any]:
    settings = {**options.generation, "temperature": options.temperature}
    tokens = options.reply_tokens or (BASE_REPLY_TOKENS if mode is Mode.BASE else None)
    return settings | ({"max_tokens": tokens} if tokens else {})


def _identity(options: RunOptions, question: Question, opened: OpenModel, target: Target) -> dict[str, Any]:
    problems = question.problems
    return {
        "benchmark": problems.benchmark,
        "version": problems.version,
        "data_digest": problems.digest,
        "subset": problems.subset,
        "ids": [problem.id for problem in problems.problems] if options.ids or options.limit is not None else None,
        "variant": question.variant,
        "model": opened.name,
        "model_args": without_secrets(options.model.args),
        "mode": opened.mode.value,
        "prefill": question.prefill,
        "template_digest": question.prompt(problems.problems[0].id).template_digest,
        "samples": question.samples,
        "generation": without_secrets(question.generation),
        "environment": target.name,
        "environment_digest": target.digest,
        "isolation": options.isolation.value,
        "scores": [score.value for score in options.scores],
        "limits": "official" if options.official_limits else f"control, at least {options.floor_seconds:g} s",
    }


def price_table(path: Path | None) -> PriceTable:
    """The shipped table, and above it the user's own; raises `UsageError` when that cannot be read."""
    shipped = resources.files("benchwright.bridge").joinpath("prices.toml").read_text("utf-8")
    table = PriceTable.from_toml(shipped, "prices.toml")
    if path is None:
        return table
    try:
        own = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The price file {path} cannot be read ({error}).") from error
    return PriceTable(prices={**table.prices, **PriceTable.from_toml(own, str(path)).prices})
