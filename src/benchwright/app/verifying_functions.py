"""What must hold in a bundle of graded functions."""

import dataclasses
from collections.abc import Iterator, Mapping

from benchwright.answers.plans import read_plan
from benchwright.answers.reading import answer_of
from benchwright.app.job_facts import JobFacts
from benchwright.app.summary import summarise
from benchwright.app.verification import (
    Check,
    Finding,
    Unpacked,
    compared,
    compared_numbers,
    named,
    not_run,
    without_run,
)
from benchwright.app.verifying_data import check_data
from benchwright.app.verifying_facts import OF_FUNCTIONS, check_facts, check_given_names
from benchwright.app.verifying_settings import (
    check_controlled,
    check_environment,
    check_limits,
    check_variant,
)
from benchwright.benchmarks.base import Benchmark, ProblemSet
from benchwright.benchmarks.registry import BENCHMARKS
from benchwright.core.answers import CodeAnswer, NoAnswer
from benchwright.core.attempts import Attempt
from benchwright.core.errors import UnknownNameError
from benchwright.core.execution import TestPlan, digest_of_plan
from benchwright.core.problems import FunctionProblem
from benchwright.core.results import ProblemFacts
from benchwright.core.runs import ResultRow, Score
from benchwright.core.verdicts import Reason
from benchwright.judging.function import judge, judge_no_answer, missing_names
from benchwright.store.folder import JOBS, SAMPLES

_OF_CONTROLS = ("estimates_controlled", "failed_references", "uncontrolled_problems")


def check_problems(given: Unpacked) -> Iterator[Finding]:
    """Rows are of exactly the problems of the manifest, under each score, and those are the whole of their data."""
    digests: Mapping[str, str] = given.manifest["problem_digests"]
    asked = {row.problem_id for row in given.rows}
    for name, ids in (("rows", asked), ("plans", given.plans.keys())):
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


def check_settings(given: Unpacked) -> Iterator[Finding]:
    """Variant, environment and limits are what they can be."""
    yield from check_variant(given.manifest)
    yield from check_environment(given)
    yield from check_limits(given)


def check_tests(given: Unpacked) -> Iterator[Finding]:
    """Planned tests, stubs, entry points and facts are those of the rows at hand, and follow from one another."""
    digests: Mapping[str, str] = given.manifest["problem_digests"]
    expected = {problem: ProblemFacts(id=problem, digest=digest) for problem, digest in digests.items()}
    yield from check_facts(given, expected, OF_FUNCTIONS)
    yield from check_given_names(given)
    if given.at_hand is None:
        return
    problems = given.at_hand.by_id
    for problem_id, plan in given.plans.items():
        problem = problems.get(problem_id)
        if not isinstance(problem, FunctionProblem) or problem.digest != digests[problem_id]:
            continue  # found with the data
        read = read_plan(problem.test_source)
        known = given.jobs.get(problem_id)
        same = known is None or known == _facts_of(problem, read, known)
        if (plan.class_name, plan.tests) != (read.class_name, read.tests) or not same:
            text = f"{problem_id} was graded by other tests than {given.rows_name} has."
            yield Finding(check=Check.DATA, text=text)


def _facts_of(problem: FunctionProblem, plan: TestPlan, known: JobFacts) -> JobFacts:
    """What all jobs of a problem have in common, from its row; limits are those that were used."""
    return JobFacts(
        id=problem.id,
        digest=problem.digest,
        entry_point=problem.entry_point,
        stub=problem.stub,
        plan=digest_of_plan(plan),
        limits=known.limits,
    )


def check_verdicts(given: Unpacked) -> Iterator[Finding]:
    """Rows with a record are what the judge makes of it; others say that nothing was run."""
    plans = given.plans
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
    digests: Mapping[str, str] = given.manifest["problem_digests"]
    facts = dict(given.jobs)
    if {problem: one.digest for problem, one in facts.items()} != digests:
        yield _unanswered(f"{JOBS} is not of the {len(digests)} problems: it is of {len(facts)}")
        return
    if not (given.folder.path / SAMPLES).exists():
        yield _unanswered(f"There is no {SAMPLES}")
        return
    try:
        benchmark = BENCHMARKS.get(given.manifest["benchmark"])
    except UnknownNameError:
        name = str(given.manifest["benchmark"])[:40]
        given.tally.open.append(f"which answers the records are of: no benchmark {name} is known here")
        return
    rows = {} if given.at_hand is None else given.at_hand.by_id
    for problem_id, known in facts.items():
        row = rows.get(problem_id)
        if isinstance(row, FunctionProblem):
            facts[problem_id] = _facts_of(row, read_plan(row.test_source), known)
    attempts = _attempts(given, benchmark, facts)
    yield from _without_row(given, attempts)
    untraced = [
        _untraceable(given, row, attempts.get((row.problem_id, row.sample)), facts, benchmark) for row in given.rows
    ]
    yield from given.untraced([finding for finding in untraced if finding is not None])


def _unanswered(what: str) -> Finding:
    return Finding(check=Check.ANSWERS, text=f"{what}; nothing shows which answers the records are of.")


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
        return next(compared(row, dataclasses.replace(row, strategy=answer.strategy, notes=answer.notes)), None)
    if row.job_digest is not None:
        return Finding(check=Check.ANSWERS, text=f"{named(row)} has a record, and its answer nothing to run.")
    given.tally.judged += 1
    expected = judge_no_answer(answer, given.plans[row.problem_id])
    return next(compared(row, not_run(row, expected)), None)


def check_summary(given: Unpacked) -> Iterator[Finding]:
    """The manifest's numbers are those of the rows, and of the control runs in the bundle."""
    scores = [Score(name) for name in given.manifest["scores"]]
    summary = summarise(given.rows, scores, {}, given_names=given.given_names).to_plain()
    yield from compared_numbers(given.manifest, summary, without=_OF_CONTROLS)
    yield from check_controlled(given, scores)
