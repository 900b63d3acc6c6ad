"""What must hold in a bundle of graded patches."""

import dataclasses
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from benchwright.answers.patches import PatchAnswer, read_patch, unsafe
from benchwright.app.job_facts import TestFacts
from benchwright.app.repositories.results import judged_again, summary_of_regraded
from benchwright.app.verification import (
    Check,
    Finding,
    Unpacked,
    compared,
    compared_numbers,
    named,
    not_run,
    short,
    without_run,
)
from benchwright.app.verifying_data import check_data
from benchwright.app.verifying_facts import OF_REPOSITORIES, check_facts
from benchwright.benchmarks.repositories import REPOSITORY_BENCHMARKS, RepositorySet
from benchwright.core.answers import NoAnswer
from benchwright.core.attempts import Attempt
from benchwright.core.errors import UnknownNameError
from benchwright.core.repositories import RepositoryJob, RepositoryLimits, RepositoryProblem, Rules
from benchwright.core.results import ProblemFacts
from benchwright.core.runs import ResultRow
from benchwright.core.verdicts import Outcome, Reason
from benchwright.environments.repositories.spec import load_specs
from benchwright.grading.repositories import PreparedPatch, row_of
from benchwright.judging.repository import judge_no_patch
from benchwright.store.folder import PATCHES, TESTS, predictions_of


def check_settings(given: Unpacked) -> Iterator[Finding]:
    """The variant is the one there is, and logs are read as those of the repository are.

    Limits and environments are part of the jobs that records are traced to.
    """
    variant = given.manifest["variant"]
    if variant != "patch":
        yield Finding(check=Check.SETTINGS, text=f"A grading of patches has no variant {variant!s:.60}.")
    parsers: dict[str, set[str]] = defaultdict(set)
    for (repo, _), spec in load_specs().items():
        parsers[repo].add(spec.log_parser)
    others = []
    for problem, facts in given.tests.items():
        known, instance = parsers.get(facts.problem.repo), given.manifest["instances"].get(problem)
        as_it_should = _is_at_hand(given, facts.problem) if known is None else _is_read_by(instance, known)
        if not as_it_should:
            others.append(problem)
    if others:
        given.tally.open.append(
            f"that the tests' output of {len(others)} instances, such as {others[0][:60]}, is read as it should be: it "
            f"is by a specification of somebody's own"
        )


def _is_read_by(instance: Mapping[str, Any] | None, parsers: Collection[str]) -> bool:
    """Whether an instance's log was read by one of these parsers; what could not be run has no log."""
    return instance is None or instance["parser"] in parsers


def _is_at_hand(given: Unpacked, problem: RepositoryProblem) -> bool:
    """Whether the rows at hand say that a problem is of this repository, which a forger could rename."""
    row = None if given.at_hand is None else given.at_hand.by_id.get(problem.id)
    return isinstance(row, RepositoryProblem) and (row.digest, row.repo) == (problem.digest, problem.repo)


def check_problems(given: Unpacked) -> Iterator[Finding]:
    """Rows are of exactly the problems that were asked, and those are the whole of their data."""
    tests = given.tests
    asked = {row.problem_id for row in given.rows}
    if asked != tests.keys():
        some = sorted(asked ^ tests.keys())[0]
        yield Finding(
            check=Check.PROBLEMS,
            text=f"The rows are of {len(asked)} problems, {TESTS} names {len(tests)}: {some} is in one only.",
        )
    digests = {problem: facts.problem.digest for problem, facts in tests.items()}
    yield from check_data(given, digests)
    for problem, instance in given.manifest["instances"].items():
        if problem in digests and instance["problem_digest"] != digests[problem]:
            yield Finding(check=Check.PROBLEMS, text=f"The manifest and {TESTS} differ on the row of {problem}.")
    keys = [(row.problem_id, row.sample) for row in given.rows]
    if len(set(keys)) < len(keys):
        yield Finding(check=Check.PROBLEMS, text="Two rows are of the same problem and sample.")


def check_tests(given: Unpacked) -> Iterator[Finding]:
    """Repositories, tests that decide and facts are those of the rows that were given, and the same everywhere."""
    expected = {
        problem: ProblemFacts(id=problem, digest=facts.problem.digest, repository=facts.problem.repo)
        for problem, facts in given.tests.items()
    }
    yield from check_facts(given, expected, OF_REPOSITORIES)
    if given.at_hand is None:
        return
    for problem_id, facts in given.tests.items():
        problem = given.at_hand.by_id.get(problem_id)
        if not isinstance(problem, RepositoryProblem) or problem.digest != facts.problem.digest:
            continue  # found with the data
        if (problem.fail_to_pass, problem.pass_to_pass) != (facts.problem.fail_to_pass, facts.problem.pass_to_pass):
            text = f"{problem_id} was graded by other tests than {given.rows_name} has."
            yield Finding(check=Check.DATA, text=text)
        if problem.repo != facts.problem.repo:
            text = f"{problem_id} is of {short(problem.repo)} in {given.rows_name}, {TESTS} says another repository."
            yield Finding(check=Check.DATA, text=text)


def check_verdicts(given: Unpacked) -> Iterator[Finding]:
    """Rows with a record are what the judge makes of it and of the control runs; others say that nothing was run."""
    for row in given.rows:
        record = given.store.get_repository(row.job_digest) if row.job_digest else None
        if record is not None:
            given.tally.judged += 1
            problem = given.tests[row.problem_id].problem
            judged = judged_again(row, record, problem, given.manifest, given.store)
            attempt = Attempt(problem_id=row.problem_id, sample=row.sample, solution=None)
            prepared = PreparedPatch(problem=problem, attempt=attempt, job=None, answer=None, verdict=None)
            made = row_of(prepared, judged.verdict, record)
            # Notes on how the patch was read come first, and are checked with the answers.
            notes = row.notes if row.notes[len(row.notes) - len(made.notes) :] == made.notes else made.notes
            yield from compared(row, dataclasses.replace(made, job_digest=row.job_digest, notes=notes))
        else:
            yield from without_run(row)


def check_answers(given: Unpacked) -> Iterator[Finding]:
    """The record of each row is that of the bundle's patch, by the digest of its job."""
    samples = sorted({row.sample for row in given.rows})
    files = {sample: path for sample in samples if (path := _predictions(given.folder.path, sample)).exists()}
    for sample in samples:
        if sample not in files:
            text = f"There is no {_predictions(Path(), sample)}; nothing shows which patches the records are of."
            yield Finding(check=Check.ANSWERS, text=text)
    try:
        attempts = {sample: _attempts(path, given) for sample, path in files.items()}
    except UnknownNameError:
        name = str(given.manifest["benchmark"])[:40]
        given.tally.open.append(f"which patches the records are of: no benchmark {name} is known here")
        return
    untraced = []
    for row in given.rows:
        if row.sample in files:
            attempt = attempts[row.sample].get(row.problem_id)
            untraced.append(_untraceable(given, row, attempt, given.tests[row.problem_id]))
    yield from given.untraced([finding for finding in untraced if finding is not None])


def _predictions(folder: Path, sample: int) -> Path:
    """Where the patches of a repetition are; runs of agents have several."""
    return folder / (PATCHES if sample == 0 else predictions_of(sample))


def _attempts(path: Path, given: Unpacked) -> dict[str, Attempt]:
    if not path.stat().st_size:
        return {}
    name = given.manifest["benchmark"]
    problems = RepositorySet(
        benchmark=name,
        version=given.manifest["version"],
        subset=given.manifest["subset"],
        digest=given.manifest["data_digest"],
        source="the bundle",
        pinned=False,
        problems=tuple(facts.problem for facts in given.tests.values()),
    )
    patches = REPOSITORY_BENCHMARKS.get(name).read_predictions(path, problems)
    return {attempt.problem_id: attempt for attempt in patches.attempts}


def _untraceable(given: Unpacked, row: ResultRow, attempt: Attempt | None, facts: TestFacts) -> Finding | None:
    """Why a row is not one of its patch; None when it is, and then it is counted."""
    if row.job_digest is None:
        return _without_job(given, row, attempt, facts)
    if attempt is None:
        return Finding(check=Check.ANSWERS, text=f"{named(row)} has a record, and there is no patch.")
    if row.job_digest not in _possible_jobs(given, attempt, facts):
        return Finding(check=Check.ANSWERS, text=f"{named(row)}: its record is not that of the patch in the bundle.")
    given.tally.traced += 1
    record, answer = given.store.get_repository(row.job_digest), read_patch(attempt.raw_text)
    if record is None or isinstance(answer, NoAnswer):
        return None
    prepared = PreparedPatch(problem=facts.problem, attempt=attempt, job=None, answer=answer, verdict=None)
    notes = row_of(prepared, row.verdict, record).notes
    return next(compared(row, dataclasses.replace(row, notes=notes)), None)


def _possible_jobs(given: Unpacked, attempt: Attempt, facts: TestFacts) -> set[str]:
    """Digests of the patch's job, today or on the day that the control runs found to be needed."""
    manifest, problem = given.manifest, facts.problem
    instance = manifest["instances"][problem.id]
    controls = given.store.repository_controls(
        instance["environment"], manifest["sandbox"], manifest["harness_version"], problem.digest
    )
    job = RepositoryJob(
        problem=problem,
        patch=attempt.raw_text or "",
        environment=facts.environment,
        sandbox=manifest["sandbox"],
        limits=RepositoryLimits(**manifest["limits"]),
        rules=Rules(manifest["rules"]),
        harness_version=manifest["harness_version"],
    )
    dates = {"", controls.date if controls else ""}
    return {dataclasses.replace(job, date=date).digest for date in dates}


def _without_job(given: Unpacked, row: ResultRow, attempt: Attempt | None, facts: TestFacts) -> Finding | None:
    if row.verdict.outcome is Outcome.FAULT:
        return None
    expected = _row_without_job(given, row, attempt, facts)
    if expected is None:
        return Finding(check=Check.ANSWERS, text=f"{named(row)} has a patch that can be run, and no record.")
    given.tally.judged += 1
    return next(compared(row, expected), None)


def _row_without_job(given: Unpacked, row: ResultRow, attempt: Attempt | None, facts: TestFacts) -> ResultRow | None:
    """The row of a patch that is not run; None for one that can be."""
    if attempt is None:
        answer = NoAnswer(reason=Reason.MISSING, detail="the file has no prediction for this instance")
        return not_run(row, judge_no_patch(answer, facts.problem))
    found = read_patch(attempt.raw_text)
    if isinstance(found, NoAnswer):
        return not_run(row, judge_no_patch(found, facts.problem))
    assert isinstance(found, PatchAnswer), "an answer is one or none"
    refused = unsafe(found) if Rules(given.manifest["rules"]) is Rules.BENCHWRIGHT else ()
    if not refused or not facts.environment:
        return None
    detail = f"{refused[0].path}: {refused[0].why}"
    verdict = judge_no_patch(NoAnswer(reason=Reason.PATCH_REJECTED, detail=detail), facts.problem)
    return not_run(row, verdict, found.notes)


def check_summary(given: Unpacked) -> Iterator[Finding]:
    """The manifest's numbers are those of the rows, with the same instances left out and mended."""
    problems = {problem: facts.problem for problem, facts in given.tests.items()}
    summary = summary_of_regraded(given.rows, problems, given.manifest, given.store)
    yield from compared_numbers(given.manifest, summary)
