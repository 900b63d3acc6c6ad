"""Repository problems measured: repeats in every sandbox, overhead per grading, agreement with the official judge.

Each instance is run with its reference and without a patch, several times in each sandbox.  Printed are, as one JSON
object: instances whose verdicts differ anywhere, the overhead of a grading apart from its commands (its wall time less
that of install and tests) by sandbox and their ratio, and, given an interpreter that has swebench 4.1.0, on how many of
the same logs its parser and grading come to another verdict.  The exit status is 1 when a verdict differs.

    python benchmarks/repositories.py --dataset ROWS --home HOME --sandbox namespace --sandbox docker \\
        --official-python VENV/bin/python
"""

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchwright.app.repositories.selection import Selection
from benchwright.app.repositories.setups import Selected, select
from benchwright.app.workspace import Workspace
from benchwright.core.repositories import RepositoryProblem, RepositoryRecord, Rules
from benchwright.core.verdicts import Outcome
from benchwright.grading.repositories import RepositoryPipeline

OFFICIAL = """
import json, sys, types
from swebench.harness.grading import get_eval_tests_report, get_resolution_status
from swebench.harness.log_parsers import MAP_REPO_TO_PARSER
answers = []
for case in json.load(sys.stdin):
    try:
        statuses = MAP_REPO_TO_PARSER[case["repo"]](case["log"], types.SimpleNamespace(repo=case["repo"]))
        gold = {"FAIL_TO_PASS": case["fail_to_pass"], "PASS_TO_PASS": case["pass_to_pass"]}
        answers.append(get_resolution_status(get_eval_tests_report(statuses, gold)) == "RESOLVED_FULL")
    except Exception as error:
        answers.append(repr(error))
json.dump(answers, sys.stdout)
"""


def main() -> int:
    """Run, compare, print; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", type=Path, required=True, help="rows in the official format")
    parser.add_argument("--home", type=Path, required=True, help="where their environments are built")
    parser.add_argument("--ids", default="", help="only these, separated by commas")
    parser.add_argument("--sandbox", action="append", default=[], help="namespace or docker; may be repeated")
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--official-python", type=Path, help="interpreter with swebench==4.1.0")
    arguments = parser.parse_args()
    runs: list[dict[str, Any]] = []
    for sandbox in arguments.sandbox or ["namespace"]:
        runs += _runs(arguments, sandbox)
    differing = sorted(name for name, found in _verdicts(runs).items() if len(found) > 1)
    wrong = sorted({run["id"] for run in runs if run["resolved"] != run["reference"]})
    report = {
        "instances": len({run["id"] for run in runs}),
        "runs": len(runs),
        "times": arguments.times,
        "differing": differing,
        "reference_unresolved_or_empty_resolved": wrong,
        "overhead_ms": _overheads(runs),
    }
    if arguments.official_python:
        report["official"] = _official(runs, arguments.official_python)
    print(json.dumps(report, indent=2))
    return int(bool(differing or wrong))


def _runs(arguments: argparse.Namespace, sandbox: str) -> list[dict[str, Any]]:
    ids = tuple(part for part in arguments.ids.split(",") if part)
    selection = Selection(benchmark="repositories", data=arguments.dataset, ids=ids, sandbox=sandbox)
    selected = select(selection, Workspace(home=arguments.home))
    runs = []
    for problem in selected.available:
        for repeat in range(arguments.times):
            for patch in (problem.reference_patch, ""):
                runs.append(_run(problem, patch, repeat, selected, sandbox))
        print(f"{sandbox} {problem.id}: {[run['resolved'] for run in runs[-2 * arguments.times :]]}", file=sys.stderr)
    return runs


def _run(problem: RepositoryProblem, patch: str, repeat: int, selected: Selected, sandbox: str) -> dict[str, Any]:
    # A pipeline of its own for every run: nothing is known of the instance, as when a file of predictions is graded.
    pipeline = RepositoryPipeline(selected.setups, rules=Rules.BENCHWRIGHT, limits=Selection(benchmark="").limits)
    record = pipeline.run(pipeline.job(problem, patch, repeat=repeat))
    verdict = pipeline.control_verdict(problem, record)
    return {
        "id": problem.id,
        "problem": problem,
        "reference": bool(patch),
        "sandbox": sandbox,
        "resolved": verdict.outcome is Outcome.PASSED,
        "verdict": f"{verdict.outcome.value} {verdict.reason.value} {verdict.passed}",
        "overhead": 1000 * _overhead(record),
        "log": "".join(step.output for step in record.steps if step.name == "tests"),
    }


def _overhead(record: RepositoryRecord) -> float:
    return record.wall_seconds - sum(step.wall_seconds for step in record.steps)


def _verdicts(runs: list[dict[str, Any]]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for run in runs:
        name = f"{run['id']} {'reference' if run['reference'] else 'empty'}"
        found.setdefault(name, set()).add(run["verdict"])
    return found


def _overheads(runs: list[dict[str, Any]]) -> dict[str, Any]:
    by_sandbox: dict[str, list[float]] = {}
    for run in runs:
        by_sandbox.setdefault(run["sandbox"], []).append(run["overhead"])
    medians = {name: round(statistics.median(values), 1) for name, values in by_sandbox.items()}
    found: dict[str, Any] = {"median": medians}
    if {"namespace", "docker"} <= medians.keys():
        found["docker_over_namespace"] = round(medians["docker"] / medians["namespace"], 2)
    return found


def _official(runs: list[dict[str, Any]], python: Path) -> dict[str, Any]:
    cases = [
        {
            "repo": run["problem"].repo,
            "log": run["log"],
            "fail_to_pass": list(run["problem"].fail_to_pass),
            "pass_to_pass": list(run["problem"].pass_to_pass),
        }
        for run in runs
    ]
    done = subprocess.run([python, "-c", OFFICIAL], input=json.dumps(cases), capture_output=True, text=True, check=True)
    answers = json.loads(done.stdout)
    other = [
        f"{run['id']} {'reference' if run['reference'] else 'empty'}: official {answer}"
        for run, answer in zip(runs, answers, strict=True)
        if answer != run["resolved"]
    ]
    return {"logs": len(runs), "other_verdict": sorted(set(other))}


if __name__ == "__main__":
    sys.exit(main())
