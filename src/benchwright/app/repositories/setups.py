"""How chosen instances are run on this machine: their places, commands and log forms."""

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from benchwright.answers.patches import PatchAnswer, read_patch
from benchwright.app.repositories.places import Places, places_of
from benchwright.app.repositories.selection import Selection, environments_of
from benchwright.app.workspace import Workspace
from benchwright.benchmarks.repositories import RepositorySet, named_few
from benchwright.core.digest import digest_of
from benchwright.core.errors import UsageError
from benchwright.core.repositories import RepositoryProblem
from benchwright.environments.repositories.instances import RepositoryEnvironments, offline_environ
from benchwright.environments.repositories.official import official_script
from benchwright.environments.repositories.pythons import UnavailableError
from benchwright.environments.repositories.spec import (
    RepositorySpec,
    Runner,
    needs_reinstall,
    test_command,
    test_directives,
)
from benchwright.execution.repositories import Place
from benchwright.grading.repositories import Setup


@dataclass(frozen=True, slots=True, kw_only=True)
class Selected:
    """Chosen rows, those of them that can run here, and why the others cannot."""

    problems: RepositorySet
    setups: Mapping[str, Setup]
    unavailable: Mapping[str, str]
    """Why an instance's environment cannot be had on this machine, by id."""

    @property
    def available(self) -> tuple[RepositoryProblem, ...]:
        """The problems that can be run."""
        return tuple(problem for problem in self.problems.problems if problem.id in self.setups)


def select(selection: Selection, workspace: Workspace, *, only: Iterable[str] | None = None) -> Selected:
    """Load the rows and find their built environments.

    Args:
        selection: What is asked for.
        workspace: Where environments are.
        only: Ids whose environment is needed; None means all.

    Raises `UsageError` that names the instances that are not built, and how to build them.
    """
    problems = selection.load()
    wanted = set(problems.by_id if only is None else only)
    problems.only(wanted).check_tests()
    environments = environments_of(selection, workspace)
    places = places_of(selection, environments)
    setups: dict[str, Setup] = {}
    unavailable: dict[str, str] = {}
    missing: list[str] = []
    for problem in problems.problems:
        if problem.id not in wanted:
            continue
        spec = environments.spec(problem)
        try:
            place = places.place(problem)
        except UnavailableError as error:
            unavailable[problem.id] = str(error)
            continue
        if place is None:
            missing.append(problem.id)
        else:
            setups[problem.id] = setup_of(problem, spec, place, pulled=selection.images is not None)
    if missing:
        raise UsageError(_not_built(selection, missing, len(wanted)))
    return Selected(problems=problems, setups=setups, unavailable=unavailable)


def setup_for(
    problem: RepositoryProblem, selection: Selection, environments: RepositoryEnvironments, places: Places
) -> Setup:
    """How one built instance is run; raises `UsageError` when it is not built."""
    place = places.place(problem)
    if place is None:
        raise UsageError(_not_built(selection, [problem.id], 1))
    return setup_of(problem, environments.spec(problem), place)


def _not_built(selection: Selection, missing: list[str], wanted: int) -> str:
    data = f" --dataset {selection.data}" if selection.data else ""
    data += f" --subset {selection.subset}" if selection.subset else ""
    data += f" --specs {selection.specs}" if selection.specs else ""
    data += "".join(f" --repo-source {name}={place}" for name, place in selection.sources.items())
    return (
        f"The environments of {len(missing)} of {wanted} instances are not built ({named_few(missing)}); give "
        f"`bw env build {selection.benchmark}{data} --ids {','.join(missing[:3])}{',…' if len(missing) > 3 else ''}` "
        f"first."
    )


_RUNNERS = {
    Runner.PYTEST: "pytest",
    Runner.TOX_PYTEST: "pytest",
    Runner.DJANGO: "django",
    Runner.SYMPY: "sympy",
}


def setup_of(problem: RepositoryProblem, spec: RepositorySpec, place: Place, *, pulled: bool = False) -> Setup:
    """How one instance is run in its place; a pulled image has none of our wheels to install from."""
    install = spec.reinstall_command or spec.install
    tests = test_command(spec, test_directives(spec, problem.test_patch))
    return Setup(
        place=place,
        parser=spec.log_parser,
        runner=_RUNNERS[spec.runner],
        tests=tests,
        install=install,
        needs_install=functools.partial(needs_reinstall, spec),
        environ=dict(spec.environ) if pulled else offline_environ(spec),
        project_modules=frozenset(spec.project_modules),
        spec_digest=digest_of({"spec": spec.digest, "deviations": list(spec.deviations)}),
        official_script=official_script(
            base_commit=problem.base_commit,
            test_patch=problem.test_patch,
            reset=_files_before(problem.test_patch),
            install=install,
            tests=tests,
        ),
    )


def _files_before(test_patch: str) -> list[str]:
    answer = read_patch(test_patch)
    if not isinstance(answer, PatchAnswer):
        return []
    return [file.old_path for file in answer.files if file.old_path is not None]
