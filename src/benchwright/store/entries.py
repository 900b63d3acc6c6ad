"""An entry of the store as plain data: the run, what its verdicts come to, and the digest it is kept under."""

import dataclasses
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from benchwright.core.digest import digest_of
from benchwright.core.errors import UsageError
from benchwright.core.results import ModelFacts, Origin, ReportedScore, Source, StoredRun
from benchwright.core.runs import ResultRow, Score
from benchwright.store.entry_checks import LONGEST_TEXT, check_generation, check_run
from benchwright.store.upgrades import Kind, schema_of, upgraded

ENTRY_FILE, ROWS_FILE = "entry.json", "rows.parquet"
FOREIGN_FILE = "foreign"
"""Empty; beside an entry that this store took in and did not record.  It goes into place with the entry."""


def run_to_plain(run: StoredRun) -> dict[str, Any]:
    """A run as plain data, without its manifest; stable under :func:`run_from_plain`."""
    plain = {field.name: getattr(run, field.name) for field in dataclasses.fields(run) if field.name != "manifest"}
    return {
        **plain,
        "origin": run.origin.value,
        "source": run.source and run.source.to_plain(),
        "scores": [score.value for score in run.scores],
        "reported": [dataclasses.asdict(one) for one in run.reported],
        "flags": list(run.flags),
        "facts": run.facts.to_plain(),
        "evaluation": None if run.evaluation is None else dict(run.evaluation),
        "files": dict(run.files),
    }


def run_from_plain(data: Mapping[str, Any]) -> StoredRun:
    """Rebuild from :func:`run_to_plain` data; raises ``ValueError`` on others."""
    check_run(data)
    return StoredRun(
        **{
            **data,
            "origin": Origin(data["origin"]),
            "source": None if data["source"] is None else Source.from_plain(data["source"]),
            "scores": tuple(Score(name) for name in data["scores"]),
            "reported": tuple(ReportedScore(**one) for one in data["reported"]),
            "flags": tuple(data["flags"]),
            "facts": ModelFacts.from_plain(data["facts"]),
        }
    )


def content_digest(run: StoredRun, rows: Iterable[ResultRow]) -> str:
    """Digest of what a run says, whenever and however fast it came to that.

    Times, machines' figures, and where and when the run was recorded do not enter: the same verdicts recorded again
    have the same digest.
    """
    verdicts = sorted(
        [
            row.problem_id,
            row.sample,
            row.score.value,
            row.verdict.outcome.value,
            row.verdict.reason.value,
            row.verdict.planned,
            row.verdict.passed,
            row.verdict.judge_version,
        ]
        for row in rows
    )
    plain = run_to_plain(run)
    for name in ("entry", "finished", "recorded", "supersedes", "files"):
        plain.pop(name)
    return _digest({"run": plain, "verdicts": verdicts})


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What ``entry.json`` holds."""

    run: StoredRun
    """Without its manifest, which is one of the entry's files."""
    content: str
    """As `content_digest` has it."""
    generation: int
    """1 for the first entry of a run, one more than that of the entry it supersedes for others."""
    foreign: bool = False
    """Whether it was taken in from elsewhere; the store knows that, and the file does not say it."""

    @classmethod
    def sealed(cls, run: StoredRun, content: str, generation: int, *, foreign: bool = False) -> "Entry":
        """An entry under the digest of what it holds; raises `UsageError` for what no entry can hold."""
        _refuse_unfit(run, generation)
        entry = cls(run=run, content=content, generation=generation, foreign=foreign)
        return dataclasses.replace(entry, run=dataclasses.replace(run, entry=_digest(entry._signed()), manifest={}))

    def _signed(self) -> dict[str, Any]:
        plain = run_to_plain(self.run)
        plain.pop("entry")
        return {
            "schema": schema_of(Kind.ENTRY),
            "content": self.content,
            "generation": self.generation,
            "run": plain,
        }

    def to_bytes(self) -> bytes:
        """The file's content; plain ASCII, whatever names are in it."""
        return json.dumps({"entry": self.run.entry, **self._signed()}, indent=1).encode() + b"\n"

    @classmethod
    def from_bytes(cls, data: bytes, name: str) -> "Entry":
        """Read ``entry.json`` of the entry called ``name``.

        Raises:
            UnknownSchemaError: A version that is not known wrote it.
            ValueError: It is damaged, or not what its name says; the message is a clause.
        """
        try:
            document = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{ENTRY_FILE} is no JSON ({error})") from error
        before = dict(document) if isinstance(document, dict) else document
        document = upgraded(Kind.ENTRY, document, f"run {name[:12]} of the store")
        if not isinstance(before, dict) or before.pop("entry", None) != name or digest_of(before) != name:
            raise ValueError(f"{ENTRY_FILE} is not what was written under this name")
        try:
            run = run_from_plain({**document["run"], "entry": name})
            if not isinstance(document["content"], str) or len(document["content"]) > LONGEST_TEXT:
                raise ValueError("it has no digest of its content")
            return cls(run=run, content=document["content"], generation=check_generation(document["generation"]))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(f"{ENTRY_FILE} does not describe a run ({error})") from error


def _refuse_unfit(run: StoredRun, generation: int) -> None:
    """Raise `UsageError` for what nobody could read again."""
    try:
        run_from_plain(json.loads(json.dumps(run_to_plain(run))))
        check_generation(generation)
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"The run says something that no run can say ({error}); leave it out or mend it.") from error


def _digest(value: Any) -> str:
    try:
        return digest_of(value)
    except ValueError as error:
        raise UsageError(f"The run holds a number that is not finite ({error}); leave it out or mend it.") from error
