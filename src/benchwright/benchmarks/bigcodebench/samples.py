"""Sample files in the official format: what models answered, as one file or a folder of them."""

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from benchwright.answers.reading import MAX_ANSWER_BYTES, too_large, unreadable_because
from benchwright.benchmarks.base import ProblemSet, SampleFile
from benchwright.benchmarks.jsonl import JsonLine, read_json_lines, type_name
from benchwright.core.attempts import Attempt, Ending
from benchwright.core.digest import digest_of
from benchwright.core.errors import UnknownNameError, UsageError
from benchwright.core.problems import FunctionProblem
from benchwright.core.verdicts import Reason

_SUFFIXES = (".jsonl", ".jsonl.gz")
# The official tool writes `<model>--bigcodebench-<backend>-<temperature>-<n>-….jsonl`.
_MODEL_SEPARATOR = "--bigcodebench-"
_RESULT_MARKS = ("eval_results", "pass_at_k")
_RUN_JOURNAL = "replies.jsonl"
_RESULT_MANIFEST, _RESULT_SAMPLES = "manifest.json", "samples.jsonl"
# How many unknown ids an error names before it only counts them.
_NAMED = 5


def read_samples(path: Path, problems: ProblemSet) -> SampleFile:
    """Read the attempts of a file, or of all sample files in a folder, for a set of problems.

    Samples of a task are numbered in file order unless the rows carry a ``sample`` number.  Raises
    `UsageError`, naming file and line, for anything that cannot be attributed to a task: malformed JSON, a
    compressed file that ends early, unknown tasks, the same (task, sample) twice, answers of several models.
    An answer that is attributed but cannot be used (null, not a string, not UTF-8, too large) is an attempt.
    """
    files = _sample_files(path)
    reading = _Reading(problems)
    digests: list[tuple[str, str]] = []
    for file in files:
        hasher = hashlib.sha256()
        reading.enter(file)
        for line in read_json_lines(file, hasher):
            reading.add(line, f"{file}, line {line.number}")
        digests.append((file.name, hasher.hexdigest()))
    reading.refuse_unknown(path)
    model = reading.one_model(path) or path.resolve().parent.name
    if not reading.attempts:
        raise UsageError(f"{path} holds no samples; expected one JSON object per line.")
    counts = reading.numbered
    return SampleFile(
        name=path.name,
        digest=digest_of(digests) if path.is_dir() else digests[0][1],
        files=tuple(str(file) for file in files),
        model=model,
        attempts=tuple(reading.attempts),
        missing=tuple(problem.id for problem in problems.problems if problem.id not in counts),
        fewest_samples=min(counts.values()),
        most_samples=max(counts.values()),
        variant=next(iter(reading.variants)) if len(reading.variants) == 1 else None,
    )


def _sample_files(path: Path) -> list[Path]:
    if not path.is_dir():
        if not path.exists():
            raise UsageError(f"There is no file {path}.")
        return [path]
    if (path / _RESULT_SAMPLES).exists() and any((path / mark).exists() for mark in (_RUN_JOURNAL, _RESULT_MANIFEST)):
        return [path / _RESULT_SAMPLES]  # the folder of a run or of a grading
    files = sorted(
        file
        for file in path.iterdir()
        if file.name.endswith(_SUFFIXES) and not any(mark in file.name for mark in _RESULT_MARKS)
    )
    if not files:
        raise UsageError(f"The folder {path} holds no sample file; expected names that end in .jsonl or .jsonl.gz.")
    return files


class _Unknown(NamedTuple):
    task_id: str
    where: str


@dataclass(slots=True)
class _Reading:
    """What was read so far; grows line by line."""

    problems: ProblemSet
    attempts: list[Attempt] = field(default_factory=list)
    numbered: Counter[str] = field(default_factory=Counter)
    """Samples so far, by task."""
    explicit: dict[tuple[str, int], str] = field(default_factory=dict)
    """Where each sample with a number of its own stands."""
    identifiers: dict[str, str] = field(default_factory=dict)
    """Where each ``_identifier`` stands."""
    first_numbering: tuple[bool, str] | None = None
    """Whether the first row had a number of its own, and where it stands."""
    unknown: dict[str, _Unknown] = field(default_factory=dict)
    variants: set[str] = field(default_factory=set)
    """Prompt variants that rows name."""
    models: dict[str, str] = field(default_factory=dict)
    """Where each model was named first; names guessed from a folder do not count."""
    file_model: str = ""
    folder_model: str = ""

    def enter(self, file: Path) -> None:
        """Turn to the next file."""
        before, separator, _ = file.name.partition(_MODEL_SEPARATOR)
        self.file_model = before if separator else ""
        self.folder_model = file.resolve().parent.name

    def add(self, line: JsonLine, where: str) -> None:
        """Take the sample of a line."""
        row = line.value
        task_id = _task_id(row, where)
        answer = _answer_field(row, where)
        problem = self.problems.by_id.get(task_id)
        if problem is None:
            self.unknown.setdefault(task_id, _Unknown(task_id, where))
            return
        solution, unreadable = _usable(row[answer], answer, problem, line.undecodable)
        if isinstance(row.get("unreadable"), str):  # as a grading kept it: the answer itself could not be
            solution, unreadable = None, row["unreadable"]
        if isinstance(row.get("variant"), str):
            self.variants.add(row["variant"])
        raw, lead = row.get("raw_solution"), _text_or_empty(row, "lead", where)
        if row.get("lead_in_raw") is True and isinstance(raw, str):
            raw = raw.removeprefix(lead)
        self.attempts.append(
            Attempt(
                problem_id=problem.id,
                sample=self._number(row, problem.id, where),
                solution=solution,
                raw_text=_raw_text(raw, solution),
                prefill=lead,
                model=self._model(row, where),
                ending=_ending(row, where),
                ending_detail=_text_or_empty(row, "ending_detail", where),
                unreadable=unreadable,
            )
        )
        self.numbered[problem.id] += 1

    def refuse_unknown(self, path: Path) -> None:
        """Raise if any line was for a task that is not in the set."""
        if not self.unknown:
            return
        parts = [
            f"{entry.task_id!r} ({entry.where}{self._near(entry.task_id)})"
            for entry in list(self.unknown.values())[:_NAMED]
        ]
        more = f" and {len(self.unknown) - _NAMED} more" if len(self.unknown) > _NAMED else ""
        raise UsageError(
            f"{path} answers {len(self.unknown)} task{'s' if len(self.unknown) > 1 else ''} that "
            f"{self.problems.benchmark} {self.problems.version} (subset {self.problems.subset}, "
            f"{len(self.problems.problems)} tasks) does not have: {', '.join(parts)}{more}."
        )

    def one_model(self, path: Path) -> str:
        """The model named in rows or file names, or else the folder's name; raises if there are several."""
        if len(self.models) > 1:
            named = "; ".join(f"{model} ({where})" for model, where in list(self.models.items())[:_NAMED])
            raise UsageError(f"{path} holds answers of {len(self.models)} models: {named}; grade each by itself.")
        return next(iter(self.models), self.folder_model)

    def _number(self, row: Mapping[str, Any], task_id: str, where: str) -> int:
        self._check_identifier(row, where)
        own = row.get("sample")
        if own is not None and (isinstance(own, bool) or not isinstance(own, int) or own < 0):
            raise UsageError(f"{where}: the field 'sample' is {own!r:.40}; expected a number from 0.")
        numbering = own is not None
        if self.first_numbering is None:
            self.first_numbering = (numbering, where)
        elif self.first_numbering[0] is not numbering:
            raise UsageError(
                f"{where} has {'a' if numbering else 'no'} 'sample' number, "
                f"unlike {self.first_numbering[1]}; number all samples or none."
            )
        if own is None:
            return self.numbered[task_id]
        earlier = self.explicit.setdefault((task_id, own), where)
        if earlier is not where:
            raise UsageError(f"{where}: sample {own} of {task_id} was already given in {earlier}.")
        return own

    def _check_identifier(self, row: Mapping[str, Any], where: str) -> None:
        identifier = row.get("_identifier")
        if isinstance(identifier, str):
            earlier = self.identifiers.setdefault(identifier, where)
            if earlier is not where:
                raise UsageError(f"{where}: the sample {identifier!r} was already given in {earlier}.")

    def _model(self, row: Mapping[str, Any], where: str) -> str:
        named = row.get("model")
        model = named if isinstance(named, str) and named else self.file_model
        if model:
            self.models.setdefault(model, where)
        return model or self.folder_model

    def _near(self, task_id: str) -> str:
        known = self.problems.by_id
        # The spellings that tools and file systems make of an id, before asking for similar ones.
        for spelling in (task_id.strip(), task_id.strip().replace("_", "/")):
            if spelling in known:
                return f"; did you mean {spelling}?"
        message = str(UnknownNameError("task", task_id, known))
        _, marker, hint = message.partition("; did you mean ")
        return f"; did you mean {hint}" if marker else ""


def _task_id(row: Mapping[str, Any], where: str) -> str:
    if "task_id" not in row:
        raise UsageError(f"{where}: the field 'task_id' is missing.")
    task_id = row["task_id"]
    if not isinstance(task_id, str):
        raise UsageError(f"{where}: the field 'task_id' is {type_name(task_id)}; expected a string.")
    return task_id


def _answer_field(row: Mapping[str, Any], where: str) -> str:
    """Which field holds the answer; ``solution`` comes first, as for the official tool."""
    for name in ("solution", "completion"):
        if name in row:
            return name
    raise UsageError(f"{where}: expected a field 'solution' or 'completion'; found {', '.join(row)}.")


def _usable(
    value: object, field_name: str, problem: FunctionProblem, undecodable: int | None
) -> tuple[str | None, str | None]:
    """The code, or None and the words for `Attempt.unreadable`; null is an empty answer."""
    if undecodable is not None:
        return None, unreadable_because(Reason.NOT_TEXT, f"byte {undecodable} of the line is not UTF-8")
    if value is None:
        return None, None
    if not isinstance(value, str):
        words = f"the {field_name} is {type_name(value)}, not a string"
        return None, unreadable_because(Reason.NOT_TEXT, words)
    code = problem.prompts["complete"] + value if field_name == "completion" else value
    oversize = too_large(code)
    return (code, None) if oversize is None else (None, oversize)


def _text_or_empty(row: Mapping[str, Any], name: str, where: str) -> str:
    value = row.get(name, "")
    if not isinstance(value, str):
        raise UsageError(f"{where}: the field {name!r} is {type_name(value)}; expected a string.")
    return value


def _ending(row: Mapping[str, Any], where: str) -> Ending:
    """How the reply ended, in files that say so (`bw run` writes them); others hold finished replies."""
    value = row.get("ending", Ending.SUBMITTED.value)
    try:
        return Ending(value)
    except ValueError:
        known = ", ".join(ending.value for ending in Ending)
        raise UsageError(f"{where}: the field 'ending' is {value!r:.40}; expected one of {known}.") from None


def _raw_text(raw: object, solution: str | None) -> str | None:
    if not isinstance(raw, str) or len(raw) > MAX_ANSWER_BYTES:
        return None
    return solution if raw == solution else raw  # one copy in memory where both are the same
