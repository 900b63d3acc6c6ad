"""Plans: which environments some problems need, what is there, and what the rest would take."""

from collections.abc import Callable

import pytest
from made_layers import make_problem

from benchwright.core.repositories import RepositoryProblem
from benchwright.environments.repositories.planning import (
    Cost,
    Estimates,
    Machine,
    Plan,
    RepositoryEstimate,
    load_estimates,
    make_plan,
)
from benchwright.environments.repositories.spec import RepositorySpec, Runner, load_specs

ESTIMATES = Estimates(
    rootfs=Cost(bytes=1000, seconds=100.0),
    python=Cost(bytes=100, seconds=10.0),
    packages={"": Cost(bytes=7, seconds=0.0), "tex": Cost(bytes=70, seconds=0.0)},
    repositories={
        "": RepositoryEstimate(environment=Cost(), history=Cost(), instance=Cost(bytes=5, seconds=1.0)),
        "acme/rockets": RepositoryEstimate(
            environment=Cost(bytes=20, seconds=2.0), history=Cost(bytes=300), instance=Cost(bytes=1, seconds=0.5)
        ),
    },
)


def spec(version: str, *, python: str = "3.9", system: tuple[str, ...] = ()) -> RepositorySpec:
    """A made-up specification."""
    return RepositorySpec(
        repo="acme/rockets",
        version=version,
        source="made up",
        python=python,
        test="pytest",
        runner=Runner.PYTEST,
        log_parser="pytest",
        system_packages=system,
    )


SPECS = {
    "1": spec("1"),
    "2": spec("2", system=("tex", "gs")),
    "10": spec("10", python="3.5"),
}


def machine(
    *,
    built: frozenset[str] = frozenset(),
    rootfs_built: bool = False,
    rootfs_problem: str = "",
    pythons: Callable[[str], bool] = lambda python: False,
) -> Machine:
    """A machine with Python 3.9 alone."""
    return Machine(
        spec=lambda problem: SPECS.get(problem.version),
        is_built=lambda problem: problem.id in built,
        interpreter=lambda python: "pyenv 3.9.18" if python == "3.9" else "",
        interpreter_built=pythons,
        system_built=lambda one: False,
        rootfs_built=rootfs_built,
        rootfs_problem=rootfs_problem,
    )


def problems(*names: str) -> list[RepositoryProblem]:
    """Problems by ``version-number``."""
    return [make_problem(id=name, version=name.partition("-")[0]) for name in names]


def planned(plan: Plan) -> list[tuple[str, int, int]]:
    """Version, missing instances and bytes of each environment."""
    return [(one.version, len(one.missing), one.cost.bytes) for one in plan.environments]


def test_instances_are_grouped_and_ordered_by_version() -> None:
    """One entry per repository and version, versions as numbers."""
    plan = make_plan(problems("10-a", "2-a", "1-a", "1-b"), machine(), ESTIMATES)
    assert [one.version for one in plan.environments] == ["1", "2", "10"]
    assert plan.environments[0].instances == ("1-a", "1-b")
    assert plan.environments[0].spec_digest == SPECS["1"].digest
    assert plan.instances == 4


def test_costs_are_those_of_what_is_missing() -> None:
    """The history once per repository, packages once per version, each instance by itself, what is shared once."""
    plan = make_plan(problems("1-a", "1-b", "2-a"), machine(), ESTIMATES)
    assert planned(plan) == [("1", 2, 300 + 20 + 2), ("2", 1, 20 + 1)]
    assert plan.shared == Cost(bytes=1000 + 100 + 70 + 7, seconds=110.0)
    assert plan.cost.bytes == sum(one.cost.bytes for one in plan.environments) + plan.shared.bytes
    assert plan.cost.seconds == pytest.approx(110.0 + 3.0 + 2.5)


def test_what_is_there_costs_nothing() -> None:
    """A built instance stands for its packages, its history and the layers it is on."""
    built = machine(built=frozenset({"1-a"}), rootfs_built=True, pythons=lambda python: True)
    plan = make_plan(problems("1-a", "1-b"), built, ESTIMATES)
    assert planned(plan) == [("1", 1, 1)]
    assert plan.shared == Cost()
    assert plan.built == 1
    done = make_plan(problems("1-a"), built, ESTIMATES)
    assert done.cost == Cost()
    assert done.environments[0].missing == ()


def test_without_an_interpreter_instances_are_unavailable() -> None:
    """They are listed with the reason and cost nothing; the others are planned."""
    plan = make_plan(problems("1-a", "10-a", "10-b"), machine(), ESTIMATES)
    assert planned(plan) == [("1", 1, 321), ("10", 0, 0)]
    assert plan.environments[1].unavailable == ("10-a", "10-b")
    assert plan.environments[1].problem == "no Python 3.5 was found on this machine"
    assert plan.unavailable == 2


def test_an_unknown_version_is_listed() -> None:
    """No specification is a reason like another."""
    plan = make_plan(problems("7-a"), machine(), ESTIMATES)
    assert "no specification" in plan.environments[0].problem
    assert plan.unavailable == 1
    assert plan.shared == Cost()


def test_a_machine_that_can_make_no_root_file_system_says_so() -> None:
    """Nothing can be built then, and the reason is the plan's."""
    plan = make_plan(problems("1-a"), machine(rootfs_problem="needs root"), ESTIMATES)
    assert plan.problem == "needs root"
    assert plan.unavailable == 1
    assert plan.cost == Cost()


def test_repositories_without_figures_get_others() -> None:
    """An estimate is made for every repository."""
    assert ESTIMATES.repository("else/where").instance.bytes == 5
    assert ESTIMATES.system(["tex", "unknown"]).bytes == 77


def test_the_shipped_estimates_cover_the_shipped_repositories() -> None:
    """Each repository of the shipped specifications has figures of its own, and all figures are more than nothing."""
    estimates = load_estimates()
    repositories = {repo for repo, _ in load_specs()}
    assert repositories <= set(estimates.repositories)
    for name in repositories:
        one = estimates.repository(name)
        assert min(one.environment.bytes, one.history.bytes, one.instance.bytes) > 0
        assert min(one.environment.seconds, one.instance.seconds) > 0
    assert min(estimates.rootfs.bytes, estimates.python.bytes) > 0
