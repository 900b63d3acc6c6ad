"""Check a result bundle: that it is unchanged, who signed it, and that what it says follows from its evidence."""

import contextlib
import dataclasses
import itertools
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from benchwright.app import verifying_functions, verifying_patches
from benchwright.app.bundle_files import differences, flaws_of_files, versions_of
from benchwright.app.evidence import brought_evidence, of_repositories
from benchwright.app.job_facts import read_jobs, read_tests
from benchwright.app.recording import stored_run_of
from benchwright.app.verification import Check, Finding, Tally, Unpacked, named, short
from benchwright.app.verifying_data import rows_at_hand
from benchwright.app.verifying_faults import check_faults
from benchwright.app.verifying_form import flaws_of_manifest, read_rows
from benchwright.core.errors import BenchwrightError, MachineError
from benchwright.core.verdicts import Outcome
from benchwright.store.bundle_reading import Bundle
from benchwright.store.bundle_signing import SignatureReport, check
from benchwright.store.evidence import MALFORMED
from benchwright.store.folder import MANIFEST, TESTS, ResultsFolder

_COUNTED = ("rows", "judged", "faults", "unproven", "bounds", "jobs", "traced", "notes")
MOST_FINDINGS = 1000
"""A forged bundle may have one for each of its rows, and rows without end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyReport:
    """What checking a bundle came to."""

    path: Path
    digest: str
    """SHA-256 over all that the bundle says and holds."""
    run: Mapping[str, Any]
    versions: Mapping[str, Any]
    bytes: int
    files: int
    signature: SignatureReport | None
    findings: tuple[Finding, ...]
    tally: Tally

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings

    @property
    def opened(self) -> bool:
        """Whether the archive is what its list says, so that its content was looked at at all."""
        return not any(finding.check is Check.ARCHIVE for finding in self.findings)

    @property
    def open(self) -> tuple[str, ...]:
        """What could change the score and is not shown, as clauses that begin with ``that`` or ``which``."""
        return tuple(self.tally.open)

    @property
    def shown(self) -> bool:
        """Whether everything is shown that a bundle can show: nothing is wrong, and nothing is open."""
        return self.sound and not self.tally.open

    @property
    def signed(self) -> str:
        """What there is to say of the signature, as half a sentence."""
        signature = self.signature
        if signature is None:
            return "not signed"
        if signature.signer:
            return f"signed by {signature.signer} ({signature.key})"
        if signature.problem:
            return signature.problem
        if signature.valid is None:
            return f"signed by the minisign key {signature.key}, not checked: that takes the public key (--signer)"
        return f"signed by the key {signature.key}, not checked against anybody"

    def to_plain(self) -> dict[str, Any]:
        """The report as the object of ``bw verify --json``."""
        tally = dataclasses.asdict(self.tally)
        return {
            "bundle": str(self.path),
            "sound": self.sound,
            "shown": self.shown,
            "open": list(self.open),
            "digest": self.digest,
            "run": dict(self.run),
            "versions": dict(self.versions),
            "bytes": self.bytes,
            "files": self.files,
            "signature": None if self.signature is None else dataclasses.asdict(self.signature),
            "signed": self.signed,
            **{name: tally[name] for name in _COUNTED},
            "findings": [{"check": finding.check.value, "text": finding.text} for finding in self.findings],
        }


def verify(path: Path, *, signer: Path | None = None, dataset: Path | None = None) -> VerifyReport:
    """Check a bundle; nothing is executed, and nothing is kept of it: see :func:`verified`."""
    with verified(path, signer=signer, dataset=dataset) as (report, _):
        return report


class Verified(NamedTuple):
    """A bundle that was checked."""

    report: VerifyReport
    folder: ResultsFolder
    """What was unpacked for that: exactly what the list says, where the report finds nothing wrong."""


@contextlib.contextmanager
def verified(path: Path, *, signer: Path | None = None, dataset: Path | None = None) -> Iterator[Verified]:
    """Check a bundle, and lend what was unpacked; nothing is executed.

    Args:
        path: The bundle.
        signer: Public key (SSH or minisign) or file of allowed signers that the signature has to be by; None says
            whose it is and checks it against nobody.
        dataset: File with the benchmark's rows, which the planned tests are compared with; None takes them from the
            bundle.

    Raises:
        UsageError: The file is no bundle, or one that this version does not read; or ``signer`` is no key.
        MachineError: The program that checks the signature is not there, or the disk is full.
    """
    with Bundle(path) as bundle, tempfile.TemporaryDirectory(prefix="benchwright-verify-") as name:
        folder, tally = ResultsFolder(Path(name)), Tally()
        flaws = bundle.flaws(folder.path)
        findings = [Finding(check=Check.ARCHIVE, text=flaw) for flaw in flaws]
        signature, problem = _signature(bundle, signer)
        if problem:
            findings.append(Finding(check=Check.SIGNATURE, text=problem))
        if not flaws:
            findings += _checked_content(bundle, folder, tally, dataset)
        report = VerifyReport(
            path=path,
            digest=bundle.head.digest,
            run=bundle.head.run,
            versions=bundle.head.versions,
            bytes=bundle.size,
            files=len(bundle.head.files),
            signature=signature,
            findings=tuple(findings[:MOST_FINDINGS]),
            tally=tally,
        )
        yield Verified(report, folder)


def _signature(bundle: Bundle, signer: Path | None) -> tuple[SignatureReport | None, str]:
    """What the signature is worth, and what is wrong about it."""
    found = bundle.signature
    if found is None:
        return None, "" if signer is None else f"The bundle is not signed; expected a signature of {signer}."
    report = check(bundle.head_bytes, *found, signer)
    return report, f"{report.problem[0].upper()}{report.problem[1:]}." if report.problem else ""


def _checked_content(bundle: Bundle, folder: ResultsFolder, tally: Tally, dataset: Path | None) -> list[Finding]:
    flaws = flaws_of_files(folder.path, (file.name for file in bundle.head.files))
    found = [Finding(check=Check.CONTENT, text=f"{file} {flaw}.") for file, flaw in flaws]
    if not found:
        with contextlib.closing(_opened(bundle, folder, tally, dataset)) as checks:
            found = [*itertools.islice(checks, MOST_FINDINGS)]
    name = str(folder.path)
    tally.open = [_without_folder(text, name) for text in tally.open]
    return [dataclasses.replace(finding, text=_without_folder(finding.text, name)) for finding in found]


def _opened(
    bundle: Bundle, folder: ResultsFolder, tally: Tally, dataset: Path | None
) -> Generator[Finding, None, None]:
    try:
        manifest = folder.finished_manifest()
        rows = read_rows(folder, manifest)
        tally.rows, tally.jobs = len(rows), sum(row.job_digest is not None for row in rows)
        tally.faults = sum(row.verdict.outcome is Outcome.FAULT for row in rows)
        functions = not of_repositories(manifest)
        tests = {} if functions else read_tests(folder.path, str(manifest["benchmark"]))
        if not functions and not tests:
            # What names a data file in the manifest is somebody else's path, and is never looked for.
            yield Finding(check=Check.CONTENT, text=f"There is no {TESTS}; nothing shows which tests decide.")
            return
        # The home is not looked at: a bundle without records is judged by nobody else's.
        with brought_evidence(folder, manifest) as (store, recorded):
            given = Unpacked(
                folder=folder,
                manifest=manifest,
                rows=rows,
                store=store,
                recorded=recorded,
                tally=tally,
                jobs=read_jobs(folder.path) if functions else {},
                tests=tests,
                plans=folder.plans() if functions else {},
                given_names=folder.given_names() if functions else None,
                at_hand=rows_at_hand(manifest, dataset),
                dataset=dataset,
            )
            yield from _checks(bundle, given)
    except MachineError:
        raise
    except BenchwrightError as error:
        yield Finding(check=Check.CONTENT, text=str(error))
    except MALFORMED as error:
        yield _malformed(error)


def _malformed(error: BaseException) -> Finding:
    what = f"{type(error).__name__}: {str(error)[:80]}"
    return Finding(check=Check.CONTENT, text=f"The bundle's files are not of the form that is expected ({what}).")


def _without_folder(text: str, folder: str) -> str:
    return text.replace(f"{folder}/", "").replace(folder, "the bundle")


def _checks(bundle: Bundle, given: Unpacked) -> Iterator[Finding]:
    """All checks of what is in a bundle; each is given what others wrote, and may meet anything."""
    kind = verifying_patches if of_repositories(given.manifest) else verifying_functions
    checks: tuple[tuple[Check, Callable[[Unpacked], Iterable[Finding]]], ...] = (
        (Check.CONTENT, lambda given: _check_identity(bundle, given)),
        (Check.SETTINGS, kind.check_settings),
        (Check.PROBLEMS, kind.check_problems),
        (Check.DATA, kind.check_tests),
        (Check.RECORDS, _check_records),
        (Check.RECORDS, check_faults),
        (Check.VERDICTS, kind.check_verdicts),
        (Check.ANSWERS, kind.check_answers),
        (Check.SUMMARY, kind.check_summary),
    )
    for name, run in checks:
        try:
            yield from run(given)
        except MachineError:
            raise
        except BenchwrightError as error:
            yield Finding(check=name, text=str(error))
        except MALFORMED as error:
            yield _malformed(error)


def _check_identity(bundle: Bundle, given: Unpacked) -> Iterator[Finding]:
    for flaw in flaws_of_manifest(given.manifest):
        yield Finding(check=Check.CONTENT, text=f"{MANIFEST} {flaw}.")
    stored_run_of(given.folder, given.rows)  # raises where a field is not of its form: a store would not take it
    for name, said, value in differences(bundle.head.run, given.manifest):
        yield Finding(
            check=Check.CONTENT, text=f"The list says that {short(name)} is {short(said)}, the manifest {short(value)}."
        )
    versions = {name: value for name, value in bundle.head.versions.items() if name != "bundle"}
    if versions != versions_of(given.manifest) or not isinstance(bundle.head.versions.get("bundle"), str):
        yield Finding(check=Check.CONTENT, text="The versions in the list are not those in the manifest.")


def _check_records(given: Unpacked) -> Iterator[Finding]:
    jobs = {row.job_digest for row in given.rows if row.job_digest is not None}
    seen: set[str] = set()
    for digest in given.recorded:
        if digest in seen:
            yield Finding(check=Check.RECORDS, text=f"There are two records of job {digest[:12]}.")
        elif digest not in jobs:
            yield Finding(check=Check.RECORDS, text=f"The record of job {digest[:12]} belongs to no row.")
        seen.add(digest)
    for row in given.rows:
        if row.job_digest is not None and row.job_digest not in seen and row.verdict.outcome is not Outcome.FAULT:
            yield Finding(check=Check.RECORDS, text=f"{named(row)} has no record; nothing shows that it is so.")
