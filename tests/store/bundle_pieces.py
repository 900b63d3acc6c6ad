"""Small bundles, and archives made by hand that are none."""

import zipfile
from collections.abc import Mapping
from pathlib import Path

from benchwright.store.bundle import BundleHead, listed, member, write_archive

FILES = {"manifest.json": b"{}\n", "rows.jsonl": b"", "logs/a/report.json": b"[1, 2]\n" * 100}
RUN = {"run_id": "1234", "benchmark": "starter", "model": "m"}


def head_of(files: Mapping[str, bytes]) -> BundleHead:
    """A list of files as it has to be."""
    return BundleHead(
        run=RUN,
        versions={"benchwright_version": "1"},
        files=tuple(listed(name, data) for name, data in sorted(files.items())),
    )


def bundle_at(path: Path, files: Mapping[str, bytes] = FILES) -> Path:
    """A bundle of some files."""
    write_archive(path, head_of(files), files)
    return path


def archive_at(path: Path, head: BundleHead, members: list[tuple[str | zipfile.ZipInfo, bytes]]) -> Path:
    """An archive with a list, and members whether or not they are in it."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(member("bundle.json"), head.to_bytes())
        for name, data in members:
            archive.writestr(member(name) if isinstance(name, str) else name, data)
    return path
