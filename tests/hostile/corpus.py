"""The hostile corpus: reading the programs, running them through the real engine, printing what came of it.

Also a program of its own (``python corpus.py [GROUP/NAME ...]``), so that the same corpus can be run by another
user and another interpreter; standard library only, like the parts of benchwright it uses.
"""

import ast
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from benchwright.answers.plans import read_plan
from benchwright.core.execution import MIB, ExecutionRecord, Isolation, Job, Limits, Submission
from benchwright.core.verdicts import Verdict
from benchwright.environments.spec import Tier
from benchwright.execution.guest import guest_version
from benchwright.execution.schedulers.base import ScheduledJob
from benchwright.execution.schedulers.local import LocalOptions, LocalScheduler
from benchwright.execution.target import Target
from benchwright.judging.function import judge

PROGRAMS = Path(__file__).parent / "programs"
LIMITS = Limits(
    wall_seconds=5.0,
    cpu_seconds=4.0,
    memory_bytes=512 * MIB,
    processes=64,
    scratch_bytes=64 * MIB,
    scratch_files=5000,
    output_bytes=8 * MIB,
)
_DOCSTRING = re.compile(r'\A\s*"""(.*?)"""', re.DOTALL)


@dataclass(frozen=True)
class Program:
    """One program and what must come of it."""

    name: str
    source: str
    expected: tuple[str, ...]
    """``OUTCOME`` or ``OUTCOME reason``; any of them is right."""
    limits: Limits
    needs: tuple[str, ...]

    def agrees(self, verdict: Verdict) -> bool:
        """Whether a verdict is one of those expected."""
        full = f"{verdict.outcome.name} {verdict.reason.value}"
        return any(full == text or verdict.outcome.name == text for text in self.expected)


def programs() -> list[Program]:
    """All programs; each ``leave_X`` comes directly before its ``find_X``."""
    found = [_read(path) for path in PROGRAMS.glob("*/*.py")]
    return sorted(found, key=lambda p: _order(p.name))


def _order(name: str) -> tuple[str, str, int]:
    group, _, base = name.partition("/")
    for rank, prefix in enumerate(("leave_", "find_")):
        if base.startswith(prefix):
            return group, "~" + base[len(prefix) :], rank
    return group, base, 0


def _read(path: Path) -> Program:
    source = path.read_text(encoding="utf-8")
    match = _DOCSTRING.match(source)
    assert match, f"{path} does not begin with a docstring"
    fields = dict(
        line.split("#")[0].strip().split(":", 1)
        for line in match[1].splitlines()
        if line.startswith(("expect:", "limits:", "needs:"))
    )
    expected = tuple(" ".join(part.split()) for part in fields["expect"].split("|"))
    # One that may run out of time would only do so again; any other was held up by a busy machine, and is repeated.
    may_time_out = any(each in ("OVER_LIMIT", "OVER_LIMIT wall_time") for each in expected)
    limits = replace(_limits(fields.get("limits", "")), repeat_timeouts=not may_time_out)
    return Program(
        name=f"{path.parent.name}/{path.stem}",
        source=source,
        expected=expected,
        limits=limits,
        needs=tuple(fields.get("needs", "").split()),
    )


def _limits(text: str) -> Limits:
    units = {"M": MIB, "G": 1024 * MIB, "k": 1024}
    names = {
        "memory": "memory_bytes", "wall": "wall_seconds", "cpu": "cpu_seconds", "processes": "processes",
        "scratch": "scratch_bytes", "output": "output_bytes", "files": "scratch_files",
    }  # fmt: skip
    changes: dict[str, float] = {}
    for part in text.split():
        name, _, value = part.partition("=")
        unit = units.get(value[-1])
        changes[names[name]] = float(value) if unit is None else int(value[:-1]) * unit
    return replace(LIMITS, **{name: type(getattr(LIMITS, name))(value) for name, value in changes.items()})


def problem() -> dict[str, str]:
    """``STUB``, ``REFERENCE`` and ``TESTS`` of the one problem."""
    tree = ast.parse((PROGRAMS / "problem.py").read_text(encoding="utf-8"))
    return {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }


def target(python: Path, prefixes: Iterable[str]) -> Target:
    """An interpreter as a place to execute in."""
    return Target(
        name="corpus",
        digest="corpus",
        python=python,
        readable=tuple(sorted({Path(prefix).resolve() for prefix in prefixes})),
        variables={
            "PATH": f"{python.parent}:/usr/bin:/bin",
            "TZ": "UTC",
            "LANG": "C.UTF-8",
            "OPENBLAS_NUM_THREADS": "1",
        },
        tiers=(Tier(name="bare", preload=("unittest.mock",)),),
    )


def run(
    chosen: Iterable[Program],
    isolation: Isolation = Isolation.NAMESPACE,
    workers: int = 2,
    own_target: Target | None = None,
) -> Iterator[tuple[Program, Verdict, ExecutionRecord]]:
    """Execute programs one batch in order and judge them."""
    plan = read_plan(problem()["TESTS"])
    own = own_target or target(Path(sys.executable), (sys.prefix, sys.base_prefix))
    jobs, by_digest = [], {}
    for program in chosen:
        job = Job(
            submission=Submission(code=program.source, stub=None, entry_point="task_func"),
            plan=plan,
            environment=own.digest,
            tier="bare",
            limits=program.limits,
            guest_version=guest_version(),
            isolation=isolation,
        )
        jobs.append(ScheduledJob(job=job))
        by_digest[job.digest] = program
    options = LocalOptions(workers=workers, isolation=isolation)
    for job, record in LocalScheduler(own, options).run(jobs):
        yield by_digest[job.digest], judge(plan, record), record


def main() -> None:
    """Run the programs named (default: all) and print one JSON object per program."""
    wanted = sys.argv[1:]
    chosen = [p for p in programs() if not wanted or p.name in wanted]
    for program, verdict, record in run(chosen):
        print(
            json.dumps(
                {
                    "name": program.name,
                    "agrees": program.agrees(verdict),
                    "verdict": f"{verdict.outcome.name} {verdict.reason.value}",
                    "detail": verdict.detail,
                    "expected": program.expected,
                    "wall": record.wall_seconds,
                    "interference": record.interference,
                    "uid": os.getuid(),
                }
            ),
            flush=True,
        )


if __name__ == "__main__":
    main()
