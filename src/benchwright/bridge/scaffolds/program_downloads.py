"""Fetching a package of the npm registry whose digest is known beforehand."""

import base64
import hashlib
import os
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path, PurePosixPath

from benchwright.core.errors import MachineError

_FETCH_SECONDS = 3600
"""For 200 MB over a slow line."""
_LAST_WORDS = 500
"""Characters of npm's complaint that go into a message."""


def fetched(package: str, integrity: str, folder: Path) -> None:
    """See to it that a folder holds an npm package; nothing is done when it is there already.

    Args:
        package: What ``npm pack`` is given, a version included.
        integrity: ``sha512-`` and the digest of the archive in Base64, as in a lock file.
        folder: Where the package's files are to be; it appears whole or not at all.

    No script of the package is run, and only npm's registry is asked.  Raises `MachineError` when there is no npm,
    when it fails, or when the archive is another one.
    """
    if folder.exists():
        return
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".fetching-", dir=folder.parent) as name:
            archive = _packed(package, Path(name))
            _check(package, archive, integrity)
            unpacked = Path(name) / "unpacked"
            unpack(archive, unpacked)
            _put(unpacked, folder)
    except OSError as error:
        raise MachineError(f"{package} cannot be kept in {folder.parent} ({error.strerror or error}).") from error


def npm_for(package: str) -> str:
    """The npm that can fetch a package; raises `MachineError` when there is none."""
    npm = shutil.which("npm")
    if npm is None:
        raise MachineError(
            f"{package} is not there and cannot be fetched without npm; install npm, or name the program."
        )
    return npm


def _packed(package: str, folder: Path) -> Path:
    command = [npm_for(package), "pack", package, "--pack-destination", str(folder), "--ignore-scripts", "--silent"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_FETCH_SECONDS, cwd=folder)
    except subprocess.TimeoutExpired as error:
        raise MachineError(f"`npm pack {package}` took more than {_FETCH_SECONDS} s.") from error
    archives = list(folder.glob("*.tgz"))
    if done.returncode != 0 or len(archives) != 1:
        words = (done.stderr or done.stdout).strip()[-_LAST_WORDS:]
        raise MachineError(f"`npm pack {package}` failed: {words or f'exit status {done.returncode}'}")
    return archives[0]


def _check(package: str, archive: Path, integrity: str) -> None:
    with archive.open("rb") as file:
        digest = "sha512-" + base64.b64encode(hashlib.file_digest(file, "sha512").digest()).decode()
    if digest != integrity:
        raise MachineError(f"{package} is not what is expected: its archive has {digest}, and {integrity} is pinned.")


def unpack(archive: Path, folder: Path) -> None:
    """Write the regular files of an npm archive to a new folder, without the ``package/`` before their names.

    Everybody may read them, whoever runs a sandbox.  Raises ``OSError``, and `MachineError` for a name that leads
    out of the folder.
    """
    folder.mkdir()
    with tarfile.open(archive, mode="r:gz") as members:
        for member in members:
            parts = PurePosixPath(member.name).parts[1:]
            if not member.isreg():
                continue
            if not parts or ".." in parts:
                raise MachineError(f"{archive.name} holds a file called {member.name}, which is no place in a package.")
            path = folder.joinpath(*parts)
            path.parent.mkdir(parents=True, exist_ok=True)
            content = members.extractfile(member)
            assert content is not None, "a regular file has content"
            with content, path.open("wb") as file:
                shutil.copyfileobj(content, file, 1024**2)
            path.chmod(0o755 if member.mode & 0o100 else 0o644)
    for place in (folder, *(path for path in folder.rglob("*") if path.is_dir())):
        place.chmod(0o755)


def _put(unpacked: Path, folder: Path) -> None:
    try:
        os.rename(unpacked, folder)  # noqa: PTH104  Path.rename would say the same
    except OSError:
        if not folder.exists():  # else somebody else has fetched it meanwhile
            raise
