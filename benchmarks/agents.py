"""Agents measured: the reference change through each tool, and what must not count, on built instances.

``bw run`` is called with the scripted model, which plays: the reference by a here-document, by the editor and by
apply_patch; nothing; only tests; a forged result; the reference with the budget exceeded in the middle, after which
nothing more may be done.  Printed is one JSON object: verdicts by scenario and sandbox, and those that are wrong.  The
exit status is 1 when one is.

    python benchmarks/agents.py --dataset ROWS --home HOME --ids a,b --sandbox namespace --sandbox docker
"""
# needs: built instances (see benchmarks/README.md)

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchwright.benchmarks.repositories import REPOSITORY_BENCHMARKS
from benchwright.core.repositories import RepositoryProblem
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
    arguments = parser.parse_args()
    problems = REPOSITORY_BENCHMARKS.get("repositories").load(path=arguments.dataset).only(arguments.ids.split(","))
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
        script = Path(folder, "script.json")
        script.write_text(json.dumps({problem.id: make(problem) for problem in problems}), encoding="utf-8")
        started = time.monotonic()
        done = subprocess.run(
            [
                Path(sys.executable).with_name("bw"), "run", "repositories", "--dataset", arguments.dataset,
                "--ids", arguments.ids, "--sandbox", sandbox, "--model", "benchwright/scripted",
                "-M", f"script={script}", "--no-preflight", "--exclude", "none", "--out", Path(folder, "run"), "--json",
            ],
            env={**os.environ, "BENCHWRIGHT_HOME": str(arguments.home)},
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )  # fmt: skip
        if done.returncode != 0:
            raise SystemExit(f"bw run ended with {done.returncode}: {done.stdout[-2000:]}")
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


if __name__ == "__main__":
    sys.exit(main())
