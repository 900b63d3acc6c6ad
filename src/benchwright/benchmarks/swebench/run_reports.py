"""What the official harness and the public submissions say of a run, read from their own files.

Three forms are read:

*   the report on a run, ``<model>.<run id>.json`` (swebench 4.1.0, report schema 2; see
    `benchwright.benchmarks.swebench.official`, which writes it);
*   the folder of a model's reports on each instance, ``<model>/<instance>/report.json``;
*   a submission in the layout of github.com/SWE-bench/experiments: ``<submission>/results/results.json`` with the
    resolved instances, and ``metadata.yaml`` or ``README.md``.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchwright.benchmarks.documents import read_document
from benchwright.benchmarks.foreign import name_of, table_of
from benchwright.benchmarks.jsonl import type_name
from benchwright.benchmarks.swebench.official import OfficialStatus
from benchwright.core.digest import digest_of
from benchwright.core.errors import UsageError

_MAX_BYTES = 64 * 1024 * 1024
_REPORT, _RESULTS = "report.json", Path("results") / "results.json"
_MAX_FOLDERS = 100_000
_STATUS_FIELDS = {
    "resolved_ids": OfficialStatus.RESOLVED,
    "unresolved_ids": OfficialStatus.UNRESOLVED,
    "empty_patch_ids": OfficialStatus.EMPTY_PATCH,
    "error_ids": OfficialStatus.ERROR,
}
# What a submission's results.json calls those of its instances that are not resolved for want of a patch or a log.
_RESULT_FIELDS = {
    "resolved": OfficialStatus.RESOLVED,
    "no_generation": OfficialStatus.EMPTY_PATCH,
    "no_logs": OfficialStatus.ERROR,
}
_NAME_LINE = re.compile(r"""^\s*name:\s*["']?(.+?)["']?\s*$""", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class TestCounts:
    """What a report on an instance says of its tests."""

    fail_to_pass: int
    fail_to_pass_failed: tuple[str, ...]
    pass_to_pass: int
    pass_to_pass_failed: tuple[str, ...]

    @property
    def passed(self) -> int:
        """Required tests that passed."""
        return self.planned - len(self.fail_to_pass_failed) - len(self.pass_to_pass_failed)

    @property
    def planned(self) -> int:
        """Required tests."""
        return self.fail_to_pass + self.pass_to_pass


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """What is said of one model's patches."""

    model: str
    title: str = ""
    """What a submission calls itself."""
    statuses: Mapping[str, OfficialStatus]
    """By instance, those the source says something of."""
    not_submitted: frozenset[str] = frozenset()
    """Instances that the source names as asked and not answered."""
    tests: Mapping[str, TestCounts] = field(default_factory=dict)
    """By instance, where there is a report on it."""
    names_all: bool
    """Whether the source names every instance that was asked; otherwise an instance it does not name may be one that
    was not resolved."""
    files: tuple[tuple[str, str], ...]
    """Name and SHA-256 of every file that was read; of many in one folder: over their names and digests."""
    kept: tuple[Path, ...] = ()
    """Files worth keeping beside the results."""


def looks_like_run_report(document: Any) -> bool:
    """Whether a JSON value has the form of the report on a run."""
    return isinstance(document, dict) and isinstance(document.get("resolved_ids"), list)


def read_run_report(path: Path) -> RunReport:
    """Read the report on a run.

    Its lists may not overlap, and the counts it gives must be theirs; raises `UsageError` otherwise.  The model is the
    first part of the file's name: ``<model>.<run id>.json``.
    """
    document = read_document(path, most=_MAX_BYTES)
    report = table_of(document.value, str(path), "the whole")
    if "resolved_ids" not in report:
        raise UsageError(f"{path} is no report on a run; expected an object with the field 'resolved_ids'.")
    schema = report.get("schema_version", 2)
    if schema != 2:
        raise UsageError(f"{path} has schema_version {schema!r:.40}; 2 is read.")
    statuses = _statuses(report, _STATUS_FIELDS, path)
    for name, status in _STATUS_FIELDS.items():
        count, found = report.get(name.replace("_ids", "_instances")), sum(one is status for one in statuses.values())
        if count is not None and count != found:
            raise UsageError(f"{path} says {name.replace('_ids', '_instances')}: {count!r:.40} and lists {found}.")
    incomplete = frozenset(_ids(report, "incomplete_ids", path))
    both = sorted(incomplete & statuses.keys())
    if both:
        raise UsageError(f"{path} lists {both[0]} as incomplete and as {statuses[both[0]].value}.")
    if not statuses and not incomplete:
        raise UsageError(f"{path} names no instance; expected ids in resolved_ids, unresolved_ids and the like.")
    name = path.name.removesuffix(".gz").removesuffix(".json")
    return RunReport(
        model=name_of(name.rpartition(".")[0] or name, str(path), "the model in the file's name"),
        statuses=statuses,
        not_submitted=incomplete,
        names_all=True,
        files=((path.name, document.sha256),),
        kept=(path,),
    )


def instance_report_folders(path: Path) -> tuple[Path, ...]:
    """Folders of a model's reports: this one, or those in it; empty where there are none."""
    return _folders_with(path, f"*/{_REPORT}")


def read_instance_reports(folder: Path) -> RunReport:
    """Read all ``<instance>/report.json`` of a model's folder, named by it.

    An instance whose folder has no report is an error, as officially.  Raises `UsageError` naming the file.
    """
    statuses: dict[str, OfficialStatus] = {}
    tests: dict[str, TestCounts] = {}
    files: list[list[str]] = []
    for place in sorted(one for one in folder.iterdir() if one.is_dir()):
        path = place / _REPORT
        if not path.is_file():
            statuses[place.name] = OfficialStatus.ERROR
            continue
        document = read_document(path, most=_MAX_BYTES)
        said = table_of(document.value, str(path), "the whole")
        if list(said) != [place.name]:
            raise UsageError(f"{path} reports on {', '.join(said)[:80] or 'nothing'}; expected {place.name} alone.")
        report = table_of(said[place.name], str(path), "the report")
        statuses[place.name] = _instance_status(report, path)
        counts = _test_counts(report, path)
        if counts is not None:
            tests[place.name] = counts
        files.append([place.name, document.sha256])
    return RunReport(
        model=name_of(folder.resolve().name, str(folder), "the folder's name"),
        statuses=statuses,
        tests=tests,
        names_all=False,
        files=((f"{len(files)} files */{_REPORT}", digest_of(files)),),
    )


def submission_folders(path: Path) -> tuple[Path, ...]:
    """Folders of submissions: this one, or those in it; empty where there are none."""
    return _folders_with(path, str(_RESULTS))


def read_submission(folder: Path) -> RunReport:
    """Read a submission's folder; instances that its results do not name count as not resolved.

    The name in ``metadata.yaml`` is read from the first line that begins with ``name:``.
    """
    path = folder / _RESULTS
    document = read_document(path, most=_MAX_BYTES)
    results = table_of(document.value, str(path), "the whole")
    if "resolved" not in results:
        raise UsageError(f"{path} has no field 'resolved'; expected the ids of the resolved instances there.")
    known = {name: status for name, status in _RESULT_FIELDS.items() if name in results}
    return RunReport(
        model=name_of(folder.resolve().name, str(folder), "the folder's name"),
        title=_title(folder),
        statuses=_statuses(results, known, path),
        names_all=False,
        files=((str(_RESULTS), document.sha256),),
        kept=(path,),
    )


def _folders_with(path: Path, pattern: str) -> tuple[Path, ...]:
    try:
        if any(path.glob(pattern)):
            return (path,)
        inside = sorted(one for one in path.iterdir() if one.is_dir())
        if len(inside) > _MAX_FOLDERS:
            raise UsageError(f"{path} holds {len(inside):,} folders; at most {_MAX_FOLDERS:,} are looked into.")
        return tuple(one for one in inside if any(one.glob(pattern)))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}.") from error


def _statuses(said: Mapping[str, Any], fields: Mapping[str, OfficialStatus], path: Path) -> dict[str, OfficialStatus]:
    statuses: dict[str, OfficialStatus] = {}
    for name, status in fields.items():
        for problem_id in _ids(said, name, path):
            if problem_id in statuses:
                raise UsageError(f"{path} lists {problem_id} as {statuses[problem_id].value} and as {status.value}.")
            statuses[problem_id] = status
    return statuses


def _ids(said: Mapping[str, Any], name: str, path: Path) -> Iterable[str]:
    value = said.get(name, [])
    if not isinstance(value, list):
        raise UsageError(f"{path}: {name} is {type_name(value)}; expected a list of instance ids.")
    # The same id twice in one list is one instance.
    return dict.fromkeys(name_of(one, f"{path}, {name}", "an instance id") for one in value)


def _instance_status(report: Mapping[str, Any], path: Path) -> OfficialStatus:
    resolved = report.get("resolved")
    if not isinstance(resolved, bool):
        raise UsageError(f"{path}: 'resolved' is {type_name(resolved)}; expected true or false.")
    if resolved:
        return OfficialStatus.RESOLVED
    return OfficialStatus.EMPTY_PATCH if report.get("patch_is_None") is True else OfficialStatus.UNRESOLVED


def _test_counts(report: Mapping[str, Any], path: Path) -> TestCounts | None:
    status = report.get("tests_status")
    if status is None:
        return None
    groups: dict[str, tuple[int, tuple[str, ...]]] = {}
    for group in ("FAIL_TO_PASS", "PASS_TO_PASS"):
        said = table_of(table_of(status, str(path), "tests_status").get(group), str(path), group)
        lists = [said.get(word) for word in ("success", "failure")]
        if not all(isinstance(one, list) and all(isinstance(test, str) for test in one) for one in lists):
            raise UsageError(f"{path}: {group} has no lists 'success' and 'failure' of tests.")
        success, failure = lists
        groups[group] = (len(success or ()) + len(failure or ()), tuple(failure or ()))
    (fail_to_pass, not_fixed), (pass_to_pass, broken) = groups["FAIL_TO_PASS"], groups["PASS_TO_PASS"]
    return TestCounts(
        fail_to_pass=fail_to_pass,
        fail_to_pass_failed=not_fixed,
        pass_to_pass=pass_to_pass,
        pass_to_pass_failed=broken,
    )


def _title(folder: Path) -> str:
    """What a submission calls itself in its metadata, or nothing."""
    path = folder / "metadata.yaml"
    if not path.is_file():
        return ""
    try:
        with path.open("rb") as file:
            text = file.read(1 << 20).decode("utf-8", "replace")
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}.") from error
    found = _NAME_LINE.search(text)
    return name_of(found[1], str(path), "the name") if found else ""
