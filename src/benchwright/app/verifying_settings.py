"""Whether variant, environment, limits and control runs of graded functions are what they can be."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from benchwright.app.evidence import controls_of
from benchwright.app.job_facts import JobFacts
from benchwright.app.summary import estimates_to_plain, summarise
from benchwright.app.verification import Check, Finding, Unpacked, compared_numbers, short
from benchwright.benchmarks.registry import BENCHMARKS
from benchwright.core.controls import ControlRun
from benchwright.core.errors import UnknownNameError
from benchwright.core.execution import Limits
from benchwright.core.runs import Score
from benchwright.environments.spec import load_spec
from benchwright.grading.limits import FLOOR_SECONDS, limits_for

_OFFICIAL = "official"
_CONTROL = re.compile(r"control, at least ([0-9][0-9.e+-]{0,19}) s")
"""What manifests say of limits."""


class _Limits(NamedTuple):
    """What a manifest says of limits, as `limits_for` takes it."""

    official: bool
    floor_seconds: float = FLOOR_SECONDS

    def of(self, control: ControlRun | None) -> Limits:
        """Limits of the jobs of a problem with this control run."""
        return limits_for(control, official=self.official, floor_seconds=self.floor_seconds)


def check_variant(manifest: Mapping[str, Any]) -> Iterator[Finding]:
    """The variant is one of the benchmark's, where that is known."""
    try:
        known = BENCHMARKS.get(str(manifest["benchmark"])).variants
    except UnknownNameError:
        return
    if manifest["variant"] not in known:
        yield _wrong(f"{manifest['benchmark']} has no variant {short(manifest['variant'])}.")


def check_environment(given: Unpacked) -> Iterator[Finding]:
    """The environment is one that is known, and lacks no other modules than it does."""
    manifest = given.manifest
    name, lacking = str(manifest["environment"]), set(map(str, manifest.get("unavailable_modules", ())))
    try:
        known = set(load_spec(name).unavailable_modules)
    except UnknownNameError:
        yield _wrong(f"There is no environment {short(name)}.")
        return
    for foreign in ("sandbox", "rules"):
        if foreign in manifest:
            yield _wrong(f"The manifest names {foreign}, which only gradings of patches have.")
    for module in sorted(lacking - known):
        yield _wrong(f"The manifest says that the environment {name} has no {short(module)}, which it does not lack.")


def check_limits(given: Unpacked) -> Iterator[Finding]:
    """Limits are those that the manifest speaks of: the official ones, or those that follow from control runs."""
    said = _said(given.manifest)
    if said is None:
        yield _wrong(f"The limits {short(given.manifest['limits'])} are none that benchwright sets.")
        return
    controls = controls_of(given.manifest, given.store)
    for problem_id, one in given.jobs.items():
        control = controls.get(problem_id)
        if one.limits == said.of(control):
            continue
        if said.official:
            yield _wrong(f"{short(problem_id)} was not run with the official limits, as the manifest says.")
        elif control is not None:
            yield _wrong(f"The limits of {short(problem_id)} are not those that follow from its control run.")
    underived = _underived(given, controls)
    if underived:
        given.tally.open.append(
            f"that the limits of {len(underived)} problems follow from control runs: they are not in the bundle"
        )


def _underived(given: Unpacked, controls: Mapping[str, ControlRun]) -> set[str]:
    """Problems that have other limits than without a control run, and whose control run is not in the bundle."""
    said = _said(given.manifest)
    if said is None or said.official:
        return set()
    bare = said.of(None)
    return {problem for problem, one in given.jobs.items() if problem not in controls and one.limits != bare}


def gives_limits(control: ControlRun, job: JobFacts, manifest: Mapping[str, Any]) -> bool:
    """Whether the limits of a problem's jobs follow from a control run; official limits follow from nothing."""
    said = _said(manifest)
    return said is None or job.limits == said.of(control)


def _said(manifest: Mapping[str, Any]) -> _Limits | None:
    """The limits that a manifest speaks of; None for what no grading says."""
    label = str(manifest["limits"])
    if label == _OFFICIAL:
        return _Limits(official=True)
    found = _CONTROL.fullmatch(label)
    return _Limits(official=False, floor_seconds=float(found[1])) if found else None


def _is_official(manifest: Mapping[str, Any]) -> bool:
    said = _said(manifest)
    return said is not None and said.official


def check_controlled(given: Unpacked, scores: list[Score]) -> Iterator[Finding]:
    """What is said of control runs, and without problems whose reference fails, follows from those in the bundle."""
    manifest, controls = given.manifest, controls_of(given.manifest, given.store)
    summary = summarise(given.rows, scores, controls)
    said = set(map(str, manifest["failed_references"]))
    absent = said & given.manifest["problem_digests"].keys() - controls.keys()
    # Where limits or failures speak of a control run, there was one: it is open, and not wrong, that it is not here.
    lost = (absent | _underived(given, controls)) & {row.problem_id for row in given.rows}
    uncontrolled = summary.uncontrolled - len(lost)
    if _is_official(manifest) and uncontrolled != manifest["uncontrolled_problems"]:
        given.tally.open.append(
            f"which control runs the grading knew: {manifest['uncontrolled_problems']} problems had none, here "
            f"{uncontrolled} have none, and official limits follow from nothing"
        )
        return
    plain = {
        "failed_references": list(summary.failed_references),
        "estimates_controlled": estimates_to_plain(summary.estimates_controlled),
        "uncontrolled_problems": uncontrolled,
    }
    if absent:
        given.tally.open.append(
            f"that the references of {len(absent)} problems fail: their control runs are not in the bundle"
        )
        plain = {"uncontrolled_problems": plain["uncontrolled_problems"]}
    yield from compared_numbers(manifest, plain)


def _wrong(text: str) -> Finding:
    return Finding(check=Check.SETTINGS, text=text)
