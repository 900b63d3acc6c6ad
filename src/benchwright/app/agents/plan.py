"""What a run of an agent will do, settled before anything is asked or spent."""

import dataclasses
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import benchwright
from benchwright.app.repositories.selection import Selection
from benchwright.app.repositories.setups import Selected, select
from benchwright.app.runplan import calling_facts, price_table
from benchwright.app.workspace import Workspace
from benchwright.benchmarks.agent_prompts import agent_prompt
from benchwright.benchmarks.base import SampleKey
from benchwright.benchmarks.repositories import RepositorySet
from benchwright.bridge.models import (
    ModelSettings,
    OpenModel,
    open_model,
    secrets_of,
    without_secrets,
)
from benchwright.bridge.running import CallSettings
from benchwright.bridge.scaffolds.base import FUNCTION, PROGRAM_ORIGIN, ReadyScaffold, Scaffold, ScaffoldSettings
from benchwright.bridge.scaffolds.limit_command import TOKENS_LEFT
from benchwright.bridge.scaffolds.registry import SCAFFOLDS
from benchwright.bridge.tasks import check_generation
from benchwright.core.agents import AgentLimits
from benchwright.core.budget import Budget, PriceEntry
from benchwright.core.digest import digest_of
from benchwright.core.errors import UsageError
from benchwright.core.evaluation import Evaluation, fixes_for
from benchwright.core.prompts import Mode, Prompt
from benchwright.core.repositories import RepositoryProblem

AGENT_SANDBOXES = ("namespace", "docker")
"""Those that Inspect knows as well."""

__all__ = ["AgentPlan", "AgentRunOptions", "ScaffoldSettings", "plan_agent_run"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRunOptions:
    """Which model works on which problems, with what, and within what."""

    selection: Selection
    model: ModelSettings
    scaffold: str = "loop"
    settings: ScaffoldSettings = field(default_factory=ScaffoldSettings)
    limits: AgentLimits = field(default_factory=AgentLimits)
    """Of one sample."""
    budget: Budget = field(default_factory=Budget)
    """Of the whole run."""
    prices: Path | None = None
    samples: int = 1
    """How often every problem is worked on."""
    limit: int | None = None
    """Only the first so many problems."""
    temperature: float | None = None
    """None leaves it to the provider; so do the next ones."""
    reply_tokens: int | None = None
    """Most tokens of one reply."""
    generation: Mapping[str, Any] = field(default_factory=dict)
    """Further settings in the names of Inspect's ``GenerateConfig``."""
    calls: CallSettings = field(default_factory=CallSettings)
    at_once: int = 4
    """Samples worked on side by side."""
    workers: int = 1
    """Patches graded side by side."""
    include_ignored: bool = False
    """Whether new files that git ignores are part of the submission."""
    preflight: bool = True
    exclude: tuple[str, ...] | None = None
    views: tuple[Path, ...] = ()
    out: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentPlan:
    """A run that can begin: everything it needs was found, nothing was asked."""

    options: AgentRunOptions
    selection: Selection
    """With the chosen problems named, where not all are meant."""
    selected: Selected
    scaffold: Scaffold
    ready: ReadyScaffold
    opened: OpenModel
    price: PriceEntry | None
    identity: Mapping[str, Any]
    """Whatever makes it this run and no other."""
    folder: Path
    secrets: tuple[str, ...] = field(default=(), repr=False)

    @property
    def problems(self) -> RepositorySet:
        """The problems to work on; those that cannot run on this machine are among them."""
        return self.selected.problems

    @property
    def run_id(self) -> str:
        """16 hexadecimal digits of the identity's digest."""
        return digest_of(dict(self.identity))[:16]

    @property
    def keys(self) -> list[SampleKey]:
        """Everything to be worked on, repetition by repetition."""
        return [SampleKey(p.id, sample) for sample in range(self.options.samples) for p in self.selected.available]

    @property
    def generation(self) -> dict[str, Any]:
        """All settings of generation in Inspect's names; what is not among them is the provider's own."""
        given = {"temperature": self.options.temperature, "max_tokens": self.options.reply_tokens}
        return {**self.options.generation, **{name: value for name, value in given.items() if value is not None}}

    def prompt(self, problem: RepositoryProblem) -> Prompt:
        """What the agent is told."""
        return _prompt(problem, self.scaffold, self.options.limits, self.ready)

    def facts(self) -> dict[str, Any]:
        """What is recorded of the run besides its identity."""
        options = self.options
        return {
            "run_id": self.run_id,
            **calling_facts(options, self.opened, self.price),
            "at_once": options.at_once,
            "unavailable": dict(self.selected.unavailable),
            "benchwright_version": benchwright.__version__,
        }


def plan_agent_run(
    options: AgentRunOptions,
    workspace: Workspace,
    *,
    fetch: bool = True,
    say: Callable[[str], None] = lambda line: None,
) -> AgentPlan:
    """Settle a run.

    Args:
        options: What is asked for.
        workspace: Where environments are.
        fetch: Whether a scaffold's program that is not here may be fetched.  If not, the plan of a run that needs it
            says so in the scaffold's facts; it has the same identity, and is for showing only.
        say: Told of a download before it begins.

    Raises:
        UsageError: Anything that would make it fail later: no such instance, scaffold or provider, environments that
            are not built, a missing key or program, a cost limit without a price.
    """
    scaffold = _scaffold(options.scaffold)
    if options.selection.sandbox not in AGENT_SANDBOXES:
        raise UsageError(
            f"Agents work in {' or '.join(AGENT_SANDBOXES)}, and {options.selection.sandbox} was given; patches alone "
            f"can be graded in it."
        )
    if options.selection.images is not None:
        raise UsageError("Agents work in environments that are built here, not in pulled images; leave --images out.")
    check_generation(options.generation)
    if options.samples > 1 and options.temperature == 0:
        raise UsageError(
            f"{options.samples} samples at temperature 0 are nearly the same; leave --temperature or --samples out."
        )
    selection = _limited(options)
    selected = select(selection, workspace)
    if not selected.available:
        raise UsageError("None of the chosen instances can run on this machine; `bw env plan` says why.")
    opened = open_model(options.model)
    if opened.mode is Mode.BASE:
        raise UsageError(
            f"{opened.name} would be spoken to as a base model ({opened.mode_reason}), which cannot call tools; give "
            f"another model, or --mode chat."
        )
    price = price_table(options.prices).entry(opened.name)
    options.budget.check_price(opened.name, price and price.price)
    if options.limits.cost is not None:
        Budget(max_cost=options.limits.cost).check_price(opened.name, price and price.price)
    ready = scaffold.ready(opened.model, dataclasses.replace(options.settings, fetch=fetch, say=say))
    identity = _identity(options, selected, scaffold, ready, opened)
    stem = "-".join((options.model.name, selection.benchmark, scaffold.name)).replace("/", "-")
    return AgentPlan(
        options=options,
        selection=selection,
        selected=selected,
        scaffold=scaffold,
        ready=ready,
        opened=opened,
        price=price,
        identity=identity,
        folder=options.out or Path("benchwright-results") / f"{stem}-{digest_of(identity)[:8]}",
        secrets=secrets_of(options.model, os.environ),
    )


def _scaffold(name: str) -> Scaffold:
    """The scaffold of a name; another package may have registered anything."""
    scaffold: object = SCAFFOLDS.get(name)
    if isinstance(scaffold, type):
        raise UsageError(
            f"The entry point of the scaffold {name!r} names the class {scaffold.__name__}; it has to name an instance "
            f"of it."
        )
    missing = [part for part in ("name", "tools", "ready", "agent") if not hasattr(scaffold, part)]
    if missing:
        raise UsageError(
            f"The entry point of the scaffold {name!r} names an object of type {type(scaffold).__name__}, which has no "
            f"{missing[0]}; docs/reference/scaffolds.md says what a scaffold has."
        )
    return cast(Scaffold, scaffold)


def _limited(options: AgentRunOptions) -> Selection:
    """The selection with its problems named, when it is cut to the first of them."""
    if options.limit is None:
        return options.selection
    chosen = options.selection.load().problems[: options.limit]
    return dataclasses.replace(options.selection, ids=tuple(problem.id for problem in chosen))


def _prompt(problem: RepositoryProblem, scaffold: Scaffold, limits: AgentLimits, ready: ReadyScaffold) -> Prompt:
    return agent_prompt(
        problem,
        tools=scaffold.tools,
        limits=limits,
        limit_command=TOKENS_LEFT if ready.limit_command else None,
    )


def _identity(
    options: AgentRunOptions, selected: Selected, scaffold: Scaffold, ready: ReadyScaffold, opened: OpenModel
) -> dict[str, Any]:
    problems = selected.problems
    setups = {problem: setup.environment for problem, setup in sorted(selected.setups.items())}
    return {
        "benchmark": problems.benchmark,
        "version": problems.version,
        "data_digest": problems.digest,
        "subset": problems.subset,
        "ids": sorted(problems.by_id) if options.selection.ids or options.limit is not None else None,
        "model": opened.name,
        "model_args": without_secrets(options.model.args),
        "scaffold": scaffold.name,
        "scaffold_facts": {name: fact for name, fact in ready.facts.items() if name != PROGRAM_ORIGIN},
        "scaffold_options": dict(options.settings.options),
        "tools": dict(ready.forms),
        "native_tools": options.settings.native_tools.value,
        "command_seconds": [options.settings.command_seconds, options.settings.longest_command_seconds],
        "output_bytes": options.settings.output_bytes,
        "agent_limits": options.limits.to_plain(),
        "samples": options.samples,
        "temperature": options.temperature,
        "reply_tokens": options.reply_tokens,
        "generation": without_secrets(options.generation),
        "template_digest": _prompt(problems.problems[0], scaffold, options.limits, ready).template_digest,
        "sandbox": options.selection.sandbox,
        "grading_limits": dataclasses.asdict(options.selection.limits),
        "environment_digest": digest_of(setups),
        "include_ignored": options.include_ignored,
        "evaluation": _evaluation(options, problems.version, ready, opened).to_plain(),
    }


def _evaluation(options: AgentRunOptions, data_version: str, ready: ReadyScaffold, opened: OpenModel) -> Evaluation:
    """What says whether two results may stand side by side."""
    native = tuple(form for form in ready.forms.values() if form != FUNCTION)
    return Evaluation(
        data_version=data_version,
        scaffold=options.scaffold,
        provider=opened.served_by,
        limits=options.limits,
        native_tools=options.settings.native_tools,
        tools=native,
        samples=options.samples,
        include_ignored=options.include_ignored,
        fixes=fixes_for(opened.served_by, options.scaffold, native),
    )
