"""Gradings of patches looked at again: judged anew from stored evidence, and explained where two of them differ."""

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchwright.app.job_facts import read_tests
from benchwright.app.repositories.summary import summarise_patches
from benchwright.benchmarks.repositories import REPOSITORY_BENCHMARKS, named_few
from benchwright.core.errors import UsageError
from benchwright.core.repositories import RepositoryProblem, RepositoryRecord, Rules
from benchwright.core.runs import ResultRow
from benchwright.judging.repository import REPOSITORY_JUDGE_VERSION, judge, judge_official
from benchwright.store.folder import ResultsFolder
from benchwright.store.records import RecordStore

REPOSITORIES = "repositories"
"""What the manifest of a grading of patches says it is."""


def explain_patches(
    row_a: ResultRow,
    row_b: ResultRow,
    get_a: Callable[[str], RepositoryRecord | None],
    get_b: Callable[[str], RepositoryRecord | None],
    settings: Sequence[tuple[str, Any, Any]],
) -> str:
    """Why two gradings of the same patch came to different verdicts, in one line."""
    if row_a.job_digest == row_b.job_digest and row_a.job_digest is not None:
        if row_a.verdict.record_digest == row_b.verdict.record_digest:
            return "same record, judged with other control runs or by another judge version"
        return f"same job, executed twice with different results: A {row_a.verdict.detail}; B {row_b.verdict.detail}"
    names = {name for name, _, _ in settings}
    causes = [text for name, text in _CAUSES.items() if name in names]
    for side, row, get in (("A", row_a, get_a), ("B", row_b, get_b)):
        record = get(row.job_digest) if row.job_digest else None
        causes += [f"{side} {text}" for text in _peculiar(record)]
    return f"{', '.join(causes) or 'the patch differs'}; A: {row_a.verdict.detail}; B: {row_b.verdict.detail}"


_CAUSES = {
    "rules": "the rules differ",
    "samples_digest": "the patches may differ",
    "data_digest": "the data differs",
    "environment_digest": "the environments differ",
    "sandbox": "the sandbox differs",
    "limits": "the limits differ",
    "harness_version": "the harness differs",
}


def _peculiar(record: RepositoryRecord | None) -> list[str]:
    """What in a record may be the reason why another came out differently."""
    if record is None:
        return []
    found = []
    if not record.patch_applied:
        found.append("could not apply the patch")
    elif record.patch_message:
        found.append(f"applied the patch {record.patch_message}")
    if record.dropped:
        found.append(f"did not keep the edits of {', '.join(edit.path for edit in record.dropped)}")
    if record.inversion and record.inversion.passed:
        found.append("saw sabotaged tests pass")
    if record.report_errors:
        found.append(f"heard of {record.report_errors[0]}")
    return found


def regrade_patches(
    rows: Iterable[ResultRow],
    problems: Mapping[str, RepositoryProblem],
    manifest: Mapping[str, Any],
    store: RecordStore,
) -> tuple[list[ResultRow], int]:
    """Judge the stored evidence of a grading again.

    Returns the rows as they come out, and how many of them have no record in this store.
    """
    after, without = [], 0
    for row in rows:
        record = store.get_repository(row.job_digest) if row.job_digest else None
        if record is None:
            without += row.job_digest is not None
            after.append(row)
            continue
        after.append(judged_again(row, record, problems[row.problem_id], manifest, store))
    return after, without


def judged_again(
    row: ResultRow,
    record: RepositoryRecord,
    problem: RepositoryProblem,
    manifest: Mapping[str, Any],
    store: RecordStore,
) -> ResultRow:
    """A row as its record and the instance's control runs are judged now, by the rules of its grading."""
    entry = manifest["instances"][row.problem_id]
    if manifest["rules"] == Rules.OFFICIAL:
        return dataclasses.replace(row, verdict=judge_official(problem, record, entry["parser"]))
    controls = store.repository_controls(
        entry["environment"], manifest["sandbox"], manifest["harness_version"], entry["problem_digest"]
    )
    verdict = judge(problem, record, parser=entry["parser"], controls=controls)
    return dataclasses.replace(row, verdict=verdict)


def graded_problems(folder: ResultsFolder, manifest: dict[str, Any]) -> dict[str, RepositoryProblem]:
    """The problems as far as the judge needs them: as the grading wrote them down, or else from the data it read.

    Raises `UsageError` when that data cannot be loaded or is not the same any more.
    """
    written = read_tests(folder.path, manifest["benchmark"])
    if written:
        return {problem_id: facts.problem for problem_id, facts in written.items()}
    benchmark = REPOSITORY_BENCHMARKS.get(manifest["benchmark"])
    path = Path(manifest["data_file"]) if manifest["data_file"] else None
    problems = benchmark.load(version=None if path else manifest["version"], path=path)
    graded = manifest["instances"]
    changed = [p.id for p in problems.problems if p.id in graded and graded[p.id]["problem_digest"] != p.digest]
    absent = [problem for problem in graded if problem not in problems.by_id]
    if changed or absent:
        raise UsageError(
            f"The data is not what was graded: {named_few([*changed, *absent])} differ; give back the file it was."
        )
    return dict(problems.by_id)


def summary_of_regraded(
    rows: Sequence[ResultRow],
    problems: Mapping[str, RepositoryProblem],
    manifest: Mapping[str, Any],
    store: RecordStore,
) -> dict[str, Any]:
    """The part of a manifest that follows from rows, made anew, with the same instances left out and mended."""
    excluded, mends = manifest["excluded"], manifest["mends"]
    views = {name: [row for row in rows if row.problem_id in set(ids)] for name, ids in manifest["view_ids"].items()}
    if manifest["exclusion_lists"]:
        views = {
            "kept": [_mended(row, problems, manifest, store) for row in rows if row.problem_id not in excluded]
        } | views
    summary = summarise_patches(
        rows,
        repositories={problem_id: problem.repo for problem_id, problem in problems.items()},
        views=views,
        excluded=excluded,
        mended=tuple(mends),
        uncontrolled=manifest["uncontrolled"],
    )
    return {**summary.to_plain(), "judge_version": REPOSITORY_JUDGE_VERSION}


def _mended(
    row: ResultRow, problems: Mapping[str, RepositoryProblem], manifest: Mapping[str, Any], store: RecordStore
) -> ResultRow:
    """The row as judged by the mended test lists of its instance, if it has any."""
    lists = manifest["mends"].get(row.problem_id)
    record = store.get_repository(row.job_digest) if row.job_digest else None
    if lists is None or record is None:
        return row
    problem = dataclasses.replace(
        problems[row.problem_id],
        fail_to_pass=tuple(lists["fail_to_pass"]),
        pass_to_pass=tuple(lists["pass_to_pass"]),
    )
    return judged_again(row, record, problem, manifest, store)
