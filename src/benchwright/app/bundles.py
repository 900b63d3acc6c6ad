"""Result bundles: make one of a grading, take one in."""

import dataclasses
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import benchwright
from benchwright.app.bundle_files import files_in, identity_of, versions_of
from benchwright.app.entry_folders import folder_of
from benchwright.app.evidence import controls_of, evidence_of, of_repositories
from benchwright.app.job_facts import read_jobs, tests_to_lines
from benchwright.app.recording import stored_run_of
from benchwright.app.repositories.results import graded_problems
from benchwright.app.verifying import verified
from benchwright.app.verifying_settings import gives_limits
from benchwright.app.workspace import Workspace
from benchwright.core.controls import ControlRun
from benchwright.core.digest import digest_of
from benchwright.core.errors import UsageError
from benchwright.core.execution import ExecutionRecord
from benchwright.core.repositories import RepositoryControls, RepositoryRecord
from benchwright.core.results import BUNDLED, StoredRun
from benchwright.core.runs import ResultRow
from benchwright.store.bundle import SUFFIX, BundleHead, listed, write_archive
from benchwright.store.bundle_reading import Bundle
from benchwright.store.bundle_signing import SignatureReport, check, sign
from benchwright.store.entries import content_digest
from benchwright.store.evidence import CONTROLS, RECORDS, control_lines, record_lines
from benchwright.store.folder import MANIFEST, PATCHES, ROWS, SAMPLES, TESTS, ResultsFolder
from benchwright.store.records import RecordStore
from benchwright.store.results import ResultStore

_DIGITS = 32
"""Of a bundle's digest in the id of a run; ids of `bw run` end in 8 digits of another, which can be searched for."""
OPEN_FLAG = "bundle_open"
"""Of a run in whose bundle not everything that changes the score is shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleReport:
    """What was written."""

    path: Path
    digest: str
    """SHA-256 over all that the bundle says and holds: its name."""
    bytes: int
    files: int
    rows: int
    records: int
    without_record: int
    """Rows that were executed and whose record is not here; nothing in the bundle shows them to be so."""
    signature: str
    """Kind of the signature, ``ssh`` or ``minisign``; empty when there is none."""
    key: str
    """Whose it is: fingerprint or key id."""
    written: bool
    """False when the same bundle was there already and was left as it is."""
    notes: tuple[str, ...]
    """What the bundle cannot be used for, one plain sentence each."""

    def to_plain(self) -> dict[str, Any]:
        """The report as plain data."""
        return {**dataclasses.asdict(self), "path": str(self.path), "notes": list(self.notes)}


def write_bundle(
    run: Path | StoredRun,
    path: Path,
    workspace: Workspace,
    *,
    store: ResultStore | None = None,
    sign_with: Path | None = None,
    with_logs: bool = False,
    force: bool = False,
) -> BundleReport:
    """Write one result with everything behind it into one file.

    Args:
        run: A results folder, or an entry of ``store``.
        path: Where to; its name must end in ``.bw.zip``.
        workspace: The home whose records are taken, unless the result brings its own.
        store: The store that an entry is of.
        sign_with: Key to sign with; see `benchwright.store.bundle_signing.sign`.
        with_logs: Whether transcripts go in too.
        force: Replace whatever is there.  Otherwise the same bundle is left as it is, and anything else refused.

    Raises:
        UsageError: There is no finished result, the name is no bundle's or taken, or the key cannot be used.
        MachineError: It cannot be written.
    """
    if not path.name.endswith(SUFFIX):
        raise UsageError(f"A result bundle's name ends in {SUFFIX}; got {path.name}, give {path.name}{SUFFIX}.")
    with folder_of(run, store) as folder, tempfile.TemporaryDirectory(prefix="benchwright-bundle-") as scratch:
        return _write(folder, path, Path(scratch), workspace, sign_with, with_logs=with_logs, force=force)


def import_bundle(path: Path, store: ResultStore) -> StoredRun:
    """Take the result of a bundle into a store, with its evidence, after checking it as `bw verify` does.

    The run is flagged ``bundle``, and ``bundle_open`` where something that could change the score is not shown.  It
    never takes the place of another: where the store holds the same run with other verdicts, it becomes a run of its
    own.  Its records do not become those of the home, which stand for what was executed there.

    Raises `UsageError` for what is no bundle, or one that something is wrong with.
    """
    with verified(path) as (report, folder):
        if report.findings:
            more = f" (and {len(report.findings) - 1} more findings)" if len(report.findings) > 1 else ""
            raise UsageError(f"{path} is not taken in: {report.findings[0].text}{more} `bw verify {path}` says all.")
        flags = (BUNDLED, OPEN_FLAG) if report.open else (BUNDLED,)
        rows = list(folder.rows())
        run = stored_run_of(folder, rows)
        wanted = content_digest(run, rows)
        same = [known for known in store.runs(superseded=True) if known.run_id == run.run_id]
        for known in same:
            if content_digest(dataclasses.replace(known, flags=run.flags), store.rows(known.entry)) == wanted:
                return store.run(known.entry)
        if same:
            run = dataclasses.replace(run, run_id=f"import-{report.digest[:_DIGITS]}-{run.run_id}")
        files = {
            file.relative_to(folder.path).as_posix(): file for file in sorted(folder.path.rglob("*")) if file.is_file()
        }
        del files[ROWS]  # the store has rows in a form of its own
        return store.add(dataclasses.replace(run, flags=(*run.flags, *flags)), rows, files)


def _write(
    folder: ResultsFolder,
    path: Path,
    scratch: Path,
    workspace: Workspace,
    sign_with: Path | None,
    *,
    with_logs: bool,
    force: bool,
) -> BundleReport:
    manifest = folder.finished_manifest()
    rows = list(folder.rows())
    files: dict[str, Path | bytes] = {**files_in(folder.path, with_logs=with_logs)}
    published = _without_paths(manifest)
    files[MANIFEST] = json.dumps(published, indent=2).encode() + b"\n"
    with evidence_of(folder, manifest, workspace) as store:
        records = _write_evidence(scratch, folder, manifest, rows, store)
    files |= {name: scratch / name for name in (RECORDS, CONTROLS)}
    if of_repositories(manifest) and TESTS not in files:
        files[TESTS] = _tests_of(folder, manifest)
    head = BundleHead(
        run=identity_of(published),
        versions={**versions_of(manifest), "bundle": benchwright.__version__},
        files=tuple(listed(name, source) for name, source in sorted(files.items())),
    )
    signature = None if sign_with is None else sign(head.to_bytes(), sign_with)
    signed = None if signature is None else check(head.to_bytes(), *signature, None)
    there = None if force or not os.path.lexists(path) else _same_bundle(path, head, signed)
    size = write_archive(path, head, files, signature) if there is None else path.stat().st_size
    signed = signed if there is None else there.signature
    executed = {row.job_digest for row in rows if row.job_digest}
    return BundleReport(
        path=path,
        digest=head.digest,
        bytes=size,
        files=len(head.files),
        rows=len(rows),
        records=len(records),
        without_record=sum(row.job_digest is not None and row.job_digest not in records for row in rows),
        signature=signed.kind if signed else "",
        key=signed.key if signed else "",
        written=there is None,
        notes=tuple(_notes(files, executed - records)),
    )


class _There(NamedTuple):
    """The bundle at a path is the one that would be written."""

    signature: SignatureReport | None


def _same_bundle(path: Path, head: BundleHead, signed: SignatureReport | None) -> _There:
    """The bundle at a path, which says and holds the same, by the same key; raises `UsageError` for anything else."""
    try:
        with Bundle(path) as bundle:
            same = bundle.head.digest == head.digest and not bundle.flaws()
            found = check(bundle.head_bytes, *bundle.signature, None) if same and bundle.signature else None
    except UsageError:
        what = "something that is no whole bundle"
    else:
        if same and (signed is None or (found is not None and found.key == signed.key)):
            return _There(found)
        what = "the same result without this signature" if same else "another bundle"
    raise UsageError(f"{path} is there already, with {what}; give another name, or --force to replace it.")


def _without_paths(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """The manifest without paths of the machine that graded, which are nobody else's business; names stay."""
    published = dict(manifest)
    for name in ("data_file", "data_source"):
        value = published.get(name)
        if isinstance(value, str) and value.startswith(("/", "~", "./", "../")):
            published[name] = Path(value).name
    return published


def _write_evidence(
    scratch: Path, folder: ResultsFolder, manifest: Mapping[str, Any], rows: list[ResultRow], store: RecordStore
) -> frozenset[str]:
    """Write the records that rows were judged by, and the control runs; returns the digests of jobs with a record."""
    repositories = of_repositories(manifest)
    known = _judged_by(rows, store.get_repository if repositories else store.get)
    with (scratch / RECORDS).open("wb") as file:
        file.writelines(record_lines(known, store, repositories=repositories))
    controls = _repository_controls(manifest, store) if repositories else _controls(folder, manifest, store)
    with (scratch / CONTROLS).open("wb") as file:
        file.writelines(control_lines(controls))
    return known


def _judged_by(
    rows: Iterable[ResultRow], get: Callable[[str], ExecutionRecord | RepositoryRecord | None]
) -> frozenset[str]:
    """The jobs whose record is the one that a row was judged by: another home may have executed the same job, too."""
    named = {(row.job_digest, row.verdict.record_digest) for row in rows if row.job_digest is not None}
    found = ((job, digest, get(job)) for job, digest in named)
    return frozenset(
        job for job, digest, record in found if record is not None and digest_of(record.to_plain()) == digest
    )


def _controls(folder: ResultsFolder, manifest: Mapping[str, Any], store: RecordStore) -> list[ControlRun]:
    """The control runs that the grading knew: not those that were made later, which do not give its limits."""
    if manifest["uncontrolled_problems"] == len(manifest.get("problem_digests", {})):
        return []
    jobs, here = read_jobs(folder.path), controls_of(manifest, store)
    return [run for problem, run in here.items() if problem not in jobs or gives_limits(run, jobs[problem], manifest)]


def _repository_controls(manifest: Mapping[str, Any], store: RecordStore) -> list[RepositoryControls]:
    found = [
        store.repository_controls(
            instance["environment"], manifest["sandbox"], manifest["harness_version"], instance["problem_digest"]
        )
        for instance in manifest["instances"].values()
    ]
    return [controls for controls in found if controls is not None]


def _tests_of(folder: ResultsFolder, manifest: dict[str, Any]) -> bytes:
    """The tests of the graded instances, for gradings of versions that did not write them down."""
    lines = tests_to_lines(graded_problems(folder, manifest).values(), {})
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def _notes(files: Mapping[str, Path | bytes], lost: frozenset[str] | set[str]) -> Iterator[str]:
    if SAMPLES not in files and PATCHES not in files:
        yield "The results folder does not hold the answers, so the bundle is not sound and cannot be graded again."
    if lost:
        yield (
            f"{len(lost)} jobs have no record here, or another than they were judged by; nothing in the bundle "
            f"shows what became of them. The home that graded them has it."
        )
