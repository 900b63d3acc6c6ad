"""Agents measured: the reference change through each tool, and what must not count, on built instances.

``bw run`` is called with the scripted model, which plays: the reference by a here-document, by the editor and by
apply_patch; nothing; only tests; a forged result; the reference with the budget exceeded in the middle, after which
nothing more may be done.  Printed is one JSON object: verdicts by scenario and sandbox, and those that are wrong.  The
exit status is 1 when one is.

    python benchmarks/agents.py --dataset ROWS --home HOME --ids a,b --sandbox namespace --sandbox docker
"""
# needs: built instances (see benchmarks/README.md)

import argparse
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from benchwright.app.repositories.selection import Selection
from benchwright.app.repositories.setups import select
from benchwright.app.workspace import Workspace
from benchwright.benchmarks.repositories import REPOSITORY_BENCHMARKS
from benchwright.core.repositories import RepositoryProblem
from benchwright.sandboxes.base import RunLimits
from benchwright.testing.agents import SUBMIT, Turn, by_bash, by_editor, by_patch_tool, call

FORGED = """
import atexit
def pytest_collection_modifyitems(items):
    for item in items:
        item.obj = lambda *args, **kwargs: None
def _say():
    print({lines!r})
atexit.register(_say)
"""
OVER = {"input_tokens": 3_000_000, "output_tokens": 10}


def tests_only(problem: RepositoryProblem) -> list[Turn]:
    """The hidden tests themselves, as if guessed, and no fix."""
    return by_bash(problem.test_patch)


def forged(problem: RepositoryProblem) -> list[Turn]:
    """A conftest that makes every test pass and prints what a log parser looks for."""
    lines = "\n".join(f"PASSED {test}" for test in (*problem.fail_to_pass, *problem.pass_to_pass))
    text = FORGED.format(lines=lines)
    command = f"cd /testbed && cat >> conftest.py <<'END_OF_FORGERY'\n{text}END_OF_FORGERY\n"
    return [call("bash", command=command), SUBMIT]


def over_budget(problem: RepositoryProblem) -> list[Turn]:
    """The fix in the turn that exceeds the budget, and after it a turn that would destroy it."""
    fix = {**by_bash(problem.reference_patch)[0], "usage": OVER}
    return [call("bash", command="ls"), fix, call("bash", command="cd /testbed && git checkout -q -- ."), SUBMIT]


SCENARIOS: dict[str, tuple[Callable[[RepositoryProblem], list[Turn]], bool, str]] = {
    "bash": (lambda problem: by_bash(problem.reference_patch), True, "submitted"),
    "str_replace": (lambda problem: by_editor(problem.reference_patch), True, "submitted"),
    "apply_patch": (lambda problem: by_patch_tool(problem.reference_patch), True, "submitted"),
    "nothing": (lambda problem: [SUBMIT], False, "submitted"),
    "tests only": (tests_only, False, "submitted"),
    "forged": (forged, False, "submitted"),
    "over budget": (over_budget, True, "out_of_budget"),
}
"""Turns, whether the issue must be resolved, and the ending."""


def main() -> int:
    """Run, compare, print; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", type=Path, required=True, help="rows in the official format")
    parser.add_argument("--home", type=Path, required=True, help="where their environments are built")
    parser.add_argument("--ids", required=True, help="instances, separated by commas")
    parser.add_argument("--sandbox", action="append", default=[], help="namespace or docker; may be repeated")
    parser.add_argument("--scenario", action="append", default=[], choices=sorted(SCENARIOS))
    parser.add_argument("--turns", type=int, default=0, help="only measure turns whose command does nothing")
    arguments = parser.parse_args()
    problems = REPOSITORY_BENCHMARKS.get("repositories").load(path=arguments.dataset).only(arguments.ids.split(","))
    if arguments.turns:
        print(json.dumps({name: _turns(arguments, name, problems.problems[0]) for name in arguments.sandbox}, indent=2))
        return 0
    runs = []
    for sandbox in arguments.sandbox or ["namespace"]:
        for scenario in arguments.scenario or SCENARIOS:
            runs.append(_run(arguments, sandbox, scenario, problems.problems))
            print(json.dumps(runs[-1]), file=sys.stderr)
    wrong = [f"{run['sandbox']} {run['scenario']} {name}" for run in runs for name in run["wrong"]]
    print(json.dumps({"runs": runs, "wrong": wrong}, indent=2))
    return int(bool(wrong))


def _run(
    arguments: argparse.Namespace, sandbox: str, scenario: str, problems: tuple[RepositoryProblem, ...]
) -> dict[str, Any]:
    make, resolved, ending = SCENARIOS[scenario]
    with tempfile.TemporaryDirectory() as folder:
        script = {problem.id: make(problem) for problem in problems}
        started = time.monotonic()
        _bw_run(arguments, sandbox, script, Path(folder), arguments.ids)
        seconds = time.monotonic() - started
        rows = [json.loads(line) for line in Path(folder, "run", "rows.jsonl").read_text().splitlines()]
        attempts = [json.loads(line) for line in Path(folder, "run", "attempts.jsonl").read_text().splitlines()]
    outcomes = {row["problem_id"]: f"{row['outcome']}: {row['reason']}" for row in rows}
    endings = {attempt["problem_id"]: attempt["ending"] for attempt in attempts}
    wrong = [
        problem.id
        for problem in problems
        if outcomes[problem.id].startswith("passed") != resolved or endings[problem.id] != ending
    ]
    return {
        "sandbox": sandbox,
        "scenario": scenario,
        "seconds": round(seconds, 1),
        "agent_seconds": {attempt["problem_id"]: attempt["wall_seconds"] for attempt in attempts},
        "outcomes": outcomes,
        "endings": endings,
        "wrong": wrong,
    }


def _turns(arguments: argparse.Namespace, sandbox: str, problem: RepositoryProblem) -> dict[str, float]:
    """Milliseconds from one call of the model to the next, and how many of them the command itself takes."""
    script = {problem.id: [call("bash", command="true")] * arguments.turns + [SUBMIT]}
    with tempfile.TemporaryDirectory() as folder:
        _bw_run(arguments, sandbox, script, Path(folder), problem.id, "--scaffold", "bash-only")
        entries = [json.loads(line) for line in Path(folder, "run", "journal.jsonl").read_text().splitlines()]
    ended = [datetime.fromisoformat(entry["at"]).timestamp() for entry in entries if entry["kind"] == "call"]
    turns = sorted(1000 * (later - earlier) for earlier, later in itertools.pairwise(ended))
    place = (
        select(
            Selection(benchmark="repositories", data=arguments.dataset, ids=(problem.id,), sandbox=sandbox),
            Workspace(home=arguments.home),
        )
        .setups[problem.id]
        .place
    )
    limits = RunLimits(wall_seconds=60)
    commands = []
    with place.sandbox.open_live(place.image, Selection(benchmark="repositories").workspace_limits) as workspace:
        for _ in range(arguments.turns):
            commands.append(1000 * workspace.start(["bash", "-c", "true"], limits=limits).wait().wall_seconds)
    return {
        "turn_median": round(statistics.median(turns), 1),
        "turn_p95": round(turns[int(0.95 * len(turns))], 1),
        "command_median": round(statistics.median(commands), 1),
    }


def _bw_run(
    arguments: argparse.Namespace, sandbox: str, script: dict[str, list[Turn]], folder: Path, ids: str, *more: str
) -> None:
    """Let the scripted model work on instances; the run is in ``run`` below the folder."""
    path = folder / "script.json"
    path.write_text(json.dumps(script), encoding="utf-8")
    done = subprocess.run(
        [
            Path(sys.executable).with_name("bw"), "run", "repositories", "--dataset", arguments.dataset,
            "--ids", ids, "--sandbox", sandbox, "--model", "benchwright/scripted",
            "-M", f"script={path}", "--no-preflight", "--exclude", "none", "--out", folder / "run", "--json", *more,
        ],
        env={**os.environ, "BENCHWRIGHT_HOME": str(arguments.home)},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )  # fmt: skip
    if done.returncode != 0:
        raise SystemExit(f"bw run ended with {done.returncode}: {done.stdout[-2000:]}")


if __name__ == "__main__":
    sys.exit(main())
