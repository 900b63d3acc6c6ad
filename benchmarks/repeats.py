"""Fidelity of repeats: grade one file several times, each in a fresh home, and compare every outcome.

Stored control runs are taken over, so that limits are the same; no record is.  A sample whose outcome differs is
listed; the exit status is 1 when one of them belongs to a task that the control runs do not list as flaky.
"""

import argparse
import json
import os
import sys
from pathlib import Path

from measuring import fresh_home

from benchwright.app.grading import GradeOptions, grade
from benchwright.app.workspace import Workspace, default_workers
from benchwright.core.controls import place_of
from benchwright.core.execution import Isolation
from benchwright.environments.home import default_home
from benchwright.execution.guest import guest_version


def main() -> int:
    """Grade, compare, print; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=Path, required=True)
    parser.add_argument("--dataset", type=Path, required=True)
    parser.add_argument("--subset", default="hard")
    parser.add_argument("--times", type=int, default=3)
    arguments = parser.parse_args()
    outcomes: dict[tuple[str, int, str], list[str]] = {}
    flaky: set[str] = set()
    for number in range(arguments.times):
        with fresh_home(default_home(os.environ)) as home:
            workspace = Workspace(home=home)
            options = GradeOptions(
                benchmark="bigcodebench",
                samples=arguments.samples,
                workers=default_workers(),
                subset=arguments.subset,
                data=arguments.dataset,
                out=home / "out",
                official_files=False,
            )
            report = grade(options, workspace, lambda progress: None)
            for row in report.rows:
                key = (row.problem_id, row.sample, row.score.value)
                outcomes.setdefault(key, []).append(row.verdict.outcome.value)
            place = place_of(report.manifest["environment_digest"], Isolation.NAMESPACE)
            with workspace.records() as store:
                controls = store.controls(place, guest_version())
            flaky |= {control.problem_id for control in controls.values() if control.flaky}
        print(f"grading {number + 1}: {report.wall_seconds:.1f} s", file=sys.stderr)
    differing = {key: found for key, found in outcomes.items() if len(set(found)) > 1}
    for (problem, sample, score), found in sorted(differing.items()):
        print(f"{problem}#{sample} {score}: {', '.join(found)}{' (flaky by control run)' if problem in flaky else ''}")
    print(json.dumps({"rows": len(outcomes), "times": arguments.times, "differing": len(differing)}))
    return int(any(problem not in flaky for problem, _, _ in differing))


if __name__ == "__main__":
    sys.exit(main())
