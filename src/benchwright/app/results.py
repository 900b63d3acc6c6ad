"""Look at gradings again: regrade from stored records, and explain what changed between two of them."""

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from benchwright.app.entry_folders import opened_grading
from benchwright.app.evidence import controls_of, evidence_of, from_others, unpack_into
from benchwright.app.repositories.results import (
    REPOSITORIES,
    explain_patches,
    graded_problems,
    regrade_patches,
    summary_of_regraded,
)
from benchwright.app.samples import answers_in, same_answers
from benchwright.app.summary import summarise
from benchwright.app.workspace import Workspace
from benchwright.benchmarks.bigcodebench.official import RATES_ENDING, VERDICTS_ENDING
from benchwright.core.errors import UsageError
from benchwright.core.execution import ExecutionRecord
from benchwright.core.runs import ResultRow, Score
from benchwright.judging.function import JUDGE_VERSION, judge, missing_names
from benchwright.judging.repository import REPOSITORY_JUDGE_VERSION
from benchwright.store.bundle_reading import is_bundle
from benchwright.store.folder import LOGS, ROWS, ResultsFolder
from benchwright.store.records import RecordStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One attempt on which two gradings differ."""

    problem_id: str
    sample: int
    score: str
    before: str
    """``outcome (reason)``, or empty when the row is not there."""
    after: str
    explanation: str

    def to_plain(self) -> dict[str, Any]:
        """The change as plain data."""
        return dataclasses.asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class RegradeReport:
    """What judging again came to."""

    folder: Path
    rows: int
    judged: int
    """Rows whose record was there and was judged again."""
    without_record: int
    """Rows whose record is not in this store; their verdict is kept."""
    judge_version: int
    changes: tuple[Change, ...]

    def to_plain(self) -> dict[str, Any]:
        """The report as the object of ``bw regrade --json``."""
        return {
            "results": str(self.folder / ROWS),
            "rows": self.rows,
            "judged": self.judged,
            "without_record": self.without_record,
            "judge_version": self.judge_version,
            "changed": [change.to_plain() for change in self.changes],
        }


def regrade(path: Path, workspace: Workspace, *, out: Path | None = None) -> RegradeReport:
    """Judge every stored record of a grading again; nothing is executed.

    When a verdict changes, the earlier rows are kept beside the new ones.

    Args:
        path: A results folder; or a result bundle, which is judged by the records that it brings.
        workspace: Where records are otherwise.
        out: New folder for the result; of a bundle only.

    Raises `UsageError` when the folder holds no finished grading.
    """
    if is_bundle(path):
        with from_others(path):
            return regrade(unpack_into(path, out), workspace)
    if out is not None:
        raise UsageError(f"A results folder is regraded in place; leave --out out, or give a bundle instead of {path}.")
    folder = ResultsFolder(path)
    if folder.finished_manifest().get("kind") == REPOSITORIES:  # before a lock file is made in a foreign folder
        return _regrade_patches(folder, workspace)
    return _regrade_functions(folder, workspace)


def _regrade_functions(folder: ResultsFolder, workspace: Workspace) -> RegradeReport:
    with folder.locked(), evidence_of(folder, folder.finished_manifest(), workspace) as store:
        manifest = folder.finished_manifest()
        plans = folder.plans()
        unavailable = frozenset(manifest.get("unavailable_modules", ()))
        before = list(folder.rows())
        after, judged, without = [], 0, 0
        for row in before:
            record = store.get(row.job_digest) if row.job_digest else None
            if row.job_digest and record is None:
                without += 1
            if record is None:
                after.append(row)
                continue
            judged += 1
            verdict = judge(plans[row.problem_id], record, unavailable)
            after.append(dataclasses.replace(row, verdict=verdict, missing_names=missing_names(record)))
        changes = tuple(_changes(_keyed(before), _keyed(after), "the judge decides otherwise"))
        if [row.verdict for row in before] != [row.verdict for row in after]:
            _replace_rows(folder, after, (f"*{VERDICTS_ENDING}", f"*{RATES_ENDING}"))
            folder.write_manifest({**manifest, **_summary_of_regraded_functions(folder, manifest, after, store)})
    return RegradeReport(
        folder=folder.path,
        rows=len(before),
        judged=judged,
        without_record=without,
        judge_version=JUDGE_VERSION,
        changes=changes,
    )


def _summary_of_regraded_functions(
    folder: ResultsFolder, manifest: Mapping[str, Any], rows: Sequence[ResultRow], store: RecordStore
) -> dict[str, Any]:
    """The part of a manifest that follows from rows, made anew."""
    scores = [Score(name) for name in manifest["scores"]]
    summary = summarise(rows, scores, controls_of(manifest, store), given_names=folder.given_names())
    return {**summary.to_plain(), "judge_version": JUDGE_VERSION}


def _regrade_patches(folder: ResultsFolder, workspace: Workspace) -> RegradeReport:
    with folder.locked(), evidence_of(folder, folder.finished_manifest(), workspace) as store:
        manifest = folder.finished_manifest()
        problems, before = graded_problems(folder, manifest), list(folder.rows())
        after, without = regrade_patches(before, problems, manifest, store)
        if [row.verdict for row in before] != [row.verdict for row in after]:
            _replace_rows(folder, after, (f"*.{manifest['run_id']}.json", LOGS))
            folder.write_manifest({**manifest, **summary_of_regraded(after, problems, manifest, store)})
    return RegradeReport(
        folder=folder.path,
        rows=len(before),
        judged=sum(row.job_digest is not None for row in before) - without,
        without_record=without,
        judge_version=REPOSITORY_JUDGE_VERSION,
        changes=tuple(_changes(_keyed(before), _keyed(after), "the judge decides otherwise")),
    )


def _replace_rows(folder: ResultsFolder, rows: Iterable[ResultRow], official: Iterable[str]) -> None:
    """Write other rows; the earlier ones, and official files that were written from them, are kept beside."""
    folder.keep_aside(ROWS)
    for pattern in official:
        for file in folder.path.glob(pattern):
            folder.keep_aside(file.name)
    folder.write_rows(rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffReport:
    """How two gradings differ."""

    settings: tuple[tuple[str, Any, Any], ...]
    """Name, value in A, value in B of every setting that differs."""
    compared: int
    changes: tuple[Change, ...]
    only_a: int
    only_b: int

    def to_plain(self) -> dict[str, Any]:
        """The report as the object of ``bw diff --json``."""
        return {
            "settings": [list(setting) for setting in self.settings],
            "compared": self.compared,
            "changed": [change.to_plain() for change in self.changes],
            "only_a": self.only_a,
            "only_b": self.only_b,
        }


ANSWERS = "samples_digest"
"""What a manifest calls the digest of the file with the answers."""
_SETTINGS = (
    "benchmark", "version", "data_digest", "subset", "variant", ANSWERS, "model", "model_args", "mode",
    "prefill", "template_digest",
    "samples", "generation", "answers", "environment",
    "environment_digest", "isolation", "rules", "sandbox", "limits", "guest_version", "harness_version",
    "judge_version", "benchwright_version",
)  # fmt: skip


def differing_settings(
    manifest_a: Mapping[str, Any], manifest_b: Mapping[str, Any], *, answers_alike: bool = False
) -> tuple[tuple[str, Any, Any], ...]:
    """Name and both values of every setting in which two gradings differ.

    Args:
        manifest_a: Of one grading.
        manifest_b: Of the other one.
        answers_alike: Whether they have the same answers: then files of them that differ, as a sample file and what a
            grading keeps of it, are no setting.
    """
    return tuple(
        (name, manifest_a.get(name), manifest_b.get(name))
        for name in _SETTINGS
        if manifest_a.get(name) != manifest_b.get(name) and not (answers_alike and name == ANSWERS)
    )


def diff(a: Path | str, b: Path | str, workspace: Workspace, store: Path | None = None) -> DiffReport:
    """Every verdict that differs between two gradings, each with what changed under it.

    Args:
        a: A results folder or an entry of the store, whose records are the workspace's; or a result bundle, which
            brings its own.
        b: The other one.
        workspace: Where records and names are looked up.
        store: The store that names are looked up in, if another is meant.

    Raises `UsageError` for what is no finished grading, and for imports, which have no evidence.
    """
    with (
        from_others(Path(a), Path(b)),
        opened_grading(str(a), workspace, store) as folder_a,
        opened_grading(str(b), workspace, store) as folder_b,
    ):
        manifest_a, manifest_b = folder_a.finished_manifest(), folder_b.finished_manifest()
        with (
            evidence_of(folder_a, manifest_a, workspace) as store_a,
            evidence_of(folder_b, manifest_b, workspace) as store_b,
        ):
            return _diff(_Side(folder_a, manifest_a, store_a), _Side(folder_b, manifest_b, store_b))


class _Side(NamedTuple):
    """One of two gradings, with its evidence."""

    folder: ResultsFolder
    manifest: Mapping[str, Any]
    store: RecordStore


def _diff(a: _Side, b: _Side) -> DiffReport:
    answers_a, answers_b = answers_in(a.folder.content), answers_in(b.folder.content)
    settings = differing_settings(a.manifest, b.manifest, answers_alike=same_answers(answers_a, answers_b))
    rows_a, rows_b = _keyed(a.folder.rows()), _keyed(b.folder.rows())
    common = rows_a.keys() & rows_b.keys()
    patches = a.manifest.get("kind") == b.manifest.get("kind") == REPOSITORIES
    changes = []
    for key, change in _changes_by_key(rows_a, rows_b):
        pair = rows_a[key], rows_b[key]
        answers = [answers.get(key[:2]) for answers in (answers_a, answers_b)]
        # The same answers may have come in different files.
        same = None not in answers and answers[0] == answers[1]
        why = [setting for setting in settings if not same or setting[0] != ANSWERS]
        if patches:
            text = explain_patches(*pair, a.store.get_repository, b.store.get_repository, why)
        else:
            text = _explain(*pair, a.store.get, b.store.get, why, same_answer=same)
        changes.append(dataclasses.replace(change, explanation=text))
    return DiffReport(
        settings=settings,
        compared=len(common),
        changes=tuple(changes),
        only_a=len(rows_a.keys() - common),
        only_b=len(rows_b.keys() - common),
    )


_Key = tuple[str, int, str]


def _keyed(rows: Iterable[ResultRow]) -> dict[_Key, ResultRow]:
    return {(row.problem_id, row.sample, row.score.value): row for row in rows}


def _changes(before: Mapping[_Key, ResultRow], after: Mapping[_Key, ResultRow], explanation: str) -> list[Change]:
    return [dataclasses.replace(change, explanation=explanation) for _, change in _changes_by_key(before, after)]


def _changes_by_key(before: Mapping[_Key, ResultRow], after: Mapping[_Key, ResultRow]) -> list[tuple[_Key, Change]]:
    found = []
    for key, row in before.items():
        other = after.get(key)
        if other is None:
            continue
        if (row.verdict.outcome, row.verdict.reason) != (other.verdict.outcome, other.verdict.reason):
            change = Change(
                problem_id=row.problem_id,
                sample=row.sample,
                score=row.score.value,
                before=f"{row.verdict.outcome.value} ({row.verdict.reason.value})",
                after=f"{other.verdict.outcome.value} ({other.verdict.reason.value})",
                explanation="",
            )
            found.append((key, change))
    return found


def _explain(
    row_a: ResultRow,
    row_b: ResultRow,
    get_a: Callable[[str], ExecutionRecord | None],
    get_b: Callable[[str], ExecutionRecord | None],
    settings: Sequence[tuple[str, Any, Any]],
    *,
    same_answer: bool,
) -> str:
    if row_a.job_digest is None or row_b.job_digest is None:
        return f"A: {row_a.verdict.detail}; B: {row_b.verdict.detail}"
    if row_a.job_digest == row_b.job_digest:
        if row_a.verdict.record_digest == row_b.verdict.record_digest:
            return "same record, another judge version"
        return f"same job, executed twice with different results: A {row_a.verdict.detail}; B {row_b.verdict.detail}"
    record_a, record_b = get_a(row_a.job_digest), get_b(row_b.job_digest)
    names = {name for name, _, _ in settings}
    causes = ["the answer is the same"] if same_answer else []
    if ANSWERS in names:
        causes.append("the answers may differ")
    if names & {"data_digest", "version"}:
        causes.append("the data differs")
    if "environment_digest" in names:
        causes.append("the environment differs")
    if "isolation" in names:
        causes.append("the isolation level differs")
    if "guest_version" in names:
        causes.append("the guest differs")
    if "limits" in names or not set(causes) - {"the answer is the same"}:
        causes.append("the limits differ")
    if record_a and record_b and record_a.exit_cause is not record_b.exit_cause:
        causes.append(f"exit {record_a.exit_cause.value} became {record_b.exit_cause.value}")
    return f"{', '.join(causes)}; A: {row_a.verdict.detail}; B: {row_b.verdict.detail}"
