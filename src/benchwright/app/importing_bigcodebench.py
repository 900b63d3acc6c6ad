"""BigCodeBench results of others: the official harness's verdicts, and the public leaderboards."""

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from benchwright.app.importing_base import (
    Imported,
    ImportedRun,
    ImportOptions,
    Kind,
    Place,
    facts_file,
    missing_row,
    reported_identity,
    row_of,
    run_of,
    without_unknown,
)
from benchwright.app.problem_facts import facts_of_function
from benchwright.benchmarks.base import SampleKey
from benchwright.benchmarks.bigcodebench.loading import BENCHMARK_NAME, SUBSETS, load
from benchwright.benchmarks.bigcodebench.official_verdicts import (
    Naming,
    OfficialVerdict,
    OfficialVerdicts,
    Status,
    read_naming,
    read_verdicts,
    samples_beside,
)
from benchwright.benchmarks.bigcodebench.pins import hard_ids, read_pins
from benchwright.benchmarks.bigcodebench.prompts import VARIANTS
from benchwright.benchmarks.bigcodebench.public_leaderboard import (
    METRIC,
    ListedModel,
    PublicLeaderboard,
    read_leaderboard,
    subset_in_name,
)
from benchwright.benchmarks.foreign import name_of
from benchwright.benchmarks.jsonl import read_json_lines
from benchwright.benchmarks.repositories import named_few
from benchwright.core.errors import UsageError
from benchwright.core.results import UNSTATED, Origin, ProblemFacts, ReportedScore, Source, StoredRun
from benchwright.core.runs import FUNCTION_SCORES, ResultRow, Score
from benchwright.core.verdicts import Outcome, Verdict
from benchwright.judging.imported import imported_verdict
from benchwright.store.folder import SAMPLES

_SITE = "https://bigcode-bench.github.io"
_LEADERBOARD_NOTE = (
    "pass@1 as the source's table states it, in percent there; what the source calls calibrated where the model is "
    "instruction-tuned. The source states scores only, no verdicts. A model's weights are taken to be public where its "
    "link is its page on huggingface.co, and nothing is taken where it is not; 'prompted' is the source's word for "
    "instruction-tuned; the dates are the source's."
)
_OUTCOMES = {Status.PASS: Outcome.PASSED, Status.FAIL: Outcome.FAILED, Status.TIMEOUT: Outcome.OVER_LIMIT}


def import_leaderboard(path: Path, options: ImportOptions) -> Imported:
    """Each model's scores on the public leaderboard, one run per variant; raises `UsageError` for other files."""
    _refuse_other_benchmark(options, path)
    subset = _one_of(options.subset or subset_in_name(path), SUBSETS, path, "subset")
    leaderboard = read_leaderboard(path)
    variants = VARIANTS if options.variant is None else (_one_of(options.variant, VARIANTS, path, "variant"),)
    source = Source(
        kind=Kind.BIGCODEBENCH_LEADERBOARD.value,
        title=options.source_title or f"BigCodeBench leaderboard ({subset})",
        url=options.source_url or _SITE,
        files=((path.name, leaderboard.sha256),),
        note=_LEADERBOARD_NOTE,
    )
    models = [model for model in leaderboard.models if options.model in (None, model.name)]
    if not models:
        raise UsageError(f"{path} names {len(leaderboard.models)} models, and {options.model!r} is none of them.")
    runs = tuple(
        ImportedRun(run=_stated(model, variant, subset, source, options), files={path.name: path})
        for variant in variants
        for model in models
        if variant in model.scores
    )
    return Imported(runs=runs, notes=(source.note,), left_out=tuple(_not_on_it(leaderboard, path)))


def _stated(model: ListedModel, variant: str, subset: str, source: Source, options: ImportOptions) -> StoredRun:
    place = Place(benchmark=BENCHMARK_NAME, version=options.version or UNSTATED, subset=subset, variant=variant)
    return StoredRun(
        entry="",
        run_id=reported_identity(place, source, model.name),
        origin=Origin.IMPORTED,
        source=source,
        benchmark=place.benchmark,
        version=place.version,
        subset=subset,
        variant=variant,
        model=model.name,
        reported=(ReportedScore(metric=METRIC, value=model.scores[variant]),),
        facts=model.facts,
    )


def _not_on_it(leaderboard: PublicLeaderboard, path: Path) -> Iterator[str]:
    if leaderboard.without_score:
        yield (
            f"Scores of {path.name} that are null and make no run: {len(leaderboard.without_score)} "
            f"({named_few(leaderboard.without_score)})."
        )
    if leaderboard.odd_links:
        named = named_few(leaderboard.odd_links)
        yield f"Links of {path.name} that are no web addresses: {len(leaderboard.odd_links)} ({named})."


def import_verdicts(path: Path, options: ImportOptions) -> Imported:
    """One run of a file of the official harness's verdicts.

    Which score they are, model, subset and variant are what the user says, or what the file of rates beside it says,
    or what its name says; subset also by the tasks that are in it.  Tasks that the file lacks count as not solved.

    Raises:
        UsageError: The file cannot be used, something of the above is said nowhere, or it has unknown tasks.
    """
    _refuse_other_benchmark(options, path)
    naming, official = read_naming(path), read_verdicts(path)
    found = {key.problem_id for key in official.verdicts}
    place = function_place(path, options, found=found, naming=naming)
    score = _score(path, naming, options)
    tasks = known_tasks(place.subset, options)
    known = [task.id for task in tasks]
    what = f"the {len(known)} tasks of {BENCHMARK_NAME} {place.subset}"
    kept = without_unknown(found, known, options, where=str(path), what=what)
    samples = _samples(path, official, options)
    rows = tuple(_rows(official, kept, known, score))
    source = Source(
        kind=Kind.BIGCODEBENCH_VERDICTS.value,
        title=options.source_title or path.name,
        url=options.source_url or "",
        files=(
            (path.name, official.sha256),
            *((beside.name, digest) for beside, digest in naming.files),
            *([(samples.name, samples.sha256)] if samples else []),
        ),
        note=_note(naming, score, options),
    )
    run = run_of(
        place,
        source,
        rows,
        model=_model(path, naming, options),
        scaffold=options.scaffold or "",
        finished=official.date,
    )
    files: dict[str, Path | bytes] = {path.name: path, **{beside.name: beside for beside, _ in naming.files}}
    files |= facts_file(tasks)
    if samples:
        files[SAMPLES] = samples.lines
    imported = ImportedRun(run=run, rows=rows, files=files)
    return Imported(runs=(imported,), notes=(source.note,), left_out=tuple(_lacking(path, found, known, rows)))


def _rows(official: OfficialVerdicts, kept: frozenset[str], known: Iterable[str], score: Score) -> Iterator[ResultRow]:
    for key, verdict in official.verdicts.items():
        if key.problem_id in kept:
            yield row_of(key.problem_id, score, _verdict(verdict), sample=key.sample)
    for problem_id in known:
        if problem_id not in kept:
            yield missing_row(problem_id, score, "the source has no verdict on this task")


def _verdict(official: OfficialVerdict) -> Verdict:
    detail = official.status.value + (f": {official.detail}" if official.detail else "")
    return imported_verdict(_OUTCOMES[official.status], official.reason, detail)


def _note(naming: Naming, score: Score, options: ImportOptions) -> str:
    who = "the importer" if options.score is not None else naming.score_from
    return (
        f"Verdicts of BigCodeBench's official harness; that they are {score.value} is said by {who}. "
        "The harness says pass, fail or timeout; the reason of a failure is read from its tracebacks."
    )


def _lacking(path: Path, found: Iterable[str], known: Iterable[str], rows: Iterable[ResultRow]) -> Iterator[str]:
    there = {row.problem_id for row in rows if row.verdict.outcome is not Outcome.NO_ANSWER}
    absent = [problem_id for problem_id in known if problem_id not in there]
    if absent:
        yield f"Tasks without a verdict in {path.name}, counted as not solved: {len(absent)} ({named_few(absent)})."
    unknown = sorted(set(found) - set(known))
    if unknown:
        yield f"Unknown tasks of {path.name}: {len(unknown)} ({named_few(unknown)})."


def _score(path: Path, naming: Naming, options: ImportOptions) -> Score:
    score = options.score or naming.score
    if score is None:
        raise UsageError(
            f"Neither the name of {path} nor a file beside it says whether the stub was put in front of the answers; "
            "say --score calibrated (the default of bigcodebench 0.2.5) or --score extracted."
        )
    if score not in FUNCTION_SCORES:
        raise UsageError(f"{path} holds results of functions; --score {score.value} is for patches.")
    return score


def _model(path: Path, naming: Naming, options: ImportOptions) -> str:
    """The model as the user or the official file name says; otherwise the folder's name, as for sample files."""
    return name_of(options.model or naming.model or path.resolve().parent.name, str(path), "the model")


def function_place(path: Path, options: ImportOptions, *, found: set[str], naming: Naming | None = None) -> Place:
    """Subset and variant, as the user or the names say; the subset also by the tasks that were found.

    Raises `UsageError` where nothing says them.
    """
    naming = naming or Naming()
    subset = options.subset or naming.subset or _subset_of(found, options)
    return Place(
        benchmark=BENCHMARK_NAME,
        version=options.version or UNSTATED,
        subset=_one_of(subset, SUBSETS, path, "subset"),
        variant=_one_of(options.variant or naming.variant, VARIANTS, path, "variant"),
    )


def known_tasks(subset: str, options: ImportOptions) -> tuple[ProblemFacts, ...]:
    """A subset's tasks: those of the rows given, with what these say of them, or the ids of every published version.

    Digests of rows are left out: which version a source used is for the source to say.
    """
    if options.dataset is not None:
        problems = load(subset=subset, path=options.dataset).problems
        return tuple(dataclasses.replace(facts_of_function(problem), digest="") for problem in problems)
    count = read_pins().repositories["full"].tasks
    ids = hard_ids() if subset == "hard" else [f"BigCodeBench/{number}" for number in range(count)]
    return tuple(ProblemFacts(id=problem_id) for problem_id in ids)


def _subset_of(found: set[str], options: ImportOptions) -> str | None:
    """Hard when the tasks are exactly those; full when one is none of those; otherwise not known."""
    hard = set(hard_ids())
    if found == hard:
        return "hard"
    return "full" if found - hard and not options.ignore_unknown else None


def _one_of(value: str | None, known: Iterable[str], path: Path, what: str) -> str:
    if value is None:
        raise UsageError(f"The {what} of {path} is said nowhere; give --{what}, one of {', '.join(known)}.")
    if value not in known:
        raise UsageError(f"The {what} of {path} is {value!r:.60}; expected one of {', '.join(known)}.")
    return value


def _refuse_other_benchmark(options: ImportOptions, path: Path) -> None:
    if options.benchmark not in (None, BENCHMARK_NAME):
        raise UsageError(f"{path} is about {BENCHMARK_NAME}, not {options.benchmark}; leave --benchmark out.")


class _Samples(NamedTuple):
    """The answers that verdicts are about."""

    name: str
    sha256: str
    lines: bytes
    """In the form of sample files, numbered."""


def _samples(path: Path, official: OfficialVerdicts, options: ImportOptions) -> _Samples | None:
    """The sample file given, or the one beside the verdicts; raises `UsageError` when it is of other samples."""
    file = options.samples or samples_beside(path)
    if file is None:
        return None
    hasher = hashlib.sha256()
    counts: dict[str, int] = {}
    lines = []
    for line in read_json_lines(file, hasher):
        task_id = line.value.get("task_id")
        if not isinstance(task_id, str):
            raise UsageError(f"{file}, line {line.number}: the field 'task_id' is no text; expected a sample file.")
        number = counts.setdefault(task_id, 0)
        counts[task_id] += 1
        lines.append(json.dumps({**line.value, "sample": number}))
    _refuse_other_samples(file, path, counts, official.verdicts)
    return _Samples(file.name, hasher.hexdigest(), "".join(line + "\n" for line in lines).encode())


def _refuse_other_samples(file: Path, path: Path, counts: Mapping[str, int], verdicts: Mapping[SampleKey, Any]) -> None:
    judged: dict[str, int] = {}
    for key in verdicts:
        judged[key.problem_id] = max(judged.get(key.problem_id, 0), key.sample + 1)
    differing = sorted(task_id for task_id in {*counts, *judged} if counts.get(task_id, 0) != judged.get(task_id, 0))
    if differing:
        one = differing[0]
        raise UsageError(
            f"{file} has {counts.get(one, 0)} samples of {one}, and {path} judges {judged.get(one, 0)} "
            f"({len(differing)} tasks differ); give the sample file that was judged."
        )
