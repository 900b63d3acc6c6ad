"""Side by side: the official package ``bigcodebench==0.2.5`` and ``bw grade`` on the same samples.

Both grade the same file with the calibration stub, in the same environment, with the same number of workers
and no network, one after the other in one run: per round the official package, then ours with the default
limits, then ours with ``--official-limits``.  Neither side's control runs count: the official package is
called with ``no_gt=True``, ours uses the control runs stored beforehand (``bw bench check``), which are
copied into a fresh home for each run, so that no finished work is reused.  `official_package` says how the
official one is run.

    python benchmarks/grading.py --dataset DATA.jsonl.gz --samples full-complete.samples.jsonl.gz --json out.json

Printed at the end: wall and CPU seconds, memory, passes, the ratios official/ours, a table of the verdicts of
both, and how near ours comes to the physical floor: the larger of the samples' own CPU seconds divided by the
workers, and the longest single sample.
"""

import argparse
import dataclasses
import gzip
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import measuring
import official_package

from benchwright.app.workspace import Workspace
from benchwright.benchmarks.bigcodebench.benchmark import BENCHMARK
from benchwright.benchmarks.bigcodebench.rows import read_problems
from benchwright.core.runs import ResultRow
from benchwright.environments.environment import Environment, open_environment
from benchwright.execution.guest import guest_version
from benchwright.execution.target import target_of
from benchwright.execution.witness import witness_library
from benchwright.store.folder import ResultsFolder

GOALS = {"default": 3.0, "official": 2.0}
"""How many times faster (wall) than the official package, by limits."""
FLOOR_GOAL = 1.2
_WARM_UP = "import numpy, pandas, matplotlib.pyplot, sklearn, tensorflow"


@dataclass(frozen=True, slots=True, kw_only=True)
class Floor:
    """What no scheduler on this machine can go below, from the rows of one grading."""

    cpu_seconds: float
    """The samples' own CPU time, each executed job once."""
    longest_seconds: float
    """The longest single sample."""
    workers: int

    @property
    def seconds(self) -> float:
        """The larger of the two bounds."""
        return max(self.cpu_seconds / self.workers, self.longest_seconds)

    @classmethod
    def of(cls, rows: Iterable[ResultRow], workers: int) -> "Floor":
        """From rows; answers that were executed once for several rows count once."""
        jobs = {row.job_digest: row for row in rows if row.job_digest is not None}
        return cls(
            cpu_seconds=sum(row.cpu_seconds for row in jobs.values()),
            longest_seconds=max((row.wall_seconds for row in jobs.values()), default=0.0),
            workers=workers,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnRun:
    """One run of ``bw grade``."""

    limits: str
    measured: measuring.Measured
    rows: tuple[ResultRow, ...]
    floor: Floor
    reused: int

    @property
    def passes(self) -> int:
        return sum(row.verdict.outcome == "passed" for row in self.rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What both sides grade."""

    data: Path
    samples: tuple[Mapping[str, Any], ...]
    task_ids: tuple[str, ...]
    whole: bool
    """Whether every task of the data file has a sample."""
    whole_subset: bool
    """Whether every task of the subset has one."""
    variant: str
    subset: str
    workers: int


def read_work(options: argparse.Namespace) -> Work:
    """The samples asked for; raises `SystemExit` when there are none."""
    opener = gzip.open if options.samples.suffix == ".gz" else open
    with opener(options.samples, "rt", encoding="utf-8") as file:
        samples = [json.loads(line) for line in file if line.strip()]
    problems = BENCHMARK.load(subset=options.subset, path=options.dataset).by_id
    samples = [sample for sample in samples if sample["task_id"] in problems]
    chosen = list(dict.fromkeys(sample["task_id"] for sample in samples))
    if options.ids:
        wanted = {part.strip() for part in options.ids.split(",")}
        if absent := sorted(wanted - set(chosen)):
            raise SystemExit(f"The samples have nothing for {', '.join(absent)}.")
        chosen = [task for task in chosen if task in wanted]
    if options.sample_size and options.sample_size < len(chosen):
        step = len(chosen) / options.sample_size
        chosen = [chosen[int(index * step)] for index in range(options.sample_size)]
    if not chosen:
        raise SystemExit(f"{options.samples} holds no sample for these tasks.")
    kept = set(chosen)
    everything = len(read_problems(options.dataset).problems)
    return Work(
        data=options.dataset.resolve(),
        samples=tuple(sample for sample in samples if sample["task_id"] in kept),
        task_ids=tuple(chosen),
        whole=len(chosen) == everything,
        whole_subset=len(chosen) == len(problems),
        variant=options.variant,
        subset=options.subset,
        workers=options.workers,
    )


def uncontrolled(work: Work, workspace: Workspace, environment: Environment) -> list[str]:
    """Tasks without a stored control run: they get the official limits and no place in the order."""
    problems = BENCHMARK.load(subset=work.subset, path=work.data).by_id
    with workspace.records() as store:
        known = store.controls(target_of(environment).digest, guest_version())
    return [task for task in work.task_ids if problems[task].digest not in known]


def run_official(work: Work, environment: Environment, package: Path, folder: Path) -> official_package.OfficialRun:
    """Grade with the official package."""
    return official_package.run(
        environment=environment,
        package=package,
        data=work.data,
        samples=work.samples,
        task_ids=None if work.whole else work.task_ids,
        subset=work.subset,
        variant=work.variant,
        workers=work.workers,
        folder=folder,
    )


def run_ours(work: Work, limits: str, environment: Environment, workspace: Workspace, folder: Path) -> OwnRun:
    """Grade with ``bw grade`` in a fresh home."""
    folder.mkdir(parents=True)
    file = folder / "samples.jsonl"
    with file.open("w", encoding="utf-8") as writing:
        writing.writelines(json.dumps(row) + "\n" for row in work.samples)
    out = folder / "out"
    command = [str(Path(sys.executable).with_name("bw")), "grade", "bigcodebench", str(file), "--calibrated"]
    command += ["--variant", work.variant, "--subset", work.subset, "--dataset", str(work.data)]
    command += ["--env", environment.name, "--workers", str(work.workers), "--out", str(out), "--json"]
    command += ["--official-limits"] if limits == "official" else []
    command += [] if work.whole_subset else ["--ids", ",".join(work.task_ids)]
    log = folder.with_name(folder.name + ".log")
    with measuring.fresh_home(workspace.home) as home:
        variables = {**os.environ, "BENCHWRIGHT_HOME": str(home)}
        measured = measuring.measure(command, variables=variables, folder=folder, log=log)
    if measured.exit_status:
        raise SystemExit(f"bw grade ended with {measured.exit_status}; the end of {log}:\n{measuring.tail(log)}")
    results = ResultsFolder(out)
    rows = tuple(results.rows())
    reused = int(results.manifest()["reused"])
    shutil.rmtree(folder)
    floor = Floor.of(rows, work.workers)
    return OwnRun(limits=limits, measured=measured, rows=rows, floor=floor, reused=reused)


def agreement(
    official: Mapping[str, Sequence[Mapping[str, Any]]], rows: Iterable[ResultRow]
) -> Counter[tuple[str, str]]:
    """How often each official status met each outcome of ours."""
    return Counter((str(official[row.problem_id][row.sample]["status"]), row.verdict.outcome.value) for row in rows)


def disagreements(
    official: Mapping[str, Sequence[Mapping[str, Any]]], rows: Iterable[ResultRow]
) -> list[dict[str, Any]]:
    """Samples that pass on one side only."""
    found = []
    for row in rows:
        theirs = official[row.problem_id][row.sample]
        if (theirs["status"] == "pass") != (row.verdict.outcome == "passed"):
            found.append(
                {
                    "task": row.problem_id,
                    "sample": row.sample,
                    "official": theirs["status"],
                    "official_details": {name: str(text)[-300:] for name, text in theirs["details"].items()},
                    "ours": row.verdict.outcome.value,
                    "reason": row.verdict.reason.value,
                    "detail": row.verdict.detail,
                    "wall_seconds": row.wall_seconds,
                }
            )
    return found


def official_passes(results: Mapping[str, Sequence[Mapping[str, Any]]]) -> int:
    """Samples with status ``pass``."""
    return sum(entry["status"] == "pass" for entries in results.values() for entry in entries)


def ratios(
    official: Sequence[official_package.OfficialRun], reused_seconds: float | None, runs: Sequence[OwnRun]
) -> dict[str, float]:
    """Official over ours, and ours over the floor: the median over rounds."""
    wall = statistics.median(run.measured.wall_seconds for run in runs)
    cpu = statistics.median(run.measured.cpu_seconds for run in runs)
    figures = {
        "wall_seconds": wall,
        "cpu_seconds": cpu,
        "over_floor": statistics.median(r.measured.wall_seconds / r.floor.seconds for r in runs if r.floor.seconds),
    }
    if official:
        figures["wall_ratio"] = statistics.median(run.measured.wall_seconds for run in official) / wall
        figures["cpu_ratio"] = statistics.median(run.measured.cpu_seconds for run in official) / cpu
    elif reused_seconds is not None:
        figures["wall_ratio"] = reused_seconds / wall
    return figures


def _mib(value: int) -> str:
    return f"{value / measuring.MIB:,.0f}"


def _line(name: str, measured: measuring.Measured, passes: int, total: int) -> str:
    return (
        f"{name:<24}{measured.wall_seconds:>9.1f}{measured.cpu_seconds:>9.1f}{measured.other_cpu_seconds:>9.1f}"
        f"{passes:>7}/{total:<6}{_mib(measured.command_rss_peak_bytes):>8}"
        f"{_mib(measured.mothers_rss_peak_bytes):>9}{_mib(measured.guests_pss_peak_bytes):>9}"
        f"{_mib(measured.tree_pss_peak_bytes):>9}{measured.leftovers:>6}"
    )


def show(document: Mapping[str, Any], official: Sequence[official_package.OfficialRun], own: Sequence[OwnRun]) -> None:
    """Print the figures for a reader."""
    total = document["samples"]
    facts = document["machine"]
    print(
        f"\n{total} samples, {document['workers']} workers, environment {document['environment']}, network off on both"
    )
    print(f"{facts['cpu']}, {facts['cores']} cores, guest {facts['guest_version']}, commit {facts['commit'][:12]}")
    if document["without_control"]:
        print(
            f"WARNING: {len(document['without_control'])} tasks have no stored control run; run `bw bench check` first."
        )
    print(
        f"\n{'':<24}{'wall s':>9}{'CPU s':>9}{'other s':>9}{'pass':>8}{'':<6}{'host':>8}{'mothers':>9}{'guests':>9}"
        f"{'tree':>9}{'left':>6}\n{'':<65}{'peak MiB: RSS':>14}{'RSS':>7}{'PSS':>9}{'PSS':>9}"
    )
    for run in official:
        print(_line("official 0.2.5", run.measured, official_passes(run.results), total))
        if run.left_running:
            print(f"{'':<24}{run.left_running} processes of samples were still running when it had finished")
    if not official and document["official_seconds_reused"] is not None:
        print(
            f"{'official 0.2.5':<24}{document['official_seconds_reused']:>9.1f}   (measured earlier, not in this run)"
        )
    for own_run in own:
        print(_line(f"ours, {own_run.limits} limits", own_run.measured, own_run.passes, total))
    print()
    for limits, figures in document["ratios"].items():
        if "wall_ratio" in figures:
            met = "met" if figures["wall_ratio"] >= GOALS[limits] else "NOT met"
            mark = "" if official else " (official figure measured earlier)"
            cpu = f", CPU {figures['cpu_ratio']:.2f}" if "cpu_ratio" in figures else ""
            print(
                f"official / ours, {limits} limits: wall {figures['wall_ratio']:.2f} (goal {GOALS[limits]:g}: {met})"
                f"{cpu}{mark}"
            )
        floor = next(run.floor for run in own if run.limits == limits)
        met = "met" if figures["over_floor"] <= FLOOR_GOAL else "NOT met"
        print(
            f"ours / floor, {limits} limits: {figures['over_floor']:.2f} (goal {FLOOR_GOAL}: {met}); floor "
            f"{floor.seconds:.1f} s = max({floor.cpu_seconds:.1f} s CPU / {floor.workers}, longest sample "
            f"{floor.longest_seconds:.1f} s)"
        )
    for limits, comparison in document["agreement"].items():
        same = comparison["same"]
        print(f"\npass or not as official, {limits} limits: {same} of {total} ({same / total:.2%})")
        for pair, count in comparison["table"].items():
            print(f"  {pair:<32}{count:>6}")
        for entry in comparison["disagreements"]:
            print(
                f"  {entry['task']} sample {entry['sample']}: official {entry['official']}, ours {entry['ours']}: "
                f"{entry['detail']}"
            )


def _compared(official: official_package.OfficialRun, run: OwnRun) -> dict[str, Any]:
    table = agreement(official.results, run.rows)
    different = disagreements(official.results, run.rows)
    return {
        "same": len(run.rows) - len(different),
        "table": {f"{theirs} / {ours}": count for (theirs, ours), count in sorted(table.items())},
        "disagreements": different,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; the exit status says whether it ran, not whether the goals were met."""
    options = _parser().parse_args(arguments)
    modes = [mode.strip() for mode in options.modes.split(",")]
    if unknown := sorted(set(modes) - set(GOALS)):
        raise SystemExit(f"There is no mode {', '.join(unknown)}; known: {', '.join(GOALS)}.")
    workspace = Workspace.from_environment(os.environ)
    environment = open_environment(options.env, workspace.home)
    work = read_work(options)
    facts = measuring.machine_facts()
    measured_here = not options.skip_official and options.official_seconds is None
    package = official_package.overlay(workspace.home, environment) if measured_here else None
    witness_library()  # built once per guest version, not in the measured time
    # Both sides find the libraries in the page cache, whichever comes first.
    subprocess.run([str(environment.python), "-c", _WARM_UP], check=False, capture_output=True)
    official: list[official_package.OfficialRun] = []
    own: list[OwnRun] = []
    with tempfile.TemporaryDirectory(prefix="bw-grading-") as temporary:
        for number in range(options.rounds):
            if package is not None:
                print(f"round {number + 1}: official package …", file=sys.stderr, flush=True)
                official.append(run_official(work, environment, package, Path(temporary) / f"official-{number}"))
            for limits in modes:
                print(f"round {number + 1}: ours, {limits} limits …", file=sys.stderr, flush=True)
                folder = Path(temporary) / f"ours-{limits}-{number}"
                own.append(run_ours(work, limits, environment, workspace, folder))
    by_limits = {limits: [run for run in own if run.limits == limits] for limits in modes}
    document: dict[str, Any] = {
        "machine": facts,
        "environment": environment.name,
        "environment_digest": target_of(environment).digest,
        "data": str(work.data),
        "samples_file": str(options.samples),
        "samples": len(work.samples),
        "tasks": len(work.task_ids),
        "workers": work.workers,
        "control_runs_counted": False,
        "without_control": uncontrolled(work, workspace, environment),
        "official_seconds_reused": options.official_seconds,
        "official": [
            {
                **dataclasses.asdict(run.measured),
                "passes": official_passes(run.results),
                "left_running": run.left_running,
            }
            for run in official
        ],
        "ours": [
            {
                "limits": run.limits,
                **dataclasses.asdict(run.measured),
                "passes": run.passes,
                "reused": run.reused,
                "floor": {**dataclasses.asdict(run.floor), "seconds": run.floor.seconds},
            }
            for run in own
        ],
        "ratios": {limits: ratios(official, options.official_seconds, runs) for limits, runs in by_limits.items()},
        "agreement": {limits: _compared(official[-1], runs[-1]) for limits, runs in by_limits.items() if official},
    }
    show(document, official, own)
    if options.json:
        options.json.write_text(json.dumps(document, indent=2) + "\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--dataset", type=Path, required=True, help="the benchmark's rows, .jsonl or .jsonl.gz")
    parser.add_argument("--samples", type=Path, required=True, help="sample file in the official format")
    parser.add_argument("--variant", default="complete", choices=BENCHMARK.variants)
    parser.add_argument("--subset", default="full", choices=BENCHMARK.subsets)
    parser.add_argument("--env", default="bigcodebench", help="environment both sides run in")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--ids", help="only these tasks, separated by commas")
    parser.add_argument("--sample-size", type=int, help="only this many tasks, evenly spaced")
    parser.add_argument("--modes", default="default,official", help="limits to run ours with")
    parser.add_argument("--skip-official", action="store_true", help="measure ours alone")
    parser.add_argument("--official-seconds", type=float, help="wall seconds of the official package, measured earlier")
    parser.add_argument("--json", type=Path, help="write everything measured here")
    return parser


if __name__ == "__main__":
    measuring.run_program(main)
