"""Sets of problems that somebody would leave out of a score, by name: what a report's sensitivity is over."""

from collections.abc import Callable, Collection, Mapping, Sequence

from benchwright.app.repositories.exclusions import chosen_lists
from benchwright.app.workspace import Workspace
from benchwright.benchmarks.repositories import REPOSITORY_BENCHMARKS
from benchwright.benchmarks.swebench.exclusions import Kind
from benchwright.core.controls import ControlRun, place_of
from benchwright.core.execution import Isolation
from benchwright.core.results import StoredRun

FAILED_REFERENCES = "references that fail"
_OF_CONTROLS: Mapping[str, Callable[[ControlRun], bool]] = {
    FAILED_REFERENCES: lambda control: not control.reference_passes,
    "problems that need a network": lambda control: control.needs_network,
    "flaky problems": lambda control: control.flaky,
    "tests that an empty answer passes": lambda control: control.stub_passes,
}
"""What control runs say of a problem of functions, on the machine that made them."""


def exclusion_sets(
    runs: Sequence[StoredRun], problems: Collection[str], workspace: Workspace
) -> dict[str, frozenset[str]]:
    """Every list that names any of these problems.

    Of repository problems: the lists that come with the package, the user's own, what the gradings left out, and what
    is outside of a view they reported on.  Of functions: what control runs on this machine and the gradings' own
    manifests say.
    """
    named: dict[str, set[str]] = {}
    if runs[0].benchmark in REPOSITORY_BENCHMARKS.names():
        for chosen in chosen_lists(None, runs[0].benchmark, workspace):
            named[chosen.name] = {entry.id for entry in chosen.entries if entry.kind is Kind.EXCLUDE}
    for name, control_says in _OF_CONTROLS.items():
        named[name] = {control.problem_id for control in _controls(runs, workspace) if control_says(control)}
    for run in runs:
        _of_manifest(run.manifest, problems, named)
    within = {name: frozenset(ids) & frozenset(problems) for name, ids in named.items()}
    return {name: ids for name, ids in within.items() if ids}


def _of_manifest(manifest: Mapping[str, object], problems: Collection[str], named: dict[str, set[str]]) -> None:
    """Add what a grading itself says, under names that say so."""
    failed, excluded, views = (manifest.get(name) for name in ("failed_references", "excluded", "view_ids"))
    if isinstance(failed, list):
        named.setdefault(FAILED_REFERENCES, set()).update(failed)
    if isinstance(excluded, dict):
        named.setdefault("left out by the grading", set()).update(excluded)
    if isinstance(views, dict):
        for name, ids in views.items():
            named.setdefault(f"not in {name}", set()).update(set(problems) - set(ids))


def _controls(runs: Sequence[StoredRun], workspace: Workspace) -> list[ControlRun]:
    """Control runs of the environments that the gradings ran in, as far as this machine has them."""
    places = {
        (place_of(manifest["environment_digest"], Isolation(manifest["isolation"])), manifest["guest_version"])
        for manifest in (run.manifest for run in runs)
        if {"environment_digest", "isolation", "guest_version"} <= manifest.keys()
    }
    if not places or not workspace.home.is_dir():
        return []
    with workspace.records() as records:
        return [control for place in sorted(places) for control in records.controls(*place).values()]
