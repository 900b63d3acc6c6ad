"""What must hold in a bundle of graded functions."""

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import benchwright
from benchwright.answers.plans import read_plan
from benchwright.answers.reading import answer_of
from benchwright.app.job_facts import JOBS, JobFacts, read_jobs
from benchwright.app.summary import summarise
from benchwright.app.verification import Check, Finding, Unpacked, compared, compared_numbers, named, without_run
from benchwright.benchmarks.base import Benchmark, ProblemSet
from benchwright.benchmarks.registry import BENCHMARKS
from benchwright.core.answers import CodeAnswer, NoAnswer
from benchwright.core.attempts import Attempt
from benchwright.core.controls import ControlRun, place_of
from benchwright.core.digest import digest_of
from benchwright.core.errors import UnknownNameError
from benchwright.core.execution import Isolation, TestPlan, digest_of_plan
from benchwright.core.runs import ResultRow, Score
from benchwright.core.verdicts import Reason
from benchwright.judging.function import judge, judge_no_answer, missing_names
from benchwright.store.folder import SAMPLES

_OF_CONTROLS = ("estimates_controlled", "failed_references", "uncontrolled_problems")


def check_problems(given: Unpacked) -> Iterator[Finding]:
    """Rows are of exactly the problems of the manifest, under each score, and those are the whole of their data."""
    digests: Mapping[str, str] = given.manifest["problem_digests"]
    asked = {row.problem_id for row in given.rows}
    for name, ids in (("rows", asked), ("plans", given.folder.plans().keys())):
        if ids != digests.keys():
            some = sorted(ids ^ digests.keys())[0]
            yield Finding(
                check=Check.PROBLEMS,
                text=f"The {name} are of {len(ids)} problems, the manifest names {len(digests)}: {some} is in one.",
            )
    yield from check_data(given, digests)
    scores = [Score(name) for name in given.manifest["scores"]]
    keys = [(row.problem_id, row.sample, row.score) for row in given.rows]
    if len(set(keys)) < len(keys):
        yield Finding(check=Check.PROBLEMS, text="Two rows are of the same problem, sample and score.")
    samples = {(problem, sample) for problem, sample, _ in keys}
    if set(keys) != {(*sample, score) for sample in samples for score in scores}:
        yield Finding(check=Check.PROBLEMS, text="Some samples lack a row under one of the scores.")


def check_data(given: Unpacked, digests: Mapping[str, str]) -> Iterator[Finding]:
    """The problems are those that the data's digest is over, none left out."""
    if given.manifest.get("ids") is not None:
        given.tally.notes.append(f"{len(digests)} chosen problems were graded, not the whole of the data.")
    elif digest_of([digests[problem] for problem in sorted(digests)]) != given.manifest["data_digest"]:
        yield Finding(
            check=Check.PROBLEMS, text=f"The {len(digests)} problems are not those that the data's digest is over."
        )


def check_tests(given: Unpacked) -> Iterator[Finding]:
    """Planned tests, stubs and entry points are those of the rows that were given."""
    if given.dataset is None:
        return
    problems = BENCHMARKS.get(given.manifest["benchmark"]).load(path=given.dataset).by_id
    digests, plans, facts = given.manifest["problem_digests"], given.folder.plans(), read_jobs(given.folder.path)
    for problem_id, plan in plans.items():
        problem = problems.get(problem_id)
        if problem is None or problem.digest != digests.get(problem_id):
            yield Finding(check=Check.DATA, text=f"{problem_id} in {given.dataset} is not the problem that was graded.")
            continue
        read = read_plan(problem.test_source)
        known = facts.get(problem_id)
        same = known is None or (known.stub, known.entry_point, known.plan) == (
            problem.stub,
            problem.entry_point,
            digest_of_plan(read),
        )
        if (plan.class_name, plan.tests) != (read.class_name, read.tests) or not same:
            yield Finding(check=Check.DATA, text=f"{problem_id} was graded by other tests than {given.dataset} has.")


def check_verdicts(given: Unpacked) -> Iterator[Finding]:
    """Rows with a record are what the judge makes of it; others say that nothing was run."""
    plans = given.folder.plans()
    unavailable = frozenset(given.manifest.get("unavailable_modules", ()))
    for row in given.rows:
        record = given.store.get(row.job_digest) if row.job_digest else None
        if record is not None:
            given.tally.judged += 1
            expected = dataclasses.replace(
                row,
                verdict=judge(plans[row.problem_id], record, unavailable),
                wall_seconds=record.wall_seconds,
                cpu_seconds=record.cpu_seconds,
                memory_peak_bytes=record.memory_peak_bytes,
                missing_names=missing_names(record),
            )
            yield from compared(row, expected)
        else:
            yield from without_run(row)


def check_answers(given: Unpacked) -> Iterator[Finding]:
    """The record of each row is that of the bundle's answer, worked out anew: read, put together, its digest taken."""
    facts = read_jobs(given.folder.path)
    if not facts or not (given.folder.path / SAMPLES).exists():
        missing = SAMPLES if facts else JOBS
        given.tally.notes.append(f"There is no {missing} in the bundle: which answers the records are of is not shown.")
        return
    try:
        benchmark = BENCHMARKS.get(given.manifest["benchmark"])
    except UnknownNameError as error:
        given.tally.notes.append(f"{error} Which answers the records are of is not shown.")
        return
    attempts = _attempts(given, benchmark, facts)
    yield from _without_row(given, attempts)
    plans = given.folder.plans()
    untraced = []
    for row in given.rows:
        finding = _untraceable(given, row, attempts.get((row.problem_id, row.sample)), facts, benchmark, plans)
        if finding is not None:
            untraced.append(finding)
    if given.manifest["benchwright_version"] == benchwright.__version__:
        yield from untraced
    elif untraced:
        given.tally.notes.append(
            f"{len(untraced)} rows could not be traced to their answers: benchwright "
            f"{given.manifest['benchwright_version']} graded them, this is {benchwright.__version__}, which may read "
            f"answers otherwise."
        )


def _attempts(given: Unpacked, benchmark: Benchmark, facts: Mapping[str, JobFacts]) -> dict[tuple[str, int], Attempt]:
    problems = ProblemSet(
        benchmark=benchmark.name,
        version=given.manifest["version"],
        subset=given.manifest["subset"],
        digest=given.manifest["data_digest"],
        source="the bundle",
        pinned=False,
        problems=tuple(one.problem(benchmark.name) for one in facts.values()),
    )
    samples = benchmark.read_samples(given.folder.path / SAMPLES, problems)
    extracted = given.manifest.get("answers") == "extracted"
    return {
        (attempt.problem_id, attempt.sample): dataclasses.replace(attempt, solution=None) if extracted else attempt
        for attempt in samples.attempts
    }


def _without_row(given: Unpacked, attempts: Mapping[tuple[str, int], Attempt]) -> Iterator[Finding]:
    rows = {(row.problem_id, row.sample) for row in given.rows}
    for problem, sample in sorted(attempts.keys() - rows):
        yield Finding(check=Check.ANSWERS, text=f"The answer {problem}#{sample} has no row.")


def _untraceable(
    given: Unpacked,
    row: ResultRow,
    attempt: Attempt | None,
    facts: Mapping[str, JobFacts],
    benchmark: Benchmark,
    plans: Mapping[str, TestPlan],
) -> Finding | None:
    """Why a row is not one of its answer; None when it is, and then it is counted."""
    known = facts[row.problem_id]
    answer = (
        NoAnswer(reason=Reason.MISSING, detail="the file has no sample for this problem")
        if attempt is None
        else answer_of(attempt, entry_point=known.entry_point, as_written=row.score is Score.AS_WRITTEN)
    )
    if isinstance(answer, CodeAnswer):
        submission = benchmark.assemble(known.problem(benchmark.name), answer, row.score)
        if known.job_digest(submission, given.manifest) != row.job_digest:
            return Finding(
                check=Check.ANSWERS, text=f"{named(row)}: its record is not that of the answer in the bundle."
            )
        given.tally.traced += 1
        return None
    if row.job_digest is not None:
        return Finding(check=Check.ANSWERS, text=f"{named(row)} has a record, and its answer nothing to run.")
    given.tally.judged += 1
    expected = judge_no_answer(answer, plans[row.problem_id])
    return next(compared(row, dataclasses.replace(row, verdict=expected)), None)


def check_summary(given: Unpacked) -> Iterator[Finding]:
    """The manifest's numbers are those of the rows."""
    manifest = given.manifest
    scores = [Score(name) for name in manifest["scores"]]
    controls = _controls(given)
    summary = summarise(given.rows, scores, controls, given_names=given.folder.given_names()).to_plain()
    of_controls = {name: summary[name] for name in _OF_CONTROLS}
    yield from compared_numbers(manifest, summary, without=_OF_CONTROLS)
    if next(compared_numbers(manifest, of_controls), None) is not None:
        given.tally.notes.append(
            "The control runs in the bundle are not those that the grading knew: what it says without problems whose "
            "reference fails is not checked."
        )


def _controls(given: Unpacked) -> dict[str, ControlRun]:
    manifest = given.manifest
    place = place_of(manifest["environment_digest"], Isolation(manifest["isolation"]))
    found = given.store.controls(place, manifest["guest_version"])
    digests: Mapping[str, Any] = manifest["problem_digests"]
    return {problem: found[digest] for problem, digest in digests.items() if digest in found}
