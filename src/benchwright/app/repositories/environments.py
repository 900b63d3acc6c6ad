"""The environments of repository problems: the use cases behind ``bw env`` for benchmarks of repositories."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchwright.app.repositories.places import image_tag, places_of
from benchwright.app.repositories.selection import Selection, environments_of
from benchwright.app.workspace import Workspace
from benchwright.core.errors import MachineError, UsageError
from benchwright.core.repositories import RepositoryProblem
from benchwright.environments.repositories.images import remove_image
from benchwright.environments.repositories.instances import BuildOutcome, BuildReport, Built
from benchwright.environments.repositories.packing import Packed
from benchwright.environments.repositories.planning import EnvironmentPlan, Plan
from benchwright.environments.repositories.pythons import UnavailableError
from benchwright.sandboxes.containers.engine import Engine

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedEnvironments:
    """What building would take, and what room there is."""

    plan: Plan
    free_bytes: int
    """Free on the disk of the home."""

    def to_plain(self) -> dict[str, Any]:
        """The plan as the object of ``bw env plan --json``."""
        cost = self.plan.cost
        return {
            "environments": [_plain(environment) for environment in self.plan.environments],
            "instances": self.plan.instances,
            "built": self.plan.built,
            "unavailable": self.plan.unavailable,
            "size_mib": round(cost.bytes / MIB),
            "seconds": round(cost.seconds),
            "free_mib": round(self.free_bytes / MIB),
            "problem": self.plan.problem,
        }


def _plain(environment: EnvironmentPlan) -> dict[str, Any]:
    return {
        "repo": environment.repo,
        "version": environment.version,
        "spec_digest": environment.spec_digest,
        "python": environment.python,
        "interpreter": environment.interpreter,
        "system_packages": list(environment.system_packages),
        "instances": len(environment.instances),
        "built": len(environment.built),
        "unavailable": list(environment.unavailable),
        "problem": environment.problem,
        "size_mib": round(environment.cost.bytes / MIB),
        "seconds": round(environment.cost.seconds),
    }


def plan_repositories(selection: Selection, workspace: Workspace) -> PlannedEnvironments:
    """What building the chosen instances' environments would take here; nothing is built or fetched."""
    environments = environments_of(selection, workspace)
    return PlannedEnvironments(plan=environments.plan(selection.load().problems), free_bytes=workspace.free_bytes())


def build_repositories(
    selection: Selection, workspace: Workspace, *, report: Callable[[str], None], size_cap: int | None = None
) -> BuildReport:
    """Build what is not there yet; with the docker sandbox also the images that are made of it.

    Instances that fail are in the report with the command that failed.  Raises `MachineError` when nothing can be
    built here at all.
    """
    problems = selection.load().problems
    if selection.images is not None:
        return _pull(selection, problems, report)
    environments = environments_of(selection, workspace)
    built = environments.build(problems, report=report, size_cap=size_cap)
    if selection.sandbox != "namespace":
        places = places_of(selection, environments)
        for problem in problems:
            if environments.image(problem) is not None:
                report(f"image of {problem.id}")
                places.place(problem)
    return built


def _pull(selection: Selection, problems: Iterable[RepositoryProblem], report: Callable[[str], None]) -> BuildReport:
    places = places_of(selection, None)
    outcomes = []
    for problem in problems:
        report(f"image of {problem.id}")
        try:
            places.place(problem)
        except UnavailableError as error:
            outcomes.append(BuildOutcome(problem_id=problem.id, built=Built.UNAVAILABLE, message=str(error)))
        except MachineError as error:
            outcomes.append(BuildOutcome(problem_id=problem.id, built=Built.FAILED, message=str(error)))
        else:
            outcomes.append(BuildOutcome(problem_id=problem.id, built=Built.BUILT))
    return BuildReport(outcomes=tuple(outcomes), bytes=0)


def remove_repositories(selection: Selection, workspace: Workspace) -> int:
    """Remove the chosen instances' own layers; returns the bytes that became free.

    With the docker sandbox the images made of them go instead; what those took, the engine does not say.
    """
    if selection.sandbox == "docker":
        for problem in selection.load().problems:
            remove_image(Engine("docker"), image_tag(problem))
        return 0
    return environments_of(selection, workspace).remove(selection.load().problems)


def collect(cap: int, workspace: Workspace) -> tuple[int, int]:
    """Remove leftovers and the layers used longest ago until at most ``cap`` bytes are left; bytes freed and left."""
    done = environments_of(Selection(benchmark="repositories"), workspace).collect(cap)
    return done.freed_bytes, done.bytes


def pack_repositories(selection: Selection, out: Path, workspace: Workspace) -> Packed:
    """Write the chosen instances' environments into one compressed file."""
    return environments_of(selection, workspace).pack(selection.load().problems, out)


def unpack_repositories(file: Path, workspace: Workspace) -> Packed:
    """Put the environments of such a file among those of this home."""
    return environments_of(Selection(benchmark="repositories"), workspace).unpack(file)


def built_repositories(workspace: Workspace) -> list[dict[str, Any]]:
    """Every layer that is built, with what it takes beside those before it."""
    store = environments_of(Selection(benchmark="repositories"), workspace).store
    return [
        {"name": layer.path.name, "kind": layer.key.kind.value, "bytes": layer.manifest.content.new_bytes}
        for layer in store.layers()
    ]


def broken_layers(selection: Selection, workspace: Workspace) -> list[str]:
    """Names of the chosen instances' layers whose files are not what was built; every file is read.

    Raises `UsageError` when none of the instances is built.
    """
    environments = environments_of(selection, workspace)
    stacks = [environments.stack(problem) for problem in selection.load().problems]
    layers = {layer.path.name: layer for stack in stacks for layer in stack or ()}
    if not layers:
        raise UsageError("None of these instances is built; give `bw env build` first.")
    return [name for name, layer in sorted(layers.items()) if not environments.store.verify(layer)]
