"""Which files a result bundle is made of, and what its list says of the result."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from benchwright.benchmarks.swebench.official import RUN_EVALUATION
from benchwright.store.agent_journal import NAME as JOURNAL
from benchwright.store.bundle_json import flaw_of_json
from benchwright.store.evidence import CONTROLS, RECORDS
from benchwright.store.folder import (
    ATTEMPTS,
    JOBS,
    LOGS,
    MANIFEST,
    PATCHES,
    PLANS,
    PROBLEMS,
    ROWS,
    SAMPLES,
    TESTS,
    is_predictions,
)
from benchwright.store.replies import NAME as REPLIES

_KEPT = (ROWS, PLANS, PROBLEMS, JOBS, TESTS, SAMPLES, PATCHES, ATTEMPTS)
_TRANSCRIPTS = (REPLIES, JOURNAL)
_LOG_SUFFIXES = (".eval", ".json")

_IDENTITY = (
    "kind", "run_id", "benchmark", "version", "data_digest", "subset", "variant", "ids", "model", "scaffold", "scores",
    "rules", "environment", "environment_digest", "isolation", "sandbox", "limits", "problems", "attempts", "solved",
    "faults",
)  # fmt: skip
_VERSIONS = ("benchwright_version", "judge_version", "guest_version", "harness_version")


def files_in(folder: Path, *, with_logs: bool) -> dict[str, Path]:
    """The files of a results folder that go into a bundle, by name; links and what others put there do not."""
    found = [folder / name for name in _KEPT] + [path for path in folder.iterdir() if is_predictions(path.name)]
    if with_logs:
        found += [folder / name for name in _TRANSCRIPTS]
        found += [path for path in (folder / LOGS).rglob("*") if is_transcript(path.relative_to(folder).as_posix())]
    kept = [path for path in found if path.is_file() and not path.is_symlink()]
    return {path.relative_to(folder).as_posix(): path for path in kept}


def is_transcript(name: str) -> bool:
    """Whether a file is what was said and done, in whatever form it was kept: nothing is judged by it.

    The official harness's reports stand beside and are none.  They follow from rows and records and are not part of a
    bundle: nobody would have to make them again, and so nobody would see that they say something else.
    """
    if name in _TRANSCRIPTS:
        return True
    parts = name.split("/")
    return len(parts) > 1 and parts[0] == LOGS and parts[1] != RUN_EVALUATION and name.endswith(_LOG_SUFFIXES)


def is_known(name: str) -> bool:
    """Whether a bundle has files of this name."""
    return name in (*_KEPT, MANIFEST, RECORDS, CONTROLS) or is_predictions(name) or is_transcript(name)


def flaws_of_files(folder: Path, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Name, and what is wrong as half a sentence, of unpacked files that no bundle has or that have no one meaning."""
    for name in names:
        shown = "".join(one if one.isprintable() else "?" for one in name)[:100]
        if not is_known(name):
            yield shown, "is no file of a result bundle; benchwright writes none"
        elif not is_transcript(name) and (flaw := flaw_of_json(folder / name)):
            yield shown, f"cannot be used: {''.join(one if one.isprintable() else '?' for one in flaw)}"


def identity_of(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """What the list says of whose result it is."""
    return {name: manifest[name] for name in _IDENTITY if name in manifest}


def versions_of(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """What the list says of what graded it; what wrote the bundle comes to that."""
    return {name: manifest[name] for name in _VERSIONS if name in manifest}


def differences(said: Mapping[str, Any], manifest: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Name and both values of what a list says of a result otherwise than its manifest."""
    expected = identity_of(manifest)
    for name in dict.fromkeys((*said, *expected)):
        if name not in said or name not in expected or _text(said[name]) != _text(expected[name]):
            yield name, said.get(name), manifest.get(name)


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)  # to which 1 is not the same as true
