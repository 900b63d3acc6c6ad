"""The results folder of one grading.

manifest.json     what was graded, in what, by which versions; schema version; written first, completed last
rows.jsonl        one JSON line per attempt and score
plans.json        planned tests by problem and what its stub gives, so that regrading needs neither data nor execution
problems.jsonl    what breakdowns need to know of each problem
samples.jsonl     of functions: what was graded, as a sample file that can be graded again
preds.json        of patches: what was graded, as the official harness reads it
jobs.jsonl        of functions: what jobs are made of besides the answers
tests.jsonl       of patches: the tests that decide
.lock             held while a grading writes
"""

import contextlib
import fcntl
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchwright.core.errors import MachineError, UsageError
from benchwright.core.execution import PlannedTest, TestPlan
from benchwright.core.results import ProblemFacts
from benchwright.core.runs import ResultRow, Score
from benchwright.core.verdicts import Outcome, Reason, Verdict
from benchwright.store.durable import replacing
from benchwright.store.entry_checks import check_problem, check_row
from benchwright.store.upgrades import Kind, schema_of, upgraded

MANIFEST, ROWS, PLANS = "manifest.json", "rows.jsonl", "plans.json"
PROBLEMS, SAMPLES = "problems.jsonl", "samples.jsonl"
PATCHES = "preds.json"
JOBS, TESTS = "jobs.jsonl", "tests.jsonl"
RUN = "run.json"
"""Description of a run, which is there before its manifest."""
LOGS = "logs"
"""Folder of a run's transcripts."""
ATTEMPTS, PREDICTIONS = "attempts.jsonl", "predictions.jsonl"
"""Of a run of an agent: what became of each sample, and the patches of the first one of every instance."""
ASIDE = "before-regrade"
"""What is in the names of files that a regrading has kept aside."""
_PREDICTIONS = re.compile(r"predictions(-[1-9][0-9]*)?\.jsonl")


def predictions_of(sample: int) -> str:
    """The file with the patches of an agent's samples of this number: ``predictions-2.jsonl`` of those numbered 1."""
    stem, _, ending = PREDICTIONS.partition(".")
    return f"{stem}-{sample + 1}.{ending}" if sample else PREDICTIONS


def is_predictions(name: str) -> bool:
    """Whether a file is one of those that `predictions_of` names."""
    return bool(_PREDICTIONS.fullmatch(name))


class ResultsFolder:
    """Reads and writes one results folder."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def rows_path(self) -> Path:
        """Where the rows are."""
        return self.path / ROWS

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder for writing; raises `UsageError` when another grading has it."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self.path / ".lock", os.O_CREAT | os.O_RDWR, 0o644)
        except OSError as error:
            raise UsageError(
                f"The output folder {self.path} cannot be written ({error.strerror}); choose another with --out."
            ) from error
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise UsageError(
                    f"Another grading is writing into {self.path} now; wait for it or choose another folder with --out."
                ) from error
            yield
        finally:
            os.close(descriptor)

    def manifest(self) -> dict[str, Any]:
        """The manifest in this version's schema; raises `UsageError` when the folder holds none that it can read."""
        path = self.path / MANIFEST
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            if not self.path.exists():
                raise UsageError(f"There is no folder {self.path}.") from None
            if (self.path / RUN).exists():
                raise UsageError(
                    f"{self.path} holds a run that is not finished; give its command again first."
                ) from None
            raise UsageError(
                f"{self.path} holds no {MANIFEST}; give a folder that `bw grade` wrote (it prints its path)."
            ) from None
        except (OSError, ValueError, RecursionError) as error:
            raise UsageError(f"{path} cannot be read ({error}); move the folder away and grade again.") from error
        return upgraded(Kind.MANIFEST, data, path)

    def finished_manifest(self) -> dict[str, Any]:
        """The manifest of a grading that has come to its end; raises `UsageError` for any other."""
        manifest = self.manifest()
        if manifest.get("status") != "complete":
            why = manifest.get("stopped") or "it was interrupted"
            raise UsageError(f"What is in {self.path} is not finished ({why}); give its command again first.")
        return manifest

    def has_manifest(self) -> bool:
        """Whether a grading has been here."""
        return (self.path / MANIFEST).exists()

    def refuse_other(self, manifest: Mapping[str, Any]) -> None:
        """Raise `UsageError` when the folder holds a grading whose ``run_id`` is another one."""
        if not self.has_manifest():
            return
        found = self.manifest()
        if found.get("run_id") == manifest["run_id"]:
            return
        names = [name for name, value in manifest.items() if name in found and found[name] != value]
        names = [name for name in names if name != "run_id"]
        raise UsageError(
            f"{self.path} holds another grading (it differs in {', '.join(names) or 'its identity'}); "
            f"choose another folder with --out, or move that one away."
        )

    def write_manifest(self, manifest: dict[str, Any]) -> None:
        """Write the manifest, all or nothing."""
        self._write(MANIFEST, [json.dumps({"schema": schema_of(Kind.MANIFEST), **manifest}, indent=2) + "\n"])

    def write_run(self, document: dict[str, Any]) -> None:
        """Write the description of a run, all or nothing."""
        self._write(RUN, [json.dumps({"schema": schema_of(Kind.RUN), **document}, indent=2) + "\n"])

    def run_description(self) -> dict[str, Any] | None:
        """The description of a run, or None when there is none; raises `UsageError` when it cannot be read."""
        path = self.path / RUN
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError) as error:
            raise UsageError(f"{path} cannot be read ({error}); move the folder away and run again.") from error
        return upgraded(Kind.RUN, document, path)

    def write_plans(
        self, plans: Mapping[str, TestPlan], given_names: Mapping[str, frozenset[str]] | None = None
    ) -> None:
        """Write the planned tests by problem id, and the names that each problem's stub gives."""
        plain: dict[str, dict[str, Any]] = {
            problem: {"class": plan.class_name, "tests": [[t.id, list(t.decorators)] for t in plan.tests]}
            for problem, plan in plans.items()
        }
        for problem, names in (given_names or {}).items():
            plain[problem]["given"] = sorted(names)
        self._write(PLANS, [json.dumps(plain) + "\n"])

    def plans(self) -> dict[str, TestPlan]:
        """Planned tests by problem id, without their source; raises `UsageError` when they cannot be read."""
        with self._readable_plans() as plain:
            return {
                problem: TestPlan(
                    source="",
                    class_name=entry["class"],
                    tests=tuple(PlannedTest(id=t[0], decorators=tuple(t[1])) for t in entry["tests"]),
                )
                for problem, entry in plain.items()
            }

    def given_names(self) -> dict[str, frozenset[str]] | None:
        """The names that each problem's stub gives; None when the grading did not write them down."""
        with self._readable_plans() as plain:
            if not all("given" in entry for entry in plain.values()):
                return None
            return {problem: frozenset(entry["given"]) for problem, entry in plain.items()}

    @contextlib.contextmanager
    def _readable_plans(self) -> Iterator[dict[str, Any]]:
        path = self.path / PLANS
        try:
            yield json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise UsageError(f"{path} cannot be read ({error}); grade again to make it anew.") from error

    def write_rows(self, rows: Iterable[ResultRow]) -> None:
        """Write all rows, all or nothing."""
        self._write(ROWS, (json.dumps(row_to_plain(row), ensure_ascii=False) + "\n" for row in rows))

    def write_lines(self, name: str, documents: Iterable[dict[str, Any]]) -> None:
        """Write a file of JSON lines, all or nothing."""
        self._write(name, (json.dumps(document) + "\n" for document in documents))

    def rows(self) -> Iterator[ResultRow]:
        """The rows in file order; raises `UsageError` naming the line that cannot be read."""
        try:
            file = self.rows_path.open("rb")
        except OSError as error:
            raise UsageError(
                f"{self.rows_path} cannot be read ({error.strerror}); has the grading finished?"
            ) from error
        with file:
            for number, line in enumerate(file, 1):
                try:
                    row = row_from_plain(json.loads(line))
                    check_row(row)
                except (ValueError, KeyError, TypeError, RecursionError) as error:
                    raise UsageError(f"{self.rows_path}, line {number} is not a result row ({error}).") from error
                yield row

    def write_problem_facts(self, facts: Iterable[ProblemFacts]) -> None:
        """Write what is known of each problem, all or nothing."""
        self.write_lines(PROBLEMS, (one.to_plain() for one in facts))

    def problem_facts(self) -> dict[str, ProblemFacts]:
        """What is known of the problems, by id; empty when the grading did not write it down.

        Raises `UsageError` naming the line that cannot be read.
        """
        path = self.path / PROBLEMS
        try:
            return facts_from_lines(path.read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise UsageError(f"{path} cannot be read ({error}); grade again to make it anew.") from error

    def content(self, name: str) -> bytes | None:
        """A file of the folder; None when there is none.  Raises `UsageError` when it cannot be read."""
        path = self.path / name
        try:
            return path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise UsageError(f"{path} cannot be read ({error.strerror}); look at its folder.") from error

    def keep_aside(self, name: str) -> Path:
        """Rename a file of the folder, so that it is kept when it is written anew; returns its new path."""
        target = self.path / f"{Path(name).stem}.{ASIDE}{Path(name).suffix}"
        count = 1
        while target.exists():
            count += 1
            target = self.path / f"{Path(name).stem}.{ASIDE}-{count}{Path(name).suffix}"
        (self.path / name).rename(target)
        return target

    def _write(self, name: str, lines: Iterable[str]) -> None:
        try:
            with replacing(self.path / name) as file:
                file.writelines(line.encode("utf-8", "backslashreplace") for line in lines)
        except OSError as error:
            raise MachineError(
                f"{self.path / name} could not be written ({error.strerror}); finished executions are kept, give the "
                f"same command again once there is room."
            ) from error


def now() -> str:
    """The time as manifests have it: UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def facts_from_lines(data: bytes) -> dict[str, ProblemFacts]:
    """What ``problems.jsonl`` says, by problem id; raises ``ValueError`` naming the line that is something else."""
    found = {}
    for number, line in enumerate(data.splitlines(), 1):
        try:
            plain = json.loads(line)
            check_problem(plain)
            facts = ProblemFacts.from_plain(plain)
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise ValueError(f"line {number} says nothing of a problem: {error}") from error
        found[facts.id] = facts
    return found


def row_to_plain(row: ResultRow) -> dict[str, Any]:
    """A row as the plain data of its JSON line."""
    verdict = row.verdict
    return {
        "problem_id": row.problem_id,
        "sample": row.sample,
        "score": row.score.value,
        "outcome": verdict.outcome.value,
        "reason": verdict.reason.value,
        "detail": verdict.detail,
        "tests": {"planned": verdict.planned, "passed": verdict.passed},
        "wall_seconds": row.wall_seconds,
        "cpu_seconds": row.cpu_seconds,
        "memory_peak_bytes": row.memory_peak_bytes,
        "strategy": row.strategy,
        "notes": list(row.notes),
        "missing_names": list(row.missing_names),
        "job": row.job_digest,
        "record": verdict.record_digest,
        "judge_version": verdict.judge_version,
    }


def row_from_plain(data: dict[str, Any]) -> ResultRow:
    """A row from the plain data of its JSON line; ``KeyError``, ``TypeError`` or ``ValueError`` when it is none."""
    verdict = Verdict(
        outcome=Outcome(data["outcome"]),
        reason=Reason(data["reason"]),
        detail=data["detail"],
        planned=data["tests"]["planned"],
        passed=data["tests"]["passed"],
        judge_version=data["judge_version"],
        record_digest=data["record"],
    )
    return ResultRow(
        problem_id=data["problem_id"],
        sample=data["sample"],
        score=Score(data["score"]),
        verdict=verdict,
        job_digest=data["job"],
        wall_seconds=data["wall_seconds"],
        cpu_seconds=data["cpu_seconds"],
        memory_peak_bytes=data["memory_peak_bytes"],
        strategy=data.get("strategy", ""),  # not in rows written before 0.2
        notes=_texts(data.get("notes", [])),
        missing_names=_texts(data.get("missing_names", [])),
    )


def _texts(value: object) -> tuple[str, ...]:
    """A list's parts, which `check_row` looks at; a text, too, has parts, and is no list."""
    if not isinstance(value, list):
        raise TypeError(f"expected a list, got {value!r:.40}")
    return tuple(value)
