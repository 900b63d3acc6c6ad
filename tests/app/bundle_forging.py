"""Bundles taken apart, changed and put together again with digests that are right: what a forger can do."""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchwright.app.bundle_files import identity_of, versions_of
from benchwright.store.bundle import BundleHead, listed, write_archive

Lines = list[dict[str, Any]]


def files_of(path: Path) -> dict[str, bytes]:
    """The files of a bundle without its list."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.startswith("bundle.json")}


def packed(path: Path, files: dict[str, bytes], like: Path, *, relist: bool = False) -> Path:
    """A bundle of files that says it is the run of another, or of what its manifest says."""
    with zipfile.ZipFile(like) as archive:
        head = BundleHead.from_bytes(archive.read("bundle.json"))
    if relist:
        manifest = json.loads(files["manifest.json"])
        versions = {**versions_of(manifest), "bundle": head.versions["bundle"]}
        head = BundleHead(run=identity_of(manifest), versions=versions, files=())
    entries = tuple(listed(name, data) for name, data in sorted(files.items()))
    write_archive(path, BundleHead(run=head.run, versions=head.versions, files=entries), files)
    return path


def forged(bundle: Path, name: str, change: Callable[[Any], Any], *, relist: bool = False) -> Path:
    """A copy of a bundle in which one file was changed: its document, or the list of documents of its lines."""
    files = files_of(bundle)
    if name.endswith(".jsonl"):
        lines = [json.loads(line) for line in files[name].splitlines()]
        files[name] = "".join(json.dumps(line) + "\n" for line in change(lines) or lines).encode()
    else:
        document = json.loads(files[name])
        files[name] = json.dumps(change(document) or document).encode()
    return packed(bundle.with_name("forged.bw.zip"), files, bundle, relist=relist)
