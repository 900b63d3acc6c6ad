"""The demonstration: three fictitious systems on the built-in starter benchmark, graded, recorded and ranked."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import benchwright.benchmarks.starter as starter
from benchwright.app.controls import CheckOptions, CheckReport, check_benchmark
from benchwright.app.grading import GradeOptions, GradeReport, grade
from benchwright.app.ranking import Ranking, RankRequest, rank
from benchwright.app.recording import record
from benchwright.app.workspace import Workspace, default_workers
from benchwright.core.errors import UsageError
from benchwright.core.execution import Isolation
from benchwright.environments.build import build
from benchwright.environments.environment import open_environment
from benchwright.environments.spec import load_spec
from benchwright.execution.guest import guest_version
from benchwright.judging.function import JUDGE_VERSION
from benchwright.store.folder import ResultsFolder

BENCHMARK = "starter"
STORE = "store"
"""Where below the demonstration's folder its results are recorded: fictitious systems do not belong among real ones."""
_FLOOR_SECONDS = 6.0
"""No starter reference takes half a second; the hanging answers then end soon enough to watch."""
SYSTEMS = {
    "alder": "strong: most answers right, a few honest mistakes",
    "birch": "lazy: as good in logic, but leaves out imports and constants the prompt gave",
    "cedar": "weak: wrong values, hangs, a crash, and attempts to forge a pass",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoReport:
    """What the demonstration came to."""

    check: CheckReport
    gradings: dict[str, GradeReport]
    ranking: Ranking


def run_demo(
    workspace: Workspace,
    out: Path,
    *,
    isolation: Isolation,
    say: Callable[[str], None],
    progress: Callable[[int, int], None],
) -> DemoReport:
    """Build the starter environment if need be, control it, grade the three recorded systems, and rank them.

    Raises `MachineError` when the environment cannot be built or the isolation level is refused.
    """
    try:
        open_environment(BENCHMARK, workspace.home)
    except UsageError:
        say("Building the starter environment (numpy, pandas, matplotlib) ...")
        build(load_spec(BENCHMARK), home=workspace.home, report=say)
    _set_aside(out, isolation)
    workers = default_workers()
    say("Control runs: every reference must pass here, every empty stub must fail ...")
    check = check_benchmark(
        CheckOptions(benchmark=BENCHMARK, workers=workers, isolation=isolation), workspace, progress
    )
    gradings = {}
    for name in SYSTEMS:
        say(f"Grading system {name} ...")
        options = GradeOptions(
            benchmark=BENCHMARK,
            samples=answers_file(name),
            workers=workers,
            model=name,
            out=out / name,
            isolation=isolation,
            floor_seconds=_FLOOR_SECONDS,
        )
        gradings[name] = grade(options, workspace, lambda p: progress(p.done, p.total))
        record(ResultsFolder(out / name), out / STORE)
    say("Ranking them ...")
    ranking = rank(RankRequest(benchmark=BENCHMARK, store=out / STORE), workspace)
    return DemoReport(check=check, gradings=gradings, ranking=ranking)


def _set_aside(folder: Path, isolation: Isolation) -> None:
    """Rename the results of an earlier version or another level, which this run could not go on with."""
    kept = ResultsFolder(folder / next(iter(SYSTEMS)))
    if not kept.has_manifest():
        return
    manifest = kept.manifest()
    now = {"guest_version": guest_version(), "judge_version": JUDGE_VERSION, "isolation": isolation.value}
    if any(manifest.get(name) != value for name, value in now.items()):
        names = (folder.with_name(f"{folder.name}-earlier-{number}") for number in itertools.count(1))
        folder.rename(next(name for name in names if not name.exists()))


def answers_file(system: str) -> Path:
    """The recorded answers of a fictitious system."""
    return Path(starter.__file__).parent / "answers" / f"{system}.jsonl"
