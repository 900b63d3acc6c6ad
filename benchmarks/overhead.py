"""What the engine itself costs: time per trivial sample, scaling, memory, beside a cold interpreter.

A trivial sample adds one to a number and has five tests; what it takes is, to within a millisecond, the
engine's own cost.  Measured per tier with one and with two workers: elapsed time per sample, CPU time of
the sample's processes, CPU time of the host.  Then samples that burn half a CPU second each, with one
worker and with two: the ratio of the elapsed times is the scaling.  Beside it, in the same run and the same
environment, what a fresh ``python`` that imports numpy, pandas and matplotlib and runs the same tests
takes: the price without warm guests.

    python benchmarks/overhead.py --json overhead.json
"""

# needs: nothing (this line puts it into `make bench`)

import argparse
import json
import os
import resource
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import measuring

from benchwright.answers.plans import read_plan
from benchwright.app.workspace import Workspace
from benchwright.core.execution import Isolation, Job, Limits, Submission
from benchwright.core.verdicts import Outcome
from benchwright.environments.environment import State, list_environments, open_environment
from benchwright.execution.guest import guest_version
from benchwright.execution.schedulers.base import Expectation, ScheduledJob
from benchwright.execution.schedulers.local import LocalOptions, LocalScheduler
from benchwright.execution.target import Target, target_of
from benchwright.judging.function import judge

OVERHEAD_GOAL_MS = 20.0
SCALING_GOAL = 1.8
_CODE = "def task_func(x):\n    return x + 1\n"
_TESTS = "import unittest\n\n\nclass TestCases(unittest.TestCase):\n" + "".join(
    f"    def test_{number}(self):\n        self.assertEqual(task_func({number}), {number + 1})\n"
    for number in range(5)
)
_BURNING = """
import time

def task_func(x):
    end = time.process_time() + {seconds}
    while time.process_time() < end:
        pass
    return x + 1
"""
_ONE_TEST = (
    "import unittest\n\n\nclass TestCases(unittest.TestCase):\n"
    "    def test_it(self):\n        self.assertEqual(task_func(1), 2)\n"
)
_COLD = "import numpy, pandas, matplotlib.pyplot\n"
_COLD_END = "\nunittest.main(argv=['cold'], exit=False)\n"
_ENVIRONMENTS = ("bigcodebench", "bigcodebench-light", "starter")
_MEMORY_SECONDS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PerSample:
    """What one sample took, in milliseconds, with the guests already warm."""

    samples: int
    start_ms: float
    """From the call to the first result: the mother imports its libraries in this time."""
    wall_ms: float
    """Elapsed time divided by samples, first one left out."""
    child_wall_ms: float
    """Median, from the fork of a sample to its end."""
    child_cpu_ms: float
    """Median CPU time of a sample's processes."""
    tests_ms: float
    """Median time within the tests themselves."""
    host_cpu_ms: float
    """CPU time of the host process per sample."""
    host_rss_bytes: int
    mothers_rss_bytes: int
    guests_pss_bytes: int


@dataclass(slots=True)
class _Memory:
    """Largest sizes seen so far."""

    mothers_rss: int = 0
    guests_pss: int = 0


@contextmanager
def _watched() -> Iterator[_Memory]:
    """Sample the memory of our own tree in the background."""
    seen, ended, own = _Memory(), threading.Event(), os.getpid()

    def watch() -> None:
        while not ended.wait(_MEMORY_SECONDS):
            now = measuring.memory_of_tree(own, host=own)
            seen.mothers_rss = max(seen.mothers_rss, now.mothers_rss)
            seen.guests_pss = max(seen.guests_pss, now.guests_pss)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield seen
    finally:
        ended.set()
        thread.join()


def _jobs(target: Target, tier: str, code: str, tests: str, count: int, cpu_seconds: float) -> list[ScheduledJob]:
    plan = read_plan(tests)
    expectation = Expectation(wall_seconds=cpu_seconds, cpu_seconds=cpu_seconds, memory_bytes=128 * measuring.MIB)
    return [
        ScheduledJob(
            job=Job(
                submission=Submission(code=f"{code}\n# {number}", stub=None, entry_point="task_func"),
                plan=plan,
                environment=target.digest,
                tier=tier,
                limits=Limits(),
                guest_version=guest_version(),
                isolation=Isolation.NAMESPACE,
            ),
            expectation=expectation,
        )
        for number in range(count)
    ]


def run(target: Target, jobs: Sequence[ScheduledJob], workers: int) -> PerSample:
    """Run equal jobs through the engine; raises `SystemExit` when one of them does not pass."""
    scheduler = LocalScheduler(target, LocalOptions(workers=workers))
    walls, cpus, tests = [], [], []
    with _watched() as memory:
        called = first = time.perf_counter()
        host = time.process_time()
        for number, (job, record) in enumerate(scheduler.run(jobs)):
            if number == 0:
                first, host = time.perf_counter(), time.process_time()
            verdict = judge(job.plan, record)
            if verdict.outcome is not Outcome.PASSED:
                raise SystemExit(f"A trivial sample did not pass: {verdict.reason.value}: {verdict.detail}")
            walls.append(record.wall_seconds)
            cpus.append(record.cpu_seconds)
            tests.append(sum(test.seconds for test in record.tests))
            last, host_end = time.perf_counter(), time.process_time()
    rest = len(jobs) - 1
    return PerSample(
        samples=len(jobs),
        start_ms=(first - called) * 1e3,
        wall_ms=(last - first) / rest * 1e3,
        child_wall_ms=statistics.median(walls) * 1e3,
        child_cpu_ms=statistics.median(cpus) * 1e3,
        tests_ms=statistics.median(tests) * 1e3,
        host_cpu_ms=(host_end - host) / rest * 1e3,
        host_rss_bytes=measuring.resident_bytes(os.getpid()),
        mothers_rss_bytes=memory.mothers_rss,
        guests_pss_bytes=memory.guests_pss,
    )


def cold(target: Target, count: int) -> dict[str, float]:
    """A fresh interpreter per sample: milliseconds elapsed and of CPU time, medians."""
    walls, cpus = [], []
    with tempfile.TemporaryDirectory(prefix="bw-cold-") as temporary:
        script = Path(temporary) / "cold.py"
        script.write_text(_COLD + _CODE + _TESTS + _COLD_END)
        for number in range(count + 1):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            started = time.perf_counter()
            subprocess.run(
                [str(target.python), "-B", str(script)],
                env={**target.variables},
                cwd=temporary,
                check=True,
                capture_output=True,
            )
            wall = time.perf_counter() - started
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            if number:  # the first one fills the page cache
                walls.append(wall)
                cpus.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return {"wall_ms": statistics.median(walls) * 1e3, "cpu_ms": statistics.median(cpus) * 1e3}


def scaling(target: Target, tier: str, count: int, seconds: float, rounds: int) -> dict[str, float]:
    """Elapsed seconds of the same CPU-bound samples with one worker and with two, interleaved; medians."""
    elapsed: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(rounds):
        for workers, times in elapsed.items():
            code = _BURNING.format(seconds=seconds)
            figures = run(target, _jobs(target, tier, code, _ONE_TEST, count, seconds), workers)
            times.append(figures.wall_ms * (figures.samples - 1) / 1e3)
    one, two = statistics.median(elapsed[1]), statistics.median(elapsed[2])
    return {"one_worker_seconds": one, "two_workers_seconds": two, "ratio": one / two}


def show(document: dict[str, Any]) -> None:
    """Print the figures for a reader."""
    facts = document["machine"]
    print(f"\nenvironment {document['environment']}; {facts['cpu']}, {facts['cores']} cores, load {facts['load']:.2f}")
    print(f"the rest of the machine used {document['other_cpu_seconds']:.1f} CPU seconds meanwhile\n")
    print(
        f"{'tier':<12}{'workers':>8}{'wall ms':>9}{'child CPU':>11}{'child wall':>12}{'tests':>8}{'host CPU':>10}"
        f"{'start ms':>10}{'host MiB':>10}{'mothers':>9}{'guests':>8}"
    )
    for entry in document["trivial"]:
        print(
            f"{entry['tier']:<12}{entry['workers']:>8}{entry['wall_ms']:>9.1f}{entry['child_cpu_ms']:>11.1f}"
            f"{entry['child_wall_ms']:>12.1f}{entry['tests_ms']:>8.1f}{entry['host_cpu_ms']:>10.2f}"
            f"{entry['start_ms']:>10.0f}{entry['host_rss_bytes'] / measuring.MIB:>10.0f}"
            f"{entry['mothers_rss_bytes'] / measuring.MIB:>9.0f}{entry['guests_pss_bytes'] / measuring.MIB:>8.0f}"
        )
    lightest = [entry for entry in document["trivial"] if entry["tier"] == document["trivial"][0]["tier"]]
    single = next(entry for entry in lightest if entry["workers"] == 1)
    met = "met" if single["wall_ms"] <= OVERHEAD_GOAL_MS else "NOT met"
    print(f"\noverhead per sample, 1 worker: {single['wall_ms']:.1f} ms (goal {OVERHEAD_GOAL_MS:g}: {met})")
    fresh = document["cold"]
    print(
        f"a fresh interpreter per sample: {fresh['wall_ms']:.0f} ms elapsed, {fresh['cpu_ms']:.0f} ms CPU; "
        f"{fresh['wall_ms'] / single['wall_ms']:.1f} times ours elapsed, "
        f"{fresh['cpu_ms'] / (single['child_cpu_ms'] + single['host_cpu_ms']):.1f} times ours in CPU"
    )
    two = document["scaling"]
    met = "met" if two["ratio"] >= SCALING_GOAL else "NOT met"
    print(
        f"scaling on CPU-bound samples: {two['one_worker_seconds']:.1f} s with 1 worker, "
        f"{two['two_workers_seconds']:.1f} s with 2: {two['ratio']:.2f} (goal {SCALING_GOAL}: {met})"
    )


def first_built(workspace: Workspace) -> str:
    """The largest environment there is; raises `SystemExit` when there is none."""
    built = {entry.name for entry in list_environments(workspace.home) if entry.state is State.READY}
    for name in _ENVIRONMENTS:
        if name in built:
            return name
    raise SystemExit(f"No environment is built; try `bw env build {_ENVIRONMENTS[-1]}`.")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    options = _parser().parse_args(arguments)
    workspace = Workspace.from_environment(os.environ)
    target = target_of(open_environment(options.env or first_built(workspace), workspace.home))
    known = [tier.name for tier in target.tiers]
    tiers = [name for name in options.tiers.split(",") if name in known] or known[:1]
    facts = measuring.machine_facts()
    measuring.adopt_orphans()
    busy = measuring.busy_seconds()
    trivial = []
    for tier in tiers:
        for workers in (1, 2):
            figures = run(target, _jobs(target, tier, _CODE, _TESTS, options.count, 0.01), workers)
            trivial.append({"tier": tier, "workers": workers, **asdict(figures)})
    document: dict[str, Any] = {
        "machine": facts,
        "environment": target.name,
        "environment_digest": target.digest,
        "trivial": trivial,
        "cold": cold(target, options.cold),
        "scaling": scaling(target, tiers[0], options.burners, options.burn_seconds, options.rounds),
    }
    time.sleep(0.5)  # slots of the last run are still ending
    measuring.take_in_orphans()
    own = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    used = sum(usage.ru_utime + usage.ru_stime for usage in own)
    document["other_cpu_seconds"] = max(0.0, measuring.busy_seconds() - busy - used)
    show(document)
    if options.json:
        options.json.write_text(json.dumps(document, indent=2) + "\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--env", help=f"a built environment; default: the first built of {', '.join(_ENVIRONMENTS)}")
    parser.add_argument(
        "--tiers", default="light,science", help="guest tiers; those the environment lacks are left out"
    )
    parser.add_argument("--count", type=int, default=400, help="trivial samples per tier and number of workers")
    parser.add_argument("--cold", type=int, default=10, help="fresh interpreters")
    parser.add_argument("--burners", type=int, default=60, help="CPU-bound samples")
    parser.add_argument("--burn-seconds", type=float, default=0.5, help="CPU seconds of each")
    parser.add_argument("--rounds", type=int, default=1, help="repeats of the scaling measurement")
    parser.add_argument("--json", type=Path, help="write everything measured here")
    return parser


if __name__ == "__main__":
    measuring.run_program(main)
