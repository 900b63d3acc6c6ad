"""The store of results: how fast is it with many runs, and does it lose anything when writers are killed?

Makes a store of synthetic runs (or takes one that is there), then times whole commands as a user starts them, and
kills writers as ``killed_writers.py`` says.

    python benchmarks/store.py --runs 1000 --problems 1140 --json store.json
    python benchmarks/store.py --keep /path/to/store            # goes on with the store if it is there
"""

# needs: nothing (this line puts it into `make bench`)

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchwright.core.results import Origin, ProblemFacts, StoredRun
from benchwright.core.runs import ResultRow, Score
from benchwright.core.verdicts import Outcome, Reason, Verdict
from benchwright.store.results import ResultStore

LIST_GOAL_SECONDS = 1.0
RANK_GOAL_SECONDS = 30.0
MEMORY_GOAL_MIB = 2048.0
_BW = [sys.executable, "-c", "from benchwright.cli.main import main; main()"]
_KILLED = Path(__file__).with_name("killed_writers.py")
_SCORED = """
import sys
from pathlib import Path
from benchwright.store.results import ResultStore
with ResultStore(Path(sys.argv[1]), read_only=True) as store:
    found = store.scored(store.runs())
    print(len(found), sum(len(run.tallies) for run in found))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """One command, as a user starts it."""

    what: str
    seconds: float
    """Median of the rounds."""
    memory_mib: float
    """Largest resident size of any round."""
    status: int
    output: str
    """Its last line."""


def synthetic(number: int, problems: int) -> tuple[StoredRun, list[ResultRow], dict[str, bytes]]:
    """A run of a model whose strength is chance."""
    rng = random.Random(number)
    strength = rng.uniform(0.1, 0.9)
    rows = []
    for index in range(problems):
        passes = rng.random() < strength
        verdict = Verdict(
            outcome=Outcome.PASSED if passes else Outcome.FAILED,
            reason=Reason.ALL_TESTS_PASSED if passes else Reason.ASSERTION,
            detail="5 of 5 tests passed" if passes else "TestCases.test_case_3: AssertionError: 3 != 4",
            planned=5,
            passed=5 if passes else 3,
            judge_version=1,
            record_digest=f"{rng.getrandbits(256):064x}",
        )
        rows.append(
            ResultRow(
                problem_id=f"BigCodeBench/{index}",
                sample=0,
                score=Score.CALIBRATED,
                verdict=verdict,
                job_digest=f"{rng.getrandbits(256):064x}",
                wall_seconds=round(rng.uniform(0.1, 3), 4),
                cpu_seconds=round(rng.uniform(0.1, 2), 4),
                memory_peak_bytes=rng.randrange(1 << 24, 1 << 28),
                strategy="solution-field",
            )
        )
    run = StoredRun(
        entry="",
        run_id=f"synthetic-{number}",
        origin=Origin.OWN,
        benchmark="bigcodebench",
        version="v0.1.0",
        subset="full",
        variant="complete",
        model=f"lab/model-{number}",
        scores=(Score.CALIBRATED,),
        problems=problems,
        solved=sum(row.verdict.outcome is Outcome.PASSED for row in rows),
        finished="2026-01-01T00:00:00+00:00",
        manifest={"run_id": f"synthetic-{number}", "status": "complete", "kind": "functions", "schema": 2},
    )
    domains = ("Computation", "General", "Visualization", "System", "Time", "Network", "Cryptography")
    facts = [
        ProblemFacts(id=f"BigCodeBench/{n}", digest=f"{n:064x}", domains=(domains[n % 7],), libraries=("os",))
        for n in range(problems)
    ]
    lines = "".join(json.dumps(one.to_plain()) + "\n" for one in facts)
    return run, rows, {"problems.jsonl": lines.encode()}


def fill(root: Path, runs: int, problems: int) -> float:
    """Record runs until there are so many; returns the seconds that one took."""
    with ResultStore(root) as store:
        there = {run.run_id for run in store.runs()}
        wanted = [number for number in range(runs) if f"synthetic-{number}" not in there]
        spent = 0.0
        for done, number in enumerate(wanted):
            made = synthetic(number, problems)
            started = time.perf_counter()
            store.add(*made)
            spent += time.perf_counter() - started
            if done % 100 == 99:
                print(f"{done + 1} of {len(wanted)} runs recorded", file=sys.stderr)
    return spent / len(wanted) if wanted else 0.0


def timed(what: str, command: Sequence[str], rounds: int, environment: dict[str, str]) -> Timed:
    """Run a command several times."""
    seconds, memory, status, output = [], 0.0, 0, ""
    for _ in range(rounds):
        started = time.perf_counter()
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
        ) as process:
            assert process.stdout is not None
            output = process.stdout.read()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = status
        seconds.append(time.perf_counter() - started)
        memory = max(memory, usage.ru_maxrss / 1024)
    last = output.strip().splitlines()[-1][:200] if output.strip() else ""
    return Timed(what=what, seconds=statistics.median(seconds), memory_mib=memory, status=status, output=last)


def measure(root: Path, rounds: int) -> list[Timed]:
    """Every command that reads the whole store."""
    home = root.parent / "home"
    environment = {**os.environ, "BENCHWRIGHT_STORE": str(root), "BENCHWRIGHT_HOME": str(home), "NO_COLOR": "1"}
    by_domain = (
        "SELECT domain, avg((outcome = 'passed')::int) AS share FROM rows JOIN runs USING (entry) "
        "JOIN (SELECT problem_id, benchmark, unnest(domains) AS domain FROM problems) USING (benchmark, problem_id) "
        "GROUP BY 1 ORDER BY 1"
    )
    commands: list[tuple[str, list[str], int]] = [
        ("bw results list", [*_BW, "results", "list"], rounds),
        ("bw results list --json", [*_BW, "results", "list", "--json"], rounds),
        ("bw results query, all rows", [*_BW, "results", "query", "SELECT outcome, count(*) FROM rows GROUP BY 1"], 1),
        ("bw results query, by domain", [*_BW, "results", "query", by_domain], 1),
        ("scored() of every run", [sys.executable, "-c", _SCORED, str(root)], 1),
        ("bw rank", [*_BW, "rank", "bigcodebench", "--rounds", "500", "--json"], 1),
        ("bw store verify", [*_BW, "store", "verify"], 1),
    ]
    return [timed(what, command, count, environment) for what, command, count in commands]


def rebuilt(root: Path) -> float:
    """Seconds for making the index anew."""
    (root / "index.sqlite").unlink(missing_ok=True)
    started = time.perf_counter()
    with ResultStore(root) as store:
        store.runs()
    return time.perf_counter() - started


def killed(*options: str) -> dict[str, object]:
    """What came of killing writers in a fresh store."""
    with tempfile.TemporaryDirectory(prefix="bw-killed-") as name:
        done = subprocess.run(
            [sys.executable, str(_KILLED), name, *options], check=False, capture_output=True, text=True
        )
    if not done.stdout:
        raise SystemExit(f"killed_writers.py ended with {done.returncode}: {done.stderr}")
    found: dict[str, object] = json.loads(done.stdout)
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--problems", type=int, default=1140)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--keep", type=Path, default=None, help="folder of the store; default: a temporary one")
    parser.add_argument("--no-kills", action="store_true")
    parser.add_argument("--json", type=Path, default=None, help="write everything there")
    arguments = parser.parse_args()
    scratch = Path(tempfile.mkdtemp(prefix="bw-store-"))
    root = arguments.keep or scratch / "store"
    try:
        recording = fill(root, arguments.runs, arguments.problems)
        size = sum(path.stat().st_size for path in root.rglob("*") if path.is_file())
        index = rebuilt(root)
        found = measure(root, arguments.rounds)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    kills = {} if arguments.no_kills else {"random": killed("--writes", "200"), "every step": killed("--every-step")}
    print(f"{arguments.runs} runs x {arguments.problems} rows: {size / 2**20:.0f} MiB")
    print(f"recording a run: {recording * 1000:.0f} ms; making the index anew: {index:.2f} s")
    for one in found:
        print(f"{one.what:30} {one.seconds:7.2f} s {one.memory_mib:7.0f} MiB   exit {one.status}")
    for name, one_kill in kills.items():
        print(f"killed, {name}: {one_kill}")
    report = {
        "runs": arguments.runs,
        "problems": arguments.problems,
        "bytes": size,
        "recording_seconds": recording,
        "index_seconds": index,
        "commands": [asdict(one) for one in found],
        "kills": kills,
    }
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(report, indent=2) + "\n")
    named = {one.what: one for one in found}
    failed = [
        named["bw results list"].seconds > LIST_GOAL_SECONDS,
        named["bw rank"].seconds > RANK_GOAL_SECONDS,
        any(one.memory_mib > MEMORY_GOAL_MIB or one.status for one in found),
        not all(one_kill["sound"] for one_kill in kills.values()),
    ]
    sys.exit(any(failed))


if __name__ == "__main__":
    main()
