"""Writers of a store of results that are killed with ``kill -9``, and what is left of what they wrote.

``random_kills``: several writers at once, each killed at a moment that chance decides, and started again until all has
been written.  ``every_step``: one writer, killed at its first file operation, its second, and so on to its last.
What must hold afterwards: every run whose recording was acknowledged is there with its rows, nothing in the store is
damaged, and an index made anew is the same as the one that is there.

    python benchmarks/killed_writers.py FOLDER --writes 200 --writers 4 --seed 1

It is a program of its own because it forks: a process in which libraries have started threads must not.
"""

import argparse
import json
import os
import random
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchwright.core.results import Origin, StoredRun
from benchwright.core.runs import ResultRow, Score
from benchwright.core.verdicts import Outcome, Reason, Verdict
from benchwright.store import row_tables  # noqa: F401  # loaded once, here, and not in every fork
from benchwright.store.results import ResultStore

_WRITES_LIVED = 6.0
"""Most writes, in time, that a writer lives for."""
_FRUITLESS_LIVES = 200
"""Lives without a write in a row after which writers live longer; a few are usual."""
_FILE_EVENTS = ("open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.link", "shutil.rmtree", "sqlite3.connect")
_MOST_STEPS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Killing:
    """What came of it."""

    acknowledged: int
    kills: int
    entries: int
    """Runs in the store; an unacknowledged one may be among them, if only its acknowledgement was lost."""
    lost: tuple[str, ...]
    """Acknowledged runs that are not there, or not with their rows."""
    damage: tuple[str, ...]
    index_same: bool
    """Whether the index made anew is the one that was there."""
    stages_cleared: int
    """Half-written entries that were cleared away afterwards."""
    seconds: float

    @property
    def sound(self) -> bool:
        """Whether nothing was lost or damaged."""
        return not self.lost and not self.damage and self.index_same


def run_of(writer: int, number: int) -> tuple[StoredRun, list[ResultRow], dict[str, bytes]]:
    """A run to write; every fifth number is another grading of the run before."""
    outcome = Outcome.PASSED if number % 3 else Outcome.FAILED
    verdict = Verdict(
        outcome=outcome,
        reason=Reason.ALL_TESTS_PASSED if outcome is Outcome.PASSED else Reason.ASSERTION,
        detail=f"writer {writer}, write {number}",
        planned=number + 1,
        passed=number,
        judge_version=1,
        record_digest="r",
    )
    rows = [
        ResultRow(problem_id=f"p/{n}", sample=0, score=Score.CALIBRATED, verdict=verdict, job_digest="j")
        for n in range(20)
    ]
    run = StoredRun(
        entry="",
        run_id=f"{writer}-{number - (number % 5 == 4)}",
        origin=Origin.OWN,
        benchmark="b",
        version="1",
        subset="full",
        variant="complete",
        model=f"model {writer}",
        scores=(Score.CALIBRATED,),
        problems=20,
        solved=20 * (outcome is Outcome.PASSED),
        manifest={"run_id": f"{writer}-{number}"},
    )
    return run, rows, {"shared.json": b"{}" * 500, "own.json": f"{writer} {number}".encode() * 200}


def write(root: Path, acks: Path, writer: int, numbers: Iterator[int]) -> None:
    """Write runs, and acknowledge each in a file of one line per run."""
    descriptor = os.open(acks, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o644)
    with ResultStore(root) as store:
        for number in numbers:
            run, rows, files = run_of(writer, number)
            entry = store.add(run, rows, files).entry
            os.write(descriptor, f"{writer} {number} {entry}\n".encode())


def _write_seconds(folder: Path) -> float:
    """How long a write takes here; afterwards everything is loaded that writing needs, and forks need not."""
    with ResultStore(folder / "warming") as store:
        store.add(*run_of(0, 0))
        started = time.monotonic()
        store.add(*run_of(0, 1))
        return time.monotonic() - started


def random_kills(folder: Path, *, writers: int, writes: int, seed: int) -> Killing:
    """Kill several writers at random moments until all writes are acknowledged."""
    rng, started = random.Random(seed), time.monotonic()
    longest = _WRITES_LIVED * writers * _write_seconds(folder)
    root, kills = folder / "store", 0
    acks = [folder / f"acks-{writer}" for writer in range(writers)]
    share = -(-writes // writers)
    dying: dict[int, tuple[int, int, float]] = {}
    waiting = set(range(writers))
    fruitless = 0
    while waiting or dying:
        if fruitless >= _FRUITLESS_LIVES:  # the machine has become slower since a write was measured
            longest, fruitless = 2 * longest, 0
        for writer in sorted(waiting):
            done = len(_lines(acks[writer]))
            if done < share:
                pid = _fork(lambda w=writer, d=done: write(root, acks[w], w, iter(range(d, share))))  # type: ignore[misc]
                dying[pid] = (writer, done, time.monotonic() + rng.uniform(0, longest))
        waiting = set()
        for pid, (writer, done, end) in list(dying.items()):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if not ended and time.monotonic() >= end:
                os.kill(pid, signal.SIGKILL)
                ended, status = os.waitpid(pid, 0)
            if ended:
                del dying[pid]
                waiting.add(writer)
                fruitless = fruitless + 1 if len(_lines(acks[writer])) == done else 0
                kills += os.WIFSIGNALED(status)
                assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, f"writer {writer} failed"
        waiting = {writer for writer in waiting if len(_lines(acks[writer])) < share}
        time.sleep(0.002)
    return _examined(root, acks, kills, started)


def every_step(folder: Path) -> Killing:
    """Kill a writer at each of its file operations in turn; it writes one run, then the next of the same run."""
    started, root, acks, kills = time.monotonic(), folder / "store", folder / "acks-0", 0
    _write_seconds(folder)
    for step in range(_MOST_STEPS):
        pid = _fork(lambda number=step: _killed_at(number, root, acks))  # type: ignore[misc]
        _, status = os.waitpid(pid, 0)
        if not os.WIFSIGNALED(status):
            assert os.WEXITSTATUS(status) == 0, "the writer failed"
            break
        kills += 1
    return _examined(root, [acks], kills, started)


def _killed_at(step: int, root: Path, acks: Path) -> None:
    count = 0

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal count
        if event in _FILE_EVENTS:
            count += 1
            if count > step:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)
    write(root, acks, 0, iter([step]))


def _fork(work: Any) -> int:
    pid = os.fork()
    if pid:
        return pid
    try:
        work()
    except BaseException as error:  # noqa: BLE001  # nothing may get out of a fork
        print(repr(error), file=sys.stderr, flush=True)
        os._exit(1)
    os._exit(0)


def _lines(path: Path) -> list[str]:
    try:
        text = path.read_text()
    except FileNotFoundError:
        return []
    return text.splitlines()


def _examined(root: Path, acks: list[Path], kills: int, started: float) -> Killing:
    acknowledged = [line.split() for path in acks for line in _lines(path)]
    with ResultStore(root) as store:
        there = {run.entry for run in store.runs(superseded=True)}
        lost = [f"{writer} {number}" for writer, number, entry in acknowledged if entry not in there]
        for writer, number, entry in acknowledged:
            if entry in there and list(store.rows(entry)) != run_of(int(writer), int(number))[1]:
                lost.append(f"rows of {writer} {number}")
        damage = store.verify()
        before = store.index_dump()
        store.rebuild()
        same = store.index_dump() == before
        cleared = store.gc().stages
        damage += store.verify()
    return Killing(
        acknowledged=len(acknowledged),
        kills=kills,
        entries=len(there),
        lost=tuple(lost),
        damage=tuple(damage),
        index_same=same,
        stages_cleared=cleared,
        seconds=round(time.monotonic() - started, 3),
    )


def main() -> None:
    """Kill, and print one JSON object; ends with 1 when anything was lost."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="an empty folder")
    parser.add_argument("--writes", type=int, default=200)
    parser.add_argument("--writers", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every-step", action="store_true", help="one writer, killed at each of its file operations")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    if arguments.every_step:
        found = every_step(arguments.folder)
    else:
        found = random_kills(arguments.folder, writers=arguments.writers, writes=arguments.writes, seed=arguments.seed)
    print(json.dumps({**asdict(found), "sound": found.sound}))
    sys.exit(0 if found.sound else 1)


if __name__ == "__main__":
    main()
