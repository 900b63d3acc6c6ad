"""What a reader of a row must know: flags, each with a sentence."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchwright.core.benchmark_facts import BenchmarkFacts
from benchwright.core.results import ModelFacts, Origin, ProblemFacts, StoredRun
from benchwright.leaderboard.policy import NEVER_RANKED, NO_VERSION
from benchwright.leaderboard.tables import Flag
from benchwright.leaderboard.windows import window

IMPORT, FAULTS, MISSING, INTEGRITY = "import", "faults", "missing", "integrity"
VERSION_UNSTATED = "version_unstated"
CONTAMINATION, CONTAMINATION_POSSIBLE, CUTOFF_UNKNOWN = "contamination", "contamination_possible", "cutoff_unknown"

_KNOWN = {
    **{name: f"{why[0].upper()}{why[1:]}." for name, why in NEVER_RANKED.items()},
    "tampered": "Some answers interfered with the tests or the evidence, which a person should look at.",
    "weak_isolation": "The answers were not kept apart as strongly as by default.",
    "from_folder": "It was taken in from a results folder, and not recorded when it was graded.",
    "taken_in": "This store took it in from elsewhere, and did not record it when it was graded.",
    "bundle": "It came in a result bundle: the answers were executed by whoever made that.",
    "bundle_open": "Its result bundle leaves something open that could change the score; `bw verify` says what.",
    "source_errors": "The source's harness made no report on some instances, which count as not resolved.",
    "source_unfinished": "The source says that its run did not come to a good end.",
    "partial?": "Apparently made for another split alone, so that its score here says less than it could.",
}
"""What flags that runs come with mean."""


def flags_of(
    runs: Sequence[StoredRun],
    *,
    problems: Sequence[str],
    facts: Mapping[str, ProblemFacts],
    benchmark: BenchmarkFacts,
    faults: int,
    missing: int,
) -> tuple[Flag, ...]:
    """All flags of a row.

    Args:
        runs: The runs behind it.
        problems: Ids of the problems of its table; none where a source states numbers only.
        facts: What is known of them, by id; problems that are not in it have the benchmark's date.
        benchmark: What is known of the benchmark.
        faults: Samples left out of the score.
        missing: Problems without an answer.
    """
    found = list(_of_runs(runs))
    if faults:
        found.append(Flag(name=FAULTS, text=f"{faults} samples are faults of the grading and are left out."))
    if missing:
        found.append(Flag(name=MISSING, text=f"{missing} problems have no answer and count as not solved."))
    public = [(facts[one].created if one in facts else "") or benchmark.public for one in problems]
    return (*found, *_contamination(runs[-1].facts, public or [benchmark.public], counted=bool(problems)))


def _of_runs(runs: Sequence[StoredRun]) -> Iterator[Flag]:
    last = runs[-1]
    if last.origin is Origin.IMPORTED:
        title = last.source.title if last.source else "an unknown source"
        yield Flag(name=IMPORT, text=f"Imported from {title}; not graded by benchwright.")
        if last.version in NO_VERSION:
            yield Flag(name=VERSION_UNSTATED, text="The source does not say on which version of the data it is.")
    for name in dict.fromkeys(name for run in runs for name in run.flags if name != INTEGRITY):
        yield Flag(name=name, text=_KNOWN.get(name, f"The run is marked {name}."))
    yield from _integrity([run.manifest for run in runs])


def _integrity(manifests: Sequence[Mapping[str, Any]]) -> Iterator[Flag]:
    """Findings in agents' runs, as their manifests report them."""
    reports = [manifest["agents"]["integrity"] for manifest in manifests if manifest.get("agents")]
    attempts, passes = (sum(report["grave"][name] for report in reports) for name in ("attempts", "passes"))
    if not attempts:
        return
    without = sum(report["grave"]["value"] for report in reports) / len(reports)
    yield Flag(
        name=INTEGRITY,
        text=f"{attempts} samples have grave integrity findings, {passes} of them pass; without these passes the score "
        f"is {100 * without:.1f} %.",
    )


def _contamination(facts: ModelFacts, public: Sequence[str], *, counted: bool) -> Iterator[Flag]:
    found = window(facts, public)
    what = f"{found.before} of {found.n} problems were" if found is not None and counted else "The problems were"
    if found is None:
        if any(public):
            yield Flag(
                name=CUTOFF_UNKNOWN,
                text="It is not known up to when the model's training data reaches; it may have seen any problem.",
            )
    elif not found.clean and found.sure:
        yield Flag(
            name=CONTAMINATION,
            text=f"{what} public before the model's cut-off, {found.until}.",
        )
    elif not found.clean:
        yield Flag(
            name=CONTAMINATION_POSSIBLE,
            text=f"{what} public before the model was released, {found.until}; its cut-off is not known.",
        )


def shared_flags(rows: Sequence[tuple[Flag, ...]]) -> tuple[Flag, ...]:
    """Flags that every row has in the same words: said once below a table instead of in each row."""
    if not rows:
        return ()
    return tuple(flag for flag in rows[0] if all(flag in flags for flags in rows))
