"""Exclusions and mends as data: which problems are left out or have their test lists changed, why, and by whom."""

import contextlib
import enum
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from benchwright.benchmarks.documents import decoded, unpacked
from benchwright.benchmarks.jsonl import type_name
from benchwright.benchmarks.repositories import RepositorySet, digest_of_repository_problems, has_tests
from benchwright.benchmarks.swebench.rows import with_digest
from benchwright.benchmarks.writing import write_text
from benchwright.core.digest import digest_of
from benchwright.core.errors import UnknownNameError, UsageError
from benchwright.core.repositories import RepositoryProblem

SCHEMA_VERSION = 1

_FOLDER = resources.files("benchwright.benchmarks.swebench") / "exclusions"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_MAX_LIST_BYTES = 64 * 1024 * 1024


class Kind(enum.StrEnum):
    """What an entry asks for."""

    EXCLUDE = "exclude"
    """Leave the problem out."""
    MEND = "mend"
    """Change its test lists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TestChange:
    """What a mend does to one of the two test lists."""

    __test__ = False

    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()

    def applied(self, tests: Sequence[str]) -> tuple[str, ...]:
        """The list with the change made; what is there already, or gone already, stays as it is."""
        return (*(test for test in tests if test not in self.remove), *(test for test in self.add if test not in tests))

    def to_plain(self) -> dict[str, list[str]]:
        """The change as plain data."""
        return {"add": list(self.add), "remove": list(self.remove)}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExclusionEntry:
    """One problem in one list."""

    id: str
    kind: Kind
    reason: str
    """Why, in one plain sentence."""
    evidence: tuple[str, ...]
    """Where that can be checked: addresses of public reports, or digests of control runs; at least one."""
    reported: date
    """Day of the report (the earliest, when there are several)."""
    reported_by: str
    fail_to_pass: TestChange = TestChange()
    """Of a mend only."""
    pass_to_pass: TestChange = TestChange()
    """Of a mend only."""

    def to_plain(self) -> dict[str, Any]:
        """The entry as plain data."""
        plain: dict[str, Any] = {
            "id": self.id,
            "kind": self.kind.value,
            "reason": self.reason,
            "evidence": list(self.evidence),
            "reported": self.reported.isoformat(),
            "reported_by": self.reported_by,
        }
        if self.kind is Kind.MEND:
            plain |= {"fail_to_pass": self.fail_to_pass.to_plain(), "pass_to_pass": self.pass_to_pass.to_plain()}
        return plain


@dataclass(frozen=True, slots=True, kw_only=True)
class ExclusionList:
    """A named list of exclusions and mends."""

    name: str
    about: str
    """What the list holds and where it comes from."""
    entries: tuple[ExclusionEntry, ...]

    @property
    def digest(self) -> str:
        """SHA-256 over name and entries, in the order of their ids."""
        entries = sorted((entry.to_plain() for entry in self.entries), key=lambda plain: (plain["id"], plain["kind"]))
        return digest_of({"name": self.name, "entries": entries})


class Ground(NamedTuple):
    """Why something was done to a problem: an entry, and the list that it is in."""

    list: str
    entry: ExclusionEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class Excluded:
    """A problem that was left out, with every list's reason."""

    problem: RepositoryProblem
    grounds: tuple[Ground, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mended:
    """A problem whose test lists were changed."""

    before: RepositoryProblem
    after: RepositoryProblem
    grounds: tuple[Ground, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """A set of problems after lists were applied to it.  Every problem is in ``kept`` or in ``excluded``."""

    kept: RepositorySet
    """With mends made, and with a digest of its own."""
    excluded: tuple[Excluded, ...]
    mended: tuple[Mended, ...]
    """Those that are kept."""
    already_mended: tuple[str, ...]
    """Ids whose rows have the changed test lists as they are."""
    absent: tuple[str, ...]
    """Ids of the lists that the set does not have."""
    lists: tuple[tuple[str, str], ...]
    """Name and digest of each list, as recorded with results."""


def apply(problems: RepositorySet, lists: Iterable[ExclusionList]) -> Selection:
    """Leave out and mend what the lists name; a problem that one list mends and another excludes is excluded.

    Raises `UsageError` for two lists of one name, for mends of one problem that contradict each other, and for a mend
    that leaves nothing to decide by.
    """
    chosen = tuple(lists)
    _refuse_same_names(chosen)
    grounds: dict[str, list[Ground]] = {}
    for chosen_list in chosen:
        for entry in chosen_list.entries:
            grounds.setdefault(entry.id, []).append(Ground(chosen_list.name, entry))
    kept: list[RepositoryProblem] = []
    excluded: list[Excluded] = []
    mended: list[Mended] = []
    already: list[str] = []
    for problem in problems.problems:
        its = tuple(grounds.get(problem.id, ()))
        if any(ground.entry.kind is Kind.EXCLUDE for ground in its):
            excluded.append(Excluded(problem=problem, grounds=its))
            continue
        after = _mend(problem, its)
        kept.append(after)
        if after.digest != problem.digest:
            mended.append(Mended(before=problem, after=after, grounds=its))
        elif its and has_tests(problem):
            already.append(problem.id)
    return Selection(
        kept=replace(problems, problems=tuple(kept), digest=digest_of_repository_problems(kept)),
        excluded=tuple(excluded),
        mended=tuple(mended),
        already_mended=tuple(already),
        absent=tuple(sorted(grounds.keys() - problems.by_id.keys())),
        lists=tuple((chosen_list.name, chosen_list.digest) for chosen_list in chosen),
    )


def shipped_names() -> tuple[str, ...]:
    """Names of the lists that come with the package, made from public reports."""
    return tuple(sorted(file.name.removesuffix(".toml") for file in _FOLDER.iterdir() if file.name.endswith(".toml")))


def shipped_list(name: str) -> ExclusionList:
    """A list that comes with the package; raises `UnknownNameError` for another name."""
    if name not in shipped_names():
        raise UnknownNameError("exclusion list", name, shipped_names())
    file = _FOLDER / f"{name}.toml"
    return _parsed(file.read_text("utf-8"), name)


def read_list(path: Path) -> ExclusionList:
    """A list from a file, as `write_list` writes it; raises `UsageError` naming the file and the entry."""
    return _parsed(decoded(unpacked(path, most=_MAX_LIST_BYTES), path), str(path))


def write_list(path: Path, exclusions: ExclusionList) -> None:
    """Write a list as TOML, readable by people; raises `MachineError` when it cannot be written.

    A list that could not be read back (no evidence, a name that is no name) raises `UsageError` and is not written.
    """
    text = _as_toml(exclusions)
    _parsed(text, f"the list {exclusions.name!r}")
    write_text(path, text)


def _refuse_same_names(lists: Sequence[ExclusionList]) -> None:
    names = [chosen_list.name for chosen_list in lists]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(f"Two exclusion lists are named {twice[0]!r}; give each a name of its own, or give one.")


def _mend(problem: RepositoryProblem, grounds: Sequence[Ground]) -> RepositoryProblem:
    if not grounds or not has_tests(problem):
        return problem
    for field in ("fail_to_pass", "pass_to_pass"):
        added = {test for ground in grounds for test in getattr(ground.entry, field).add}
        removed = {test for ground in grounds for test in getattr(ground.entry, field).remove}
        if added & removed:
            raise UsageError(
                f"The mends of {problem.id} in {' and '.join(ground.list for ground in grounds)} contradict each other "
                f"about {sorted(added & removed)[0]!r}; leave one of the lists out."
            )
    fail_to_pass, pass_to_pass = problem.fail_to_pass, problem.pass_to_pass
    for ground in grounds:
        fail_to_pass = ground.entry.fail_to_pass.applied(fail_to_pass)
        pass_to_pass = ground.entry.pass_to_pass.applied(pass_to_pass)
    if not fail_to_pass:
        raise UsageError(f"The mend of {problem.id} in {grounds[0].list} leaves no test in FAIL_TO_PASS.")
    return with_digest(replace(problem, fail_to_pass=fail_to_pass, pass_to_pass=pass_to_pass))


def _parsed(text: str, where: str) -> ExclusionList:
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{where} is not TOML: {error}.") from error
    if data.get("schema_version") != SCHEMA_VERSION:
        raise UsageError(
            f"{where}: schema_version is {data.get('schema_version')!r}; this version reads {SCHEMA_VERSION}."
        )
    name = _text(data, "name", where)
    if not _NAME.fullmatch(name):
        raise UsageError(f"{where}: the list's name is {name!r:.60}; expected letters, digits, '.', '_' and '-'.")
    entries = data.get("entries")
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise UsageError(f"{where}: expected a table [[entries]] for each problem.")
    parsed = tuple(_entry(entry, f"{where}, entry {number}") for number, entry in enumerate(entries, 1))
    ids = [(entry.id, entry.kind) for entry in parsed]
    twice = next((problem_id for problem_id, kind in ids if ids.count((problem_id, kind)) > 1), None)
    if twice is not None:
        raise UsageError(f"{where} has {twice} twice; put both pieces of evidence into one entry.")
    return ExclusionList(name=name, about=_text(data, "about", where), entries=parsed)


def _entry(data: Mapping[str, Any], where: str) -> ExclusionEntry:
    problem_id = _text(data, "id", where)
    where = f"{where} ({problem_id})"
    kind = _text(data, "kind", where)
    if kind not in set(Kind):
        raise UsageError(f"{where}: kind is {kind!r}; expected {' or '.join(Kind)}.")
    known = {"id", "kind", "reason", "evidence", "reported", "reported_by"}
    if kind == Kind.MEND:
        known |= {"fail_to_pass", "pass_to_pass"}
    unknown = sorted(data.keys() - known)
    if unknown:
        raise UsageError(f"{where}: an entry of kind {kind} has no field {unknown[0]!r}; it has {', '.join(known)}.")
    evidence = _strings(data.get("evidence"), "evidence", where)
    if not evidence:
        raise UsageError(f"{where}: evidence is empty; name a report's address or a control run's digest.")
    entry = ExclusionEntry(
        id=problem_id,
        kind=Kind(kind),
        reason=_text(data, "reason", where),
        evidence=evidence,
        reported=_day(data.get("reported"), where),
        reported_by=_text(data, "reported_by", where),
        fail_to_pass=_change(data.get("fail_to_pass", {}), "fail_to_pass", where),
        pass_to_pass=_change(data.get("pass_to_pass", {}), "pass_to_pass", where),
    )
    if entry.kind is Kind.MEND and entry.fail_to_pass == entry.pass_to_pass == TestChange():
        raise UsageError(f"{where}: a mend that changes neither fail_to_pass nor pass_to_pass.")
    return entry


def _text(data: Mapping[str, Any], field: str, where: str) -> str:
    value = data.get(field)
    if not isinstance(value, str) or not value.strip():
        got = "missing" if value is None else "empty" if isinstance(value, str) else type_name(value)
        raise UsageError(f"{where}: {field} is {got}; expected a text.")
    return value


def _strings(value: object, field: str, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        raise UsageError(f"{where}: {field} is {value!r:.60}; expected a list of texts.")
    return tuple(value)


def _day(value: object, where: str) -> date:
    if isinstance(value, str):
        with contextlib.suppress(ValueError):
            return date.fromisoformat(value)
    elif type(value) is date:
        return value
    raise UsageError(f"{where}: reported is {value!r:.40}; expected a day such as 2025-01-20.")


def _change(value: object, field: str, where: str) -> TestChange:
    if not isinstance(value, dict) or value.keys() - {"add", "remove"}:
        raise UsageError(f"{where}: {field} is {value!r:.60}; expected the lists add and remove.")
    change = TestChange(
        add=_strings(value.get("add", []), f"{field}.add", where),
        remove=_strings(value.get("remove", []), f"{field}.remove", where),
    )
    both = sorted({*change.add} & {*change.remove})
    if both:
        raise UsageError(f"{where}: {field} adds and removes {both[0]!r}.")
    return change


def _as_toml(exclusions: ExclusionList) -> str:
    lines = [
        f"schema_version = {SCHEMA_VERSION}",
        f"name = {_quoted(exclusions.name)}",
        f"about = {_quoted(exclusions.about)}",
    ]
    if not exclusions.entries:
        lines.append("entries = []")
    for entry in exclusions.entries:
        lines += ["", "[[entries]]"]
        for field, value in entry.to_plain().items():
            if field == "reported":
                lines.append(f"reported = {value}")
            elif isinstance(value, dict):
                lines.append(f"{field} = {{ add = {_list(value['add'])}, remove = {_list(value['remove'])} }}")
            else:
                lines.append(f"{field} = {_list(value) if isinstance(value, list) else _quoted(value)}")
    return "\n".join(lines) + "\n"


def _list(values: Iterable[str]) -> str:
    return f"[{', '.join(_quoted(value) for value in values)}]"


def _quoted(text: str) -> str:
    """A TOML basic string; a lone surrogate, which TOML cannot carry, becomes a question mark."""
    text = text.encode("utf-8", "replace").decode("utf-8")
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + re.sub(r"[\x00-\x1f\x7f]", lambda match: f"\\u{ord(match[0]):04X}", escaped) + '"'
