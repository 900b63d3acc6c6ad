"""The lowest layer: a small Debian with compilers and git, and layers of further Debian packages over it.

It is made with ``debootstrap``, which needs root, or unpacked from a tar archive that somebody else made of a
Debian-like system (``docker export`` writes one).
"""

import hashlib
import os
import platform
import re
import shutil
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchwright.core.digest import digest_of
from benchwright.core.errors import MachineError, UsageError
from benchwright.environments import commands
from benchwright.environments.repositories.archives import ArchiveReader
from benchwright.environments.repositories.layers import (
    Draft,
    Layer,
    LayerKey,
    LayerKind,
    LayerStore,
    Made,
    remove_tree,
)
from benchwright.environments.repositories.sealing import shift_owners
from benchwright.sandboxes.users import UserMapping

SUITE = "bookworm"
"""Debian 12: interpreters built on a system whose C library is newer than its glibc 2.36 do not start over it."""

MIRROR = "http://deb.debian.org/debian"

TOOLS = ("build-essential", "ca-certificates", "faketime", "git", "locales", "netbase", "patch", "procps", "tzdata")
"""What specifications take for granted; netbase has the names of ports and protocols, faketime dates a run."""

LIBRARIES = (
    "libbz2-1.0",
    "libdb5.3",
    "libexpat1",
    "libffi8",
    "libffi-dev",
    "libgdbm6",
    "libgdbm-compat4",
    "liblzma5",
    "libncursesw6",
    "libnsl2",
    "libreadline8",
    "libsqlite3-0",
    "libssl3",
    "libtinfo6",
    "libuuid1",
    "zlib1g",
)
"""What the extension modules of a CPython built on Debian 12 or something older need."""

NEEDLESS = (
    "dev/*",
    "run/*",
    "tmp/*",
    "usr/share/bug",
    "usr/share/doc/*",
    "usr/share/info/*",
    "usr/share/lintian",
    "usr/share/locale/*",
    "usr/share/man/*",
    "var/cache/apt/*",
    "var/cache/debconf/*-old",
    "var/cache/ldconfig/*",
    "var/lib/apt/lists/*",
    "var/lib/dpkg/*-old",
    "var/log/*",
    "var/tmp/*",
    "etc/*-",
    "debootstrap",
)
"""Caches, texts and what would differ from one build to the next; 290 of 695 MiB."""

NO_TEXTS = "".join(f"path-exclude=/usr/share/{name}/*\n" for name in ("bug", "doc", "info", "lintian", "locale", "man"))
"""For dpkg, so that packages installed later leave their texts out as well."""

HOSTS = "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n"

PROCEDURE = 1
"""Raised when the steps below make something else of the same packages."""

DEVIATIONS = (
    "Debian 12 instead of Ubuntu 22.04 as the system below",
    "wget, curl, jq, libtiff-dev and a Python of the system are not there",
    "of the locales only C.UTF-8 and en_US.UTF-8 are there",
)

NEEDED_PROGRAMS = ("bash", "env", "find", "git", "patch", "sed", "touch", "xargs")
"""What a root file system from elsewhere must have in /bin or /usr/bin at least."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RootfsChoice:
    """Which root file system the environments stand on."""

    tarball: Path | None = None
    """A Debian-like root as a tar archive, compressed or not; Debian by ``debootstrap`` when None."""
    suite: str = SUITE
    mirror: str = MIRROR

    def key(self) -> LayerKey:
        """The key of its layer; reads a tar archive whole.  Raises `UsageError` when it cannot be read."""
        if self.tarball is not None:
            return LayerKey(kind=LayerKind.ROOTFS, name="archive", digest=_file_digest(self.tarball))
        inputs = {
            "suite": self.suite,
            "machine": platform.machine(),
            "packages": [*TOOLS, *LIBRARIES],
            "needless": list(NEEDLESS),
            "procedure": PROCEDURE,
        }
        return LayerKey(kind=LayerKind.ROOTFS, name=f"debian-{self.suite}", digest=digest_of(inputs))


def rootfs_layer(store: LayerStore, choice: RootfsChoice, *, environ: Mapping[str, str] = os.environ) -> Layer:
    """The layer of the root file system, made if it is not there.

    Raises `MachineError` when it cannot be made here, saying what to install, and `UsageError` when the tar
    archive is none or holds no usable system.
    """
    tarball = choice.tarball
    if tarball is not None:
        return store.put(choice.key(), lambda draft: _unpack(tarball, draft.folder, store.owner))
    return store.put(choice.key(), lambda draft: _bootstrap(choice, draft, store.owner, environ))


def why_not_here(choice: RootfsChoice, environ: Mapping[str, str]) -> str:
    """Why the root file system cannot be made on this machine, or an empty text."""
    if choice.tarball is not None:
        return "" if choice.tarball.is_file() else f"There is no file {choice.tarball}."
    instead = "or give a root file system as a tar archive (--rootfs FILE; `docker export` of a Debian writes one)"
    if os.geteuid() != 0:
        return f"Making a root file system needs root: run this once as root, {instead}."
    if shutil.which("debootstrap", path=_search_path(environ)) is None:
        return f"Making a root file system needs debootstrap: install it (apt install debootstrap), {instead}."
    return ""


def installed_packages(root: Path) -> tuple[tuple[str, str], ...]:
    """Name and version of the Debian packages of a root; empty when it has no list of them."""
    status = root / "var" / "lib" / "dpkg" / "status"
    if not status.is_file():
        return ()
    text = status.read_text(encoding="utf-8", errors="replace")
    pairs = re.findall(r"^Package: (\S+)$(?:\n.+$)*?\nVersion: (\S+)$", text, re.MULTILINE)
    return tuple(sorted((name, version) for name, version in pairs))


def trim(root: Path, patterns: Sequence[str] = NEEDLESS) -> None:
    """Remove what the patterns, relative to the root, match.  Raises ``OSError``."""
    for pattern in patterns:
        for path in list(root.glob(pattern)):
            remove_tree(path)


def _bootstrap(choice: RootfsChoice, draft: Draft, owner: UserMapping, environ: Mapping[str, str]) -> Made:
    reason = why_not_here(choice, environ)
    if reason:
        raise MachineError(reason)
    include = ",".join((*TOOLS, *LIBRARIES))
    command = ["debootstrap", "--variant=minbase", f"--include={include}", choice.suite]
    variables = {**environ, "PATH": _search_path(environ), "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"}
    commands.run([*command, draft.folder, choice.mirror], what="make a Debian root file system", environ=variables)
    _generate_locale(draft.folder, variables)
    trim(draft.folder)
    _settle(draft.folder)
    shift_owners(draft.folder, owner)
    return Made(
        commands=(" ".join([*command, "ROOT", choice.mirror]), "locale-gen"),
        versions=installed_packages(draft.folder),
        deviations=DEVIATIONS,
    )


def _generate_locale(root: Path, environ: Mapping[str, str]) -> None:
    (root / "etc" / "locale.gen").write_text("en_US.UTF-8 UTF-8\n", encoding="ascii")
    commands.run(["chroot", root, "locale-gen"], what="make the locale en_US.UTF-8", environ=environ)


def _settle(root: Path) -> None:
    """Replace what names this machine or this build."""
    texts = {"machine-id": "", "resolv.conf": "", "hostname": "localhost\n", "hosts": HOSTS}
    for name, text in texts.items():
        (root / "etc" / name).unlink(missing_ok=True)  # what debootstrap put there may be a link
        (root / "etc" / name).write_text(text, encoding="ascii")
    (root / "etc" / "dpkg" / "dpkg.cfg.d" / "no-texts").write_text(NO_TEXTS, encoding="ascii")


def _unpack(tarball: Path, folder: Path, owner: UserMapping) -> Made:
    reader = ArchiveReader(folder, owner=owner, what=os.fspath(tarball))
    try:
        with tarfile.open(tarball) as archive:
            reader.unpack(archive, _without_devices(archive))
            reader.finish()
    except tarfile.TarError as error:
        raise UsageError(f"{tarball} is no tar archive of a root file system ({error}).") from error
    places = [folder / "usr/bin", *([] if (folder / "bin").is_symlink() else [folder / "bin"])]
    missing = [name for name in NEEDED_PROGRAMS if not any(os.path.lexists(place / name) for place in places)]
    if missing:
        raise UsageError(f"The root file system in {tarball} has no program {missing[0]}; install it there first.")
    return Made(
        commands=(f"tar --extract --file {tarball.name}",),
        versions=installed_packages(folder),
        deviations=("a root file system of the user's own instead of Ubuntu 22.04",),
    )


def _without_devices(archive: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    """A sandbox brings its own /dev, /proc and /sys."""
    for member in archive:
        member.name = member.name.removeprefix("./").rstrip("/")
        inside = re.match(r"(dev|proc|sys)/", member.name)
        if member.name not in ("", ".") and not inside:
            yield member


def _file_digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise UsageError(f"The root file system {path} cannot be read ({error.strerror}).") from error


def _search_path(environ: Mapping[str, str]) -> str:
    return f"{environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"
