"""What a run costs beyond the model's time and the tests' time, and whether grading overlaps generation.

A scripted model answers at once, or after a set time, with programs that differ from sample to sample.  The answers
of the first run are then graded by themselves, in a fresh home: what the run took longer is the host's overhead
(Inspect's own included: events, log, viewer data).  With a model that takes as long as grading does, a run
whose two halves overlap takes hardly longer than one of them.

    python benchmarks/running.py --samples 20 --json running.json

Printed: milliseconds per sample beyond grading, and the time of a run over the sum and over the longer of its halves.
"""

# needs: nothing (this line puts it into `make bench`)

import argparse
import asyncio
import json
import os
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import measuring
from inspect_ai.model import ModelOutput, ModelUsage

from benchwright.app.grading import BOTH_SCORES, GradeOptions, grade
from benchwright.app.run import run
from benchwright.app.runplan import CallSettings, ModelSettings, RunOptions, plan_run
from benchwright.app.workspace import Workspace, default_workers
from benchwright.benchmarks.starter.benchmark import BENCHMARK
from benchwright.bridge.metering import current
from benchwright.core.runs import Score

OVERHEAD_GOAL_MS = 30.0
_SLOWEST = frozenset({"Starter/23"})
"""Left out: it waits, and would hide what is measured."""
Model = Callable[..., Awaitable[ModelOutput]]


def scripted_model(seconds: float) -> Model:
    """A model that gives a right program for every problem, each sample another one, after so many seconds."""
    references = {problem.id: problem.reference for problem in BENCHMARK.load().problems}

    async def answer(*_: Any) -> ModelOutput:
        if seconds:
            await asyncio.sleep(seconds)
        key = current.get()
        text = f"Here it is:\n\n```python\n# sample {key.sample}\n{references[key.problem_id]}\n```\n"
        output = ModelOutput.from_content("scripted", text)
        output.usage = ModelUsage(input_tokens=300, output_tokens=200, total_tokens=500)
        return output

    return answer


class Silent:
    """Takes what a run tells and says nothing."""

    def say(self, text: str) -> None:
        """Nothing."""

    def preflight(self, *_: object) -> None:
        """Nothing."""

    def progress(self, done: int, total: int) -> None:
        """Nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Half:
    """One measured part."""

    seconds: float
    samples: int


def run_model(home: Path, out: Path, *, samples: int, seconds: float, connections: int, workers: int) -> Half:
    """Run the scripted model on the starter tasks in a home."""
    ids = tuple(problem.id for problem in BENCHMARK.load().problems if problem.id not in _SLOWEST)
    options = RunOptions(
        benchmark="starter",
        model=ModelSettings(name="mockllm/scripted", args={"custom_outputs": scripted_model(seconds)}),
        workers=workers,
        ids=ids,
        samples=samples,
        temperature=0.8,
        preflight=False,
        calls=CallSettings(max_connections=connections),
        out=out,
    )
    workspace = Workspace(home=home)
    plan = plan_run(options, workspace)
    began = time.monotonic()
    report = run(plan, workspace, Silent())
    solved = report.grading.summary.solved
    if solved != len(ids):
        raise SystemExit(f"Only {solved} of {len(ids)} tasks were solved: the figures would mean nothing.")
    return Half(seconds=time.monotonic() - began, samples=len(ids) * samples)


def grade_samples(home: Path, samples: Path, out: Path, *, workers: int) -> float:
    """Seconds to grade a run's answers by themselves, extraction and all three scores included."""
    options = GradeOptions(
        benchmark="starter",
        samples=samples,
        workers=workers,
        scores=(Score.AS_WRITTEN, *BOTH_SCORES),
        extract=True,
        ids=tuple(problem.id for problem in BENCHMARK.load().problems if problem.id not in _SLOWEST),
        out=out,
    )
    began = time.monotonic()
    grade(options, Workspace(home=home), lambda progress: None)
    return time.monotonic() - began


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--samples", type=int, default=10, help="samples per task")
    parser.add_argument("--workers", type=int, default=default_workers())
    parser.add_argument("--json", type=Path, default=None, help="also write the figures here")
    arguments = parser.parse_args()
    home = Workspace.from_environment(os.environ).home
    with tempfile.TemporaryDirectory(prefix="bw-running-") as temporary:
        folder = Path(temporary)
        with measuring.fresh_home(home) as one:
            settings = {"connections": 16, "workers": arguments.workers}
            fast = run_model(one, folder / "fast", samples=arguments.samples, seconds=0.0, **settings)
        with measuring.fresh_home(home) as two:
            alone = grade_samples(two, folder / "fast" / "samples.jsonl", folder / "graded", workers=arguments.workers)
        overhead = 1000 * (fast.seconds - alone) / fast.samples
        # As slow as makes generation alone last as long as grading alone.
        connections = 8
        delay = alone * connections / fast.samples
        with measuring.fresh_home(home) as three:
            slow = run_model(
                three,
                folder / "slow",
                samples=arguments.samples,
                seconds=delay,
                connections=connections,
                workers=arguments.workers,
            )
    figures = {
        "samples": fast.samples,
        "run_seconds": fast.seconds,
        "grading_seconds": alone,
        "overhead_ms_per_sample": overhead,
        "generation_seconds": alone,
        "overlapped_run_seconds": slow.seconds,
        "over_sum": slow.seconds / (2 * alone),
        "over_longer_half": slow.seconds / alone,
    }
    print(f"{fast.samples} samples, {arguments.workers} workers, three scores each")
    print(f"run with a model that answers at once   {fast.seconds:7.2f} s")
    print(f"the same answers graded by themselves   {alone:7.2f} s")
    print(f"overhead                                {overhead:7.1f} ms per sample (goal: at most {OVERHEAD_GOAL_MS:g})")
    print(f"run whose generation takes as long      {slow.seconds:7.2f} s")
    print(f"  over generation plus grading          {figures['over_sum']:7.2f} (1 would mean: one after the other)")
    print(f"  over the longer of the two            {figures['over_longer_half']:7.2f}")
    if arguments.json is not None:
        arguments.json.write_text(json.dumps({**figures, "machine": measuring.machine_facts()}, indent=2) + "\n")


if __name__ == "__main__":
    main()
