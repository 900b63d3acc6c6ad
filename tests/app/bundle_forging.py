"""Bundles taken apart, changed and put together again with digests that are right: what a forger can do."""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchwright.store.bundle import BundleHead, listed, write_archive

Lines = list[dict[str, Any]]


def files_of(path: Path) -> dict[str, bytes]:
    """The files of a bundle without its list."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.startswith("bundle.json")}


def packed(path: Path, files: dict[str, bytes], like: Path) -> Path:
    """A bundle of files that says it is the run of another."""
    with zipfile.ZipFile(like) as archive:
        head = BundleHead.from_bytes(archive.read("bundle.json"))
    entries = tuple(listed(name, data) for name, data in sorted(files.items()))
    write_archive(path, BundleHead(run=head.run, versions=head.versions, files=entries), files)
    return path


def forged(bundle: Path, name: str, change: Callable[[Any], Any]) -> Path:
    """A copy of a bundle in which one file was changed: its document, or the list of documents of its lines."""
    files = files_of(bundle)
    if name.endswith(".jsonl"):
        lines = [json.loads(line) for line in files[name].splitlines()]
        files[name] = "".join(json.dumps(line) + "\n" for line in change(lines) or lines).encode()
    else:
        document = json.loads(files[name])
        files[name] = json.dumps(change(document) or document).encode()
    return packed(bundle.with_name("forged.bw.zip"), files, bundle)
