"""What building environments would take, told before anything is built."""

import functools
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

from benchwright.core.execution import MIB
from benchwright.core.repositories import RepositoryProblem
from benchwright.environments.repositories.spec import RepositorySpec

ESTIMATES_FILE = "estimates.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Disk and time."""

    bytes: int = 0
    seconds: float = 0.0
    """Elapsed time on two processors."""

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(bytes=self.bytes + other.bytes, seconds=self.seconds + other.seconds)

    def times(self, count: int) -> "Cost":
        """The cost of so many of them."""
        return Cost(bytes=self.bytes * count, seconds=self.seconds * count)


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentPlan:
    """The instances of one version of one repository."""

    repo: str
    version: str
    spec_digest: str
    """Empty when there is no specification."""
    python: str
    """What the specification asks for, such as ``3.9``."""
    interpreter: str
    """Where it comes from, such as ``pyenv 3.9.18``; empty when it cannot be had."""
    system_packages: tuple[str, ...]
    instances: tuple[str, ...]
    """Ids, in the order in which they were asked for."""
    built: tuple[str, ...]
    """Those of them that are there."""
    problem: str
    """Why the others cannot be built on this machine; empty when they can."""
    cost: Cost
    """Of what is not built, estimated; nothing of it for what cannot be built."""

    @property
    def missing(self) -> tuple[str, ...]:
        """The instances that a build would make."""
        return () if self.problem else tuple(one for one in self.instances if one not in self.built)

    @property
    def unavailable(self) -> tuple[str, ...]:
        """The instances that are not there and cannot be built."""
        return tuple(one for one in self.instances if one not in self.built) if self.problem else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All environments that some problems need."""

    environments: tuple[EnvironmentPlan, ...]
    """By repository and version."""
    shared: Cost
    """Of what several of them stand on and is not built: root file system, interpreters, Debian packages."""
    problem: str
    """Why nothing can be built on this machine; empty when something can."""

    @property
    def cost(self) -> Cost:
        """Of everything together."""
        return sum((environment.cost for environment in self.environments), self.shared)

    @property
    def instances(self) -> int:
        """How many instances there are."""
        return sum(len(environment.instances) for environment in self.environments)

    @property
    def built(self) -> int:
        """How many of them are there."""
        return sum(len(environment.built) for environment in self.environments)

    @property
    def unavailable(self) -> int:
        """How many of them cannot be built on this machine."""
        return sum(len(environment.unavailable) for environment in self.environments)


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """What planning asks of a machine, so that it can be asked of a made-up one."""

    spec: Callable[[RepositoryProblem], RepositorySpec | None]
    is_built: Callable[[RepositoryProblem], bool]
    interpreter: Callable[[str], str]
    """Where a Python of that version comes from; empty when it cannot be had."""
    interpreter_built: Callable[[str], bool]
    system_built: Callable[[RepositorySpec], bool]
    rootfs_built: bool
    rootfs_problem: str
    """Why the root file system can be neither found nor made; empty when it can."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimates:
    """Measured costs."""

    rootfs: Cost
    python: Cost
    packages: Mapping[str, Cost]
    """Of Debian packages by name; the empty name stands for others."""
    repositories: Mapping[str, "RepositoryEstimate"]
    """By name; the empty name stands for others."""

    def repository(self, repo: str) -> "RepositoryEstimate":
        """What is known of a repository, or of any."""
        return self.repositories.get(repo, self.repositories[""])

    def system(self, packages: Iterable[str]) -> Cost:
        """The cost of a layer of Debian packages."""
        return sum((self.packages.get(name, self.packages[""]) for name in packages), Cost())


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryEstimate:
    """Measured costs of one repository."""

    environment: Cost
    """Of the packages of one version."""
    history: Cost
    """Of what its instances share: most of the history, most files of the checkouts."""
    instance: Cost
    """Of each instance, beside that."""


def make_plan(problems: Iterable[RepositoryProblem], machine: Machine, estimates: Estimates | None = None) -> Plan:
    """What building the environments of some problems would take on a machine.

    Args:
        problems: Which.
        machine: What is there and what can be had.
        estimates: Costs; the shipped ones when None.
    """
    costs = estimates or load_estimates()
    groups: dict[tuple[str, str], list[RepositoryProblem]] = defaultdict(list)
    for problem in problems:
        groups[problem.repo, problem.version].append(problem)
    ordered = sorted(groups.items(), key=lambda item: (item[0][0], _version_key(item[0][1])))
    environments: list[EnvironmentPlan] = []
    begun = {repo for (repo, _), group in ordered if any(map(machine.is_built, group))}
    for (repo, _), group in ordered:
        environment = _plan_one(group, machine, costs, begun=repo in begun)
        environments.append(environment)
        if environment.missing:
            begun.add(repo)
    specs = [machine.spec(group[0]) for _, group in ordered]
    wanted = [spec for spec, one in zip(specs, environments, strict=True) if spec is not None and one.missing]
    return Plan(
        environments=tuple(environments),
        shared=_shared(wanted, machine, costs) if wanted else Cost(),
        problem=machine.rootfs_problem,
    )


def _plan_one(group: list[RepositoryProblem], machine: Machine, costs: Estimates, *, begun: bool) -> EnvironmentPlan:
    first = group[0]
    spec = machine.spec(first)
    interpreter = machine.interpreter(spec.python) if spec is not None else ""
    built = tuple(problem.id for problem in group if machine.is_built(problem))
    problem = ""
    if spec is None:
        problem = f"there is no specification for version {first.version!r} of {first.repo}"
    elif machine.rootfs_problem:
        problem = machine.rootfs_problem
    elif not interpreter:
        problem = f"no Python {spec.python} was found on this machine"
    missing = 0 if problem else len(group) - len(built)
    return EnvironmentPlan(
        repo=first.repo,
        version=first.version,
        spec_digest=spec.digest if spec is not None else "",
        python=spec.python if spec is not None else "",
        interpreter=interpreter,
        system_packages=spec.system_packages if spec is not None else (),
        instances=tuple(one.id for one in group),
        built=built,
        problem=problem if len(built) < len(group) else "",
        cost=_cost_of(costs.repository(first.repo), missing, packages=not built, history=not begun),
    )


def _cost_of(estimate: RepositoryEstimate, missing: int, *, packages: bool, history: bool) -> Cost:
    if not missing:
        return Cost()
    parts = [estimate.instance.times(missing)]
    parts += [estimate.environment] if packages else []
    parts += [estimate.history] if history else []
    return sum(parts, Cost())


def _shared(specs: Iterable[RepositorySpec], machine: Machine, costs: Estimates) -> Cost:
    wanted = list(specs)
    total = Cost() if machine.rootfs_built else costs.rootfs
    pythons = {spec.python for spec in wanted if not machine.interpreter_built(spec.python)}
    total += costs.python.times(len(pythons))
    there = {name for spec in wanted if machine.system_built(spec) for name in spec.system_packages}
    packages = {name for spec in wanted for name in spec.system_packages} - there
    return total + costs.system(sorted(packages))  # layers with the same packages share their files


@functools.cache
def load_estimates() -> Estimates:
    """The shipped estimates, each with where it comes from beside it in the file."""
    text = resources.files(__package__).joinpath(ESTIMATES_FILE).read_text(encoding="utf-8")
    table = tomllib.loads(text)
    return Estimates(
        rootfs=_cost(table["rootfs"]),
        python=_cost(table["python"]),
        packages={"" if name == "other" else name: _cost(one) for name, one in table["package"].items()},
        repositories={
            "" if name == "other" else name: RepositoryEstimate(
                environment=_cost(one["environment"]), history=_cost(one["history"]), instance=_cost(one["instance"])
            )
            for name, one in table["repository"].items()
        },
    )


def _cost(table: Mapping[str, Any]) -> Cost:
    return Cost(bytes=round(table["mib"] * MIB), seconds=float(table["seconds"]))


def _version_key(version: str) -> tuple[tuple[int, int, str], ...]:
    return tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in version.split("."))
