"""Do our verdicts equal the official ones, and why not where they do not: a generated report.

Grades (or reads, with ``--rows``) every sample file below a folder laid out as
``MODEL/SUBSET-VARIANT.samples.jsonl.gz`` beside ``MODEL/SUBSET-VARIANT.official_verdicts.json.gz``, with the
calibration stub in front as the official tool does, and compares *passes or not* sample by sample.

    python benchmarks/parity.py --dataset DATA.jsonl.gz --folder SAMPLES --out OUT --repeat 5 --report parity.md

Every disagreement gets an explanation, chosen by the rules below over recorded evidence: messages of both
sides, the control run, the source of answer and tests, repeated executions (``--repeat``), and what the
official package says of the same sample on this machine (``--official-here``).  A rule says whether its
evidence *shows* the cause or is only *consistent* with it; a rule that shows comes before any that is
consistent.  Where no rule fits, the report says UNEXPLAINED and the exit status is 1.
"""

import argparse
import collections
import enum
import gzip
import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import measuring
import official_package

from benchwright.app.grading import GradeOptions, grade
from benchwright.app.workspace import Workspace, default_workers
from benchwright.benchmarks.base import ProblemSet
from benchwright.benchmarks.bigcodebench.benchmark import BENCHMARK
from benchwright.core.attempts import Attempt
from benchwright.core.controls import ControlRun
from benchwright.core.execution import ExecutionRecord, Isolation
from benchwright.core.problems import FunctionProblem
from benchwright.core.runs import ResultRow, Score
from benchwright.core.verdicts import Outcome, Reason
from benchwright.environments.environment import open_environment
from benchwright.execution.guest import guest_version
from benchwright.execution.schedulers.base import ScheduledJob
from benchwright.execution.schedulers.local import LocalOptions, LocalScheduler
from benchwright.execution.target import target_of
from benchwright.grading.pipeline import Pipeline
from benchwright.judging.function import judge
from benchwright.store.folder import ResultsFolder

GOAL = 0.993
"""Share of samples on which both must agree."""
_CELL_CHARACTERS = 600
_SAMPLES, _VERDICTS = ".samples.jsonl.gz", ".official_verdicts.json.gz"

CHANGED_TASKS = {f"BigCodeBench/{n}" for n in (16, 37, 211, 215, 241, 267, 1005, 1006)}
"""Tasks whose prompt or tests changed between data v0.1.0 and v0.1.4 (FINDINGS.md)."""

NETWORK_TASKS = {f"BigCodeBench/{n}" for n in (101, 176, 314, 590, 1005, 1006, 1012)}
"""Tasks whose own reference needs the internet or DNS (FINDINGS.md); some swallow the message that would
say so."""


class Category(enum.StrEnum):
    """What a disagreement comes from."""

    FLAKY = "flaky"
    """The same code comes to different outcomes on one machine."""
    NETWORK = "network"
    """One side had a network, the other had none or another one."""
    REFERENCE = "reference fails here"
    """The task's own solution does not pass on this machine."""
    DATA = "data version"
    """The official verdict was made with another version of the task."""
    TAMPERING = "tampering"
    """We refuse a pass that interferes with the tests; the official harness takes it."""
    STUB = "missing entry point"
    """The answer has no function of its own; the official harness let the calibration stub pass."""
    LIMITS = "limits"
    """One of our limits was reached where the official harness went on."""
    PATCHED = "official patched functions"
    """The official harness replaces process functions and ``exit``; what the tests see is its replacement."""
    OFFICIAL_TIMEOUT = "official timeout"
    """The official harness ran out of time; here the same sample ended."""
    MACHINE = "file or environment"
    """A program, data file, permission or library differs between the machines."""
    UNEXPLAINED = "UNEXPLAINED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Everything known of one sample that passes on one side only."""

    file: str
    task: str
    sample: int
    official_status: str
    official_details: Mapping[str, str]
    outcome: Outcome
    reason: Reason
    detail: str
    wall_seconds: float
    messages: str
    """What our record holds in messages and output; empty when the record is not in the store."""
    code: str
    problem: FunctionProblem
    planned: frozenset[str]
    """Names of the test methods in our data."""
    control: ControlRun | None
    repeats: tuple[str, ...] = ()
    """Outcomes of repeated executions here."""
    official_here: str | None = None
    """Status the official package gives on this machine, when asked for."""

    @property
    def passed_here(self) -> bool:
        return self.outcome is Outcome.PASSED

    @property
    def official_text(self) -> str:
        return "\n".join(self.official_details.values())

    @property
    def source(self) -> str:
        """The answer and the task's own code."""
        return "\n".join((self.problem.calibration_stub, self.code, self.problem.test_source))

    @property
    def official_stands(self) -> bool:
        """Whether the official package here says what the recorded verdict says."""
        return self.official_here is not None and (self.official_here == "pass") != self.passed_here

    @property
    def recorded_elsewhere(self) -> bool:
        """Whether the official package here says what we say: then the recorded verdict is of another
        machine."""
        return self.official_here is not None and not self.official_stands


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Where a disagreement comes from, and how well that is known."""

    category: Category
    because: str
    shown: bool
    """Whether the evidence shows the cause; otherwise it is only consistent with it."""


_NO_NETWORK = re.compile(
    r"name resolution|Name or service not known|Network is unreachable|getaddrinfo|Max retries exceeded"
    r"|urlopen error|NewConnectionError|No address associated|gaierror",
    re.IGNORECASE,
)
_CONNECTION = re.compile(r"Connection refused|ConnectionError|Read timed out|RemoteDisconnected|SSLError|HTTPError")
"""Words of a bad connection, which a mock may say as well."""
_PATCH_MARKS = re.compile(r"Intercepted|Prevented attempt|preexec_fn|'NoneType' object is not callable|SafePopen")
_EMPTY_OUTPUT = re.compile(r"NoneType|b''|\bNone\b|Process not found|StopIteration|IndexError")
_PROCESSES = re.compile(
    r"subprocess\.|Popen|os\.(?:kill|killpg|system|popen|exec\w+)\b|multiprocessing|\bPool\(|ProcessPoolExecutor"
    r"|\.terminate\(|['\"](?:ps|kill|pkill|killall|pgrep)\b"
)
_KILLING = re.compile(r"os\.kill|\.terminate\(|\.kill\(|\bPool\(|['\"](?:kill|pkill|killall)\b|multiprocessing")
_MACHINE = re.compile(
    r"tesseract|Rscript|rpy2|nltk_data|Resource \S+ not found|pkg_resources|Permission denied|PermissionError"
    r"|Read-only file system|ModuleNotFoundError|No module named|unsupported locale|Glyph|findfont|command not found"
)
_RANDOM = re.compile(r"\brandom\b|\brandint\b|\bshuffle\b|\bfaker\b|uuid4|secrets\.", re.IGNORECASE)
_SEEDED = re.compile(r"seed\(|random_state|RandomState|default_rng\(\d")
_LISTING = re.compile(r"os\.listdir|glob\(|os\.walk|scandir|iterdir")
_CLOCK = re.compile(r"datetime\.now|time\.time\(|utcnow|date\.today|perf_counter")

Rule = Callable[[Evidence], Explanation | None]


def _say(category: Category, because: str, *, shown: bool = True) -> Explanation:
    return Explanation(category=category, because=because, shown=shown)


def _flaky(e: Evidence) -> Explanation | None:
    passes = sum(outcome == "passed" for outcome in e.repeats)
    if e.repeats and passes != (len(e.repeats) if e.passed_here else 0):
        return _say(Category.FLAKY, f"{passes} of {len(e.repeats)} repeated executions here pass")
    if e.control is not None and e.control.flaky:
        return _say(Category.FLAKY, "the control runs of the task disagree with each other")
    return None


def _network(e: Evidence) -> Explanation | None:
    if not e.passed_here and e.control is not None and e.control.needs_network:
        return _say(Category.NETWORK, "the control run says the task needs the network, which is off here")
    if not e.passed_here and e.task in NETWORK_TASKS:
        fails = e.control is not None and not e.control.reference_passes
        return _say(
            Category.NETWORK,
            "the task's own reference needs the network, which is off here"
            + (", and its control run fails" if fails else ""),
            shown=fails or e.recorded_elsewhere,
        )
    text = e.official_text if e.passed_here else e.messages
    whose = "the official run's messages" if e.passed_here else "our sandbox has no network, and our messages"
    if found := _NO_NETWORK.search(text):
        return _say(Category.NETWORK, f"{whose} say “{found.group()}”")
    if found := _CONNECTION.search(text):
        return _say(Category.NETWORK, f"{whose} say “{found.group()}”", shown=False)
    return None


def _reference(e: Evidence) -> Explanation | None:
    if not e.passed_here and e.control is not None and not e.control.reference_passes:
        first = next(run for run in e.control.references if run.outcome != "passed")
        return _say(Category.REFERENCE, f"the reference gives {first.outcome} here: {first.detail}")
    return None


def _data(e: Evidence) -> Explanation | None:
    strangers = sorted(name for name in e.official_details if name != "ALL" and name not in e.planned)
    if strangers:
        return _say(Category.DATA, f"the official run had a test {strangers[0]} that this data version does not have")
    if e.task in CHANGED_TASKS:
        because = "the task's data changed between v0.1.0 and v0.1.4"
        if e.recorded_elsewhere:
            because += f", and on this data the official package says {e.official_here} as we do"
        return _say(Category.DATA, because, shown=e.recorded_elsewhere)
    return None


def _tampering(e: Evidence) -> Explanation | None:
    if e.reason is Reason.TAMPERED:
        return _say(Category.TAMPERING, f"we saw interference with the tests: {e.detail}")
    return None


def _stub(e: Evidence) -> Explanation | None:
    if e.official_status == "pass" and e.reason in (Reason.ENTRY_POINT_MISSING, Reason.EMPTY, Reason.MISSING):
        return _say(Category.STUB, "the answer does not define the function; officially the stub in front passed")
    return None


def _limits(e: Evidence) -> Explanation | None:
    if e.outcome is Outcome.OVER_LIMIT:
        return _say(Category.LIMITS, e.detail)
    return None


def _patched(e: Evidence) -> Explanation | None:
    if not e.passed_here or e.official_status == "pass" or not _PROCESSES.search(e.source):
        return None
    if found := _PATCH_MARKS.search(e.official_text):
        return _say(Category.PATCHED, f"the official details say “{found.group()}”")
    hung = e.official_status == "timeout" or "Timed out" in e.official_text
    if hung and _KILLING.search(e.source):
        return _say(
            Category.PATCHED,
            "it ends processes, which the replaced os.kill refuses, and the official run hung",
            shown=e.official_stands,
        )
    if e.official_stands or _EMPTY_OUTPUT.search(e.official_text):
        return _say(
            Category.PATCHED,
            "it uses process functions, which the official harness replaces"
            + (", and fails under it here as well" if e.official_stands else ""),
            shown=e.official_stands,
        )
    return None


def _official_timeout(e: Evidence) -> Explanation | None:
    if e.passed_here and (e.official_status == "timeout" or "Timed out" in e.official_text):
        return _say(Category.OFFICIAL_TIMEOUT, f"the official run was out of time; here it took {e.wall_seconds:.1f} s")
    return None


def _other_machine(e: Evidence) -> Explanation | None:
    if e.recorded_elsewhere:
        return _say(
            Category.MACHINE,
            f"the official package on this machine says {e.official_here} as we do; its recorded verdict is of "
            f"another machine{_difference_of(e)}",
        )
    return None


def _difference_of(e: Evidence) -> str:
    """What the recorded run met that this machine has otherwise, from its first message."""
    return f", where it met “{first_message(e.official_details)}”" if e.official_details else ""


def _environment(e: Evidence) -> Explanation | None:
    text = e.official_text if e.passed_here else e.messages or e.detail
    if found := _MACHINE.search(text):
        whose = "the official messages say" if e.passed_here else "our messages say"
        return _say(Category.MACHINE, f"{whose} “{found.group()}”", shown=False)
    if e.reason is Reason.LIBRARY_UNAVAILABLE:
        return _say(Category.MACHINE, e.detail)
    if _LISTING.search(e.code) and "sorted(" not in e.code:
        because = "it takes files in the order in which the folder lists them; a sandbox's tmpfs lists newest first"
        return _say(Category.MACHINE, because, shown=False)
    return None


def _chance(e: Evidence) -> Explanation | None:
    agreed = f"; all {len(e.repeats)} repeats here agree" if e.repeats else "; not repeated here (--repeat)"
    if _RANDOM.search(e.source) and not _SEEDED.search(e.source):
        return _say(Category.FLAKY, "it draws random values without a seed" + agreed, shown=False)
    if _CLOCK.search(e.code):
        return _say(Category.FLAKY, "it reads the clock" + agreed, shown=False)
    return None


RULES: tuple[Rule, ...] = (
    _flaky, _network, _tampering, _stub, _limits, _reference, _data, _patched, _official_timeout, _other_machine,
    _environment, _chance,
)  # fmt: skip
"""In the order in which they are asked; among equally strong ones the first wins."""


def explain(evidence: Evidence) -> tuple[Explanation, tuple[Explanation, ...]]:
    """The explanation of a disagreement, and what else fits."""
    found = [explanation for rule in RULES if (explanation := rule(evidence)) is not None]
    found.sort(key=lambda explanation: not explanation.shown)  # stable: the rules' order otherwise
    if not found:
        return _say(Category.UNEXPLAINED, "no rule fits the evidence", shown=False), ()
    return found[0], tuple(found[1:])


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One sample file, compared."""

    file: str
    samples: int
    agree: int
    official_passes: int
    passes: int
    without_official: int
    """Rows of ours for which there is no official verdict; they are not compared."""
    without_row: int
    """Official verdicts for which we have no row; likewise."""
    differing: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleSet:
    """One sample file with its official verdicts."""

    name: str
    """``MODEL/SUBSET-VARIANT``."""
    samples: Path
    verdicts: Path
    subset: str
    variant: str


def find_files(folder: Path, pattern: str) -> list[SampleSet]:
    """The sample files below a folder; raises `SystemExit` when there is none with verdicts."""
    found = []
    for samples in sorted(folder.glob(f"*/*{_SAMPLES}")):
        stem = samples.name.removesuffix(_SAMPLES)
        name = f"{samples.parent.name}/{stem}"
        verdicts = samples.with_name(stem + _VERDICTS)
        subset, _, variant = stem.partition("-")
        if verdicts.exists() and re.search(pattern, name):
            found.append(SampleSet(name=name, samples=samples, verdicts=verdicts, subset=subset, variant=variant))
    if not found:
        raise SystemExit(f"{folder} has no */*{_SAMPLES} with verdicts whose name matches {pattern!r}.")
    return found


class Parity:
    """One comparison: its data, its environment, and what is done for each file."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self.workspace = Workspace.from_environment(os.environ)
        self._environment = open_environment(options.env, self.workspace.home)
        self.target = target_of(self._environment)
        self._ids = tuple(part.strip() for part in (options.ids or "").split(",") if part.strip())

    def compare(self, chosen: SampleSet) -> Compared:
        """Grade or read one file and compare it."""
        problems = BENCHMARK.load(subset=chosen.subset, path=self._options.dataset)
        rows = self._rows(chosen)
        with gzip.open(chosen.verdicts, "rt", encoding="utf-8") as file:
            official: dict[str, list[dict[str, Any]]] = json.load(file)["eval"]
        compared = [row for row in rows if len(official.get(row.problem_id, ())) > row.sample]
        verdicts = {(task, number) for task, entries in official.items() for number in range(len(entries))}
        if self._ids:
            verdicts = {(task, number) for task, number in verdicts if task in self._ids}
        differing = [
            row
            for row in compared
            if (official[row.problem_id][row.sample]["status"] == "pass") != (row.verdict.outcome is Outcome.PASSED)
        ]
        evidence = self._evidence(chosen, problems, differing, official)
        return Compared(
            file=chosen.name,
            samples=len(compared),
            agree=len(compared) - len(differing),
            official_passes=sum(official[row.problem_id][row.sample]["status"] == "pass" for row in compared),
            passes=sum(row.verdict.outcome is Outcome.PASSED for row in compared),
            without_official=len(rows) - len(compared),
            without_row=len(verdicts - {(row.problem_id, row.sample) for row in compared}),
            differing=tuple(evidence),
        )

    def _rows(self, chosen: SampleSet) -> list[ResultRow]:
        if self._options.rows is not None:
            folder = self._options.rows / chosen.name
        else:
            folder = self._options.out / chosen.name
            options = GradeOptions(
                benchmark=BENCHMARK.name,
                samples=chosen.samples,
                workers=self._options.workers,
                variant=chosen.variant,
                subset=chosen.subset,
                data=self._options.dataset,
                environment=self._options.env,
                scores=(Score.CALIBRATED,),
                out=folder,
                ids=self._ids,
                official_limits=self._options.official_limits,
            )
            grade(options, self.workspace, lambda progress: None)
        rows = [row for row in ResultsFolder(folder).rows() if row.score is Score.CALIBRATED]
        return [row for row in rows if not self._ids or row.problem_id in self._ids]

    def _evidence(
        self,
        chosen: SampleSet,
        problems: ProblemSet,
        rows: Sequence[ResultRow],
        official: Mapping[str, Sequence[Mapping[str, Any]]],
    ) -> list[Evidence]:
        if not rows:
            return []
        attempts = {
            (attempt.problem_id, attempt.sample): attempt
            for attempt in BENCHMARK.read_samples(chosen.samples, problems).attempts
        }
        with self.workspace.records() as store:
            controls = store.controls(self.target.digest, guest_version())
            records = {row.job_digest: store.get(row.job_digest) for row in rows if row.job_digest}
        pipeline = Pipeline(
            BENCHMARK, self.target, Isolation.NAMESPACE, controls, official_limits=self._options.official_limits
        )
        found = []
        for row in rows:
            problem = problems.problem(row.problem_id)
            entry = official[row.problem_id][row.sample]
            attempt = attempts.get((row.problem_id, row.sample))
            found.append(
                Evidence(
                    file=chosen.name,
                    task=row.problem_id,
                    sample=row.sample,
                    official_status=str(entry["status"]),
                    official_details={name: str(text) for name, text in entry["details"].items()},
                    outcome=row.verdict.outcome,
                    reason=row.verdict.reason,
                    detail=row.verdict.detail,
                    wall_seconds=row.wall_seconds,
                    messages=_messages(records.get(row.job_digest)) if row.job_digest else "",
                    code=(attempt.solution or "") if attempt else "",
                    problem=problem,
                    planned=frozenset(test.id.rpartition(".")[2] for test in pipeline.plan(problem).tests),
                    control=controls.get(problem.digest),
                )
            )
        if self._options.repeat:
            found = self._repeated(pipeline, problems, attempts, found)
        if self._options.official_here:
            found = self._officially_here(chosen, problems, attempts, found)
        return found

    def _repeated(
        self,
        pipeline: Pipeline,
        problems: ProblemSet,
        attempts: Mapping[tuple[str, int], Attempt],
        found: Sequence[Evidence],
    ) -> list[Evidence]:
        """Execute each again, ``--repeat`` times, with nothing stored or reused."""
        owners: dict[str, list[int]] = collections.defaultdict(list)
        jobs: dict[str, ScheduledJob] = {}
        for index, evidence in enumerate(found):
            attempt = attempts.get((evidence.task, evidence.sample))
            if attempt is None:
                continue
            prepared = pipeline.prepare(problems.problem(evidence.task), attempt, Score.CALIBRATED)
            if prepared.scheduled is not None:
                owners[prepared.scheduled.job.digest].append(index)
                jobs[prepared.scheduled.job.digest] = prepared.scheduled
        waiting = [replace(job) for job in jobs.values() for _ in range(self._options.repeat)]
        outcomes: dict[int, list[str]] = collections.defaultdict(list)
        scheduler = LocalScheduler(self.target, LocalOptions(workers=self._options.workers))
        for job, record in scheduler.run(waiting) if waiting else ():
            outcome = judge(job.plan, record, self.target.unavailable_modules).outcome.value
            for index in owners[job.digest]:
                outcomes[index].append(outcome)
        return [replace(entry, repeats=tuple(outcomes[index])) for index, entry in enumerate(found)]

    def _officially_here(
        self,
        chosen: SampleSet,
        problems: ProblemSet,
        attempts: Mapping[tuple[str, int], Attempt],
        found: Sequence[Evidence],
    ) -> list[Evidence]:
        """Ask the official package on this machine about each."""
        package = official_package.overlay(self.workspace.home, self._environment)
        tasks = [entry.task for entry in found]
        asked = [attempt for key, attempt in attempts.items() if key[0] in tasks]
        asked = [attempt for attempt in asked if attempt.solution is not None]
        if not asked:
            return list(found)
        numbers: dict[str, list[int]] = collections.defaultdict(list)
        for attempt in asked:
            numbers[attempt.problem_id].append(attempt.sample)
        with tempfile.TemporaryDirectory(prefix="bw-parity-") as temporary:
            run = official_package.run(
                environment=self._environment,
                package=package,
                data=self._options.dataset,
                samples=[{"task_id": attempt.problem_id, "solution": attempt.solution} for attempt in asked],
                task_ids=[problem.id for problem in problems.problems if problem.id in numbers],
                subset=chosen.subset,
                variant=chosen.variant,
                workers=self._options.workers,
                folder=Path(temporary) / "official",
            )
        statuses = {
            (task, number): str(entry["status"])
            for task, entries in run.results.items()
            for number, entry in zip(numbers[task], entries, strict=True)
        }
        return [replace(entry, official_here=statuses.get((entry.task, entry.sample))) for entry in found]


def _messages(record: ExecutionRecord | None) -> str:
    if record is None:
        return ""
    texts = [test.message for test in record.tests if test.message]
    if record.load_error is not None:
        texts.append(record.load_error.message)
    return "\n".join([*texts, record.output])


def report(files: Sequence[Compared], facts: Mapping[str, Any], options: argparse.Namespace) -> str:
    """The report in Markdown."""
    total, agree = sum(file.samples for file in files), sum(file.agree for file in files)
    met = "met" if agree >= GOAL * total else "NOT met"
    lines = [
        "# Parity with the official verdicts",
        "",
        (
            f"Generated {facts['date']} by `benchmarks/parity.py`; guest {facts['guest_version']}, environment "
            f"{options.env}, {'official' if options.official_limits else 'default'} limits, network off, calibrated. "
            f"Repeats of each disagreement: {options.repeat}; official package asked here: "
            f"{'yes' if options.official_here else 'no'}."
        ),
        "",
        f"**{agree} of {total} samples agree ({agree / total:.2%}); goal {GOAL:.1%}: {met}.**",
        "",
        "| file | samples | agree | share | official passes | ours |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {file.file} | {file.samples} | {file.agree} | {file.agree / max(1, file.samples):.2%} "
        f"| {file.official_passes} | {file.passes} |"
        for file in files
    ]
    lines += [
        f"\n{file.file}: not compared: {file.without_official} rows without an official verdict, "
        f"{file.without_row} official verdicts without a row."
        for file in files
        if file.without_official or file.without_row
    ]
    explained = [(entry, *explain(entry)) for file in files for entry in file.differing]
    counts = collections.Counter((e.category.value, e.shown) for _, e, _ in explained)
    lines += ["", "## Causes", "", "| cause | evidence | samples |", "|---|---|---:|"]
    lines += [
        f"| {category} | {'shown' if shown else 'consistent'} | {count} |"
        for (category, shown), count in sorted(counts.items())
    ]
    lines += [
        "",
        "*Shown*: the evidence is of the cause itself.  *Consistent*: it fits the cause, which was not reproduced.",
        "",
        "## Each disagreement",
        "",
        "| task | file | official | its first message | ours | detail | repeats | official here | explanation |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    lines += [_report_row(entry, first, others) for entry, first, others in explained]
    return "\n".join(lines) + "\n"


def _report_row(entry: Evidence, first: Explanation, others: Iterable[Explanation]) -> str:
    passes = sum(outcome == "passed" for outcome in entry.repeats)
    repeats = f"{passes}/{len(entry.repeats)} pass" if entry.repeats else "–"
    also = "; ".join(f"{other.category.value}: {other.because}" for other in others)
    explanation = f"**{first.category.value}** ({'shown' if first.shown else 'consistent'}): {first.because}"
    cells = (
        f"{entry.task}{f' #{entry.sample}' if entry.sample else ''}",
        entry.file,
        entry.official_status,
        first_message(entry.official_details),
        f"{entry.outcome.value}/{entry.reason.value}",
        entry.detail,
        repeats,
        entry.official_here or "–",
        explanation + (f"; also fits: {also}" if also else ""),
    )
    return "| " + " | ".join(_cell(text) for text in cells) + " |"


def first_message(details: Mapping[str, str]) -> str:
    """The exception of the first failing test, without its traceback."""
    for name, text in details.items():
        lines = [line for line in text.splitlines() if line and not line.startswith((" ", "Traceback"))]
        return f"{name}: {lines[0] if lines else text.strip()}"
    return ""


def _cell(text: str) -> str:
    shortened = text if len(text) <= _CELL_CHARACTERS else text[: _CELL_CHARACTERS - 1] + "…"
    return " ".join(shortened.split()).replace("|", "\\|")


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the report; 1 when a disagreement has no explanation."""
    options = _parser().parse_args(arguments)
    if (options.rows is None) == (options.out is None):
        raise SystemExit("Give either --out (grade now, go on there) or --rows (read earlier gradings).")
    parity = Parity(options)
    files = []
    for chosen in find_files(options.folder, options.files):
        compared = parity.compare(chosen)
        files.append(compared)
        share = compared.agree / max(1, compared.samples)
        print(f"{compared.file:<48}{compared.agree:>6} of {compared.samples:>5} agree ({share:.2%})", flush=True)
    total, agree = sum(file.samples for file in files), sum(file.agree for file in files)
    if not total:
        raise SystemExit("Nothing was compared: no sample has both a row and an official verdict.")
    text = report(files, measuring.machine_facts(), options)
    options.report.write_text(text, encoding="utf-8")
    print(f"{'total':<48}{agree:>6} of {total:>5} agree ({agree / total:.2%}), goal {GOAL:.1%}; see {options.report}")
    unexplained = [
        entry for file in files for entry in file.differing if explain(entry)[0].category is Category.UNEXPLAINED
    ]
    for entry in unexplained:
        print(
            f"UNEXPLAINED {entry.task} in {entry.file}: official {entry.official_status}, ours {entry.outcome.value} "
            f"({entry.detail})",
            file=sys.stderr,
        )
    return 1 if unexplained else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--dataset", type=Path, required=True, help="the benchmark's rows")
    parser.add_argument("--folder", type=Path, required=True, help="sample files and official verdicts by model")
    parser.add_argument("--files", default="", help="regular expression on MODEL/SUBSET-VARIANT")
    parser.add_argument("--ids", help="only these tasks, separated by commas")
    parser.add_argument("--out", type=Path, help="grade into this folder, or go on there")
    parser.add_argument("--rows", type=Path, help="read gradings made earlier with --out")
    parser.add_argument("--env", default="bigcodebench")
    parser.add_argument("--workers", type=int, default=default_workers())
    parser.add_argument("--official-limits", action="store_true", help="grade with 240 s for every sample")
    parser.add_argument("--repeat", type=int, default=0, help="execute each disagreeing sample this often again")
    parser.add_argument("--official-here", action="store_true", help="run the official package on them as well")
    parser.add_argument("--report", type=Path, default=Path("parity.md"), help="the report to write")
    return parser


if __name__ == "__main__":
    measuring.run_program(main)
