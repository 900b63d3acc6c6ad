"""Many samples in one file: is the host's memory flat, and a sample as fast at the end as at first?

The file is made by repeating real or starter samples round and round, each copy with another comment at its
end so that no two are the same job.  Every thousand therefore holds the same mix, and without control runs
in the fresh home the engine takes them in file order: thousands can be compared with each other.  (A hang
among the samples would cost its whole limit in each round: choose samples that end, with ``--ids``.)

    python benchmarks/load.py --count 20000 --json load.json

Printed: time and host memory by thousand, the rate of the first thousand over that of the last, the growth
of the host's resident memory from the first result to the last, and what reading the file took before
anything ran.
"""

# needs: nothing (this line puts it into `make bench`)

import argparse
import gzip
import itertools
import json
import os
import statistics
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import measuring

from benchwright.app.demo import answers_file
from benchwright.app.grading import GradeOptions, GradeReport, grade
from benchwright.app.workspace import Workspace
from benchwright.core.runs import Score
from benchwright.grading.run import Progress

_STARTER_SYSTEM = "alder"  # the strong one: nothing hangs
GROWTH_GOAL_MIB = 50.0
"""Records are kept on disk; what grows with the samples done is one small object each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """The state when so many samples were done."""

    done: int
    seconds: float
    """Since the first result."""
    host_rss_bytes: int


def many(samples: Sequence[Mapping[str, Any]], count: int) -> Iterator[dict[str, Any]]:
    """``count`` samples, no two alike, the given ones in turn."""
    for number, sample in zip(range(count), itertools.cycle(samples), strict=False):
        field = "solution" if "solution" in sample else "completion"
        yield {"task_id": sample["task_id"], field: f"{sample[field]}\n# copy {number}\n"}


def read_samples(path: Path, ids: str | None) -> list[dict[str, Any]]:
    """The samples to repeat: those with an answer, of the tasks asked for."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file if line.strip()]
    wanted = {part.strip() for part in ids.split(",")} if ids else None
    rows = [row for row in rows if wanted is None or row["task_id"] in wanted]
    rows = [row for row in rows if isinstance(row.get("solution") or row.get("completion"), str)]
    if not rows:
        raise SystemExit(f"{path} has no sample for these tasks.")
    return rows


class Watch:
    """Takes a mark whenever another block of samples is done."""

    def __init__(self, block: int) -> None:
        self._block = block
        self.began = time.monotonic()
        self.reading_seconds = 0.0
        self.marks: list[Mark] = []
        self._first = 0.0
        self._done = 0

    def __call__(self, progress: Progress) -> None:
        """Called by the grading after every sample."""
        if progress.done == 0:
            self.reading_seconds = time.monotonic() - self.began
            return
        if progress.done == 1:
            self._first = time.monotonic()
        self._done = progress.done
        if progress.done == 1 or progress.done % self._block == 0:
            self.mark()

    def mark(self) -> None:
        """Take a mark now, unless the last one is of the same moment."""
        if not self.marks or self.marks[-1].done != self._done:
            elapsed = time.monotonic() - self._first
            resident = measuring.resident_bytes(os.getpid())
            self.marks.append(Mark(done=self._done, seconds=elapsed, host_rss_bytes=resident))


def figures(marks: Sequence[Mark]) -> dict[str, Any]:
    """Rates by block, and what changed from the first to the last."""
    steps = list(itertools.pairwise(marks))
    rates = [(b.done - a.done) / (b.seconds - a.seconds) for a, b in steps]
    growth = marks[-1].host_rss_bytes - marks[0].host_rss_bytes
    settled = marks[len(marks) // 2]
    return {
        "samples_per_second": rates,
        "first_over_last_rate": rates[0] / rates[-1],
        "first_half_over_second_half_rate": _halves(rates),
        "rss_growth_bytes": growth,
        "rss_growth_second_half_bytes": marks[-1].host_rss_bytes - settled.host_rss_bytes,
    }


def _halves(rates: Sequence[float]) -> float:
    middle = max(1, len(rates) // 2)
    return statistics.mean(rates[:middle]) / statistics.mean(rates[middle:] or rates)


def run(options: argparse.Namespace, samples: Iterable[Mapping[str, Any]], watch: Watch) -> GradeReport:
    """Grade the samples in a fresh home without control runs."""
    real = Workspace.from_environment(os.environ)
    with (
        tempfile.TemporaryDirectory(prefix="bw-load-") as temporary,
        measuring.fresh_home(real.home, controls=False) as home,
    ):
        file = Path(temporary) / "samples.jsonl"
        with file.open("w", encoding="utf-8") as writing:
            writing.writelines(json.dumps(row) + "\n" for row in samples)
        choice = GradeOptions(
            benchmark=options.benchmark,
            samples=file,
            workers=options.workers,
            data=options.dataset,
            environment=options.env,
            scores=(Score.CALIBRATED,),
            out=Path(temporary) / "out",
            official_files=not options.no_official_files,
        )
        watch.began = time.monotonic()
        report = grade(choice, Workspace(home=home), watch)
        watch.mark()
        return report


def show(document: Mapping[str, Any]) -> None:
    """Print the figures for a reader."""
    facts = document["machine"]
    print(f"\n{document['count']} samples of {document['tasks']} tasks, {document['workers']} workers; {facts['cpu']}")
    print(
        f"reading {document['reading_seconds']:.1f} s; host {document['rss_at_start_bytes'] / measuring.MIB:.0f} MiB "
        f"before, {document['marks'][0]['host_rss_bytes'] / measuring.MIB:.0f} MiB with everything read, "
        f"{document['rss_peak_bytes'] / measuring.MIB:.0f} MiB at its highest (results written)\n"
    )
    print(f"{'done':>8}{'seconds':>10}{'per s':>8}{'host MiB':>10}")
    rates = [None, *document["samples_per_second"]]
    for mark, rate in zip(document["marks"], rates, strict=True):
        text = f"{rate:.1f}" if rate is not None else ""
        print(f"{mark['done']:>8}{mark['seconds']:>10.1f}{text:>8}{mark['host_rss_bytes'] / measuring.MIB:>10.1f}")
    growth = document["rss_growth_bytes"] / measuring.MIB
    met = "met" if growth <= GROWTH_GOAL_MIB else "NOT met"
    print(
        f"\nrate of the first block over the last {document['first_over_last_rate']:.2f}, of the first half over the "
        f"second {document['first_half_over_second_half_rate']:.2f} (1 = time per sample does not grow)\n"
        f"host memory grew by {growth:.1f} MiB from first result to last (goal {GROWTH_GOAL_MIB:g}: {met}), "
        f"{document['rss_growth_second_half_bytes'] / measuring.MIB:.1f} MiB of it in the second half\n"
        f"outcomes: {document['outcomes']}"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    options = _parser().parse_args(arguments)
    chosen = read_samples(options.samples or answers_file(_STARTER_SYSTEM), options.ids)
    facts = measuring.machine_facts()
    at_start = measuring.resident_bytes(os.getpid())
    watch = Watch(options.block)
    report = run(options, many(chosen, options.count), watch)
    outcomes: dict[str, int] = {}
    for row in report.rows:
        if row.job_digest is not None:
            outcomes[row.verdict.outcome.value] = outcomes.get(row.verdict.outcome.value, 0) + 1
    document = {
        "machine": facts,
        "count": options.count,
        "tasks": len({row["task_id"] for row in chosen}),
        "workers": options.workers,
        "executed": report.run.executed,
        "reading_seconds": watch.reading_seconds,
        "rss_at_start_bytes": at_start,
        "rss_peak_bytes": measuring.resident_bytes(os.getpid(), "VmHWM"),
        "marks": [asdict(mark) for mark in watch.marks],
        "outcomes": outcomes,
        **figures(watch.marks),
    }
    show(document)
    if options.json:
        options.json.write_text(json.dumps(document, indent=2) + "\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--block", type=int, default=1000, help="samples between two marks")
    parser.add_argument("--benchmark", default="starter")
    parser.add_argument("--dataset", type=Path, help="local file with the benchmark's rows")
    parser.add_argument("--samples", type=Path, help="samples to repeat; default: the starter's strongest system")
    parser.add_argument("--ids", help="only these tasks, separated by commas")
    parser.add_argument("--env", default=None, help="environment; default: the benchmark's own")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--no-official-files", action="store_true", help="leave the official result files out")
    parser.add_argument("--json", type=Path, help="write everything measured here")
    return parser


if __name__ == "__main__":
    measuring.run_program(main)
