"""The root file system: made by debootstrap, or unpacked from somebody's archive."""

import os
import tarfile
from pathlib import Path

import pytest
from made_layers import make_store

from benchwright.core.errors import MachineError, UsageError
from benchwright.environments.repositories.layers import LayerKind
from benchwright.environments.repositories.rootfs import (
    NEEDED_PROGRAMS,
    RootfsChoice,
    installed_packages,
    rootfs_layer,
    trim,
    why_not_here,
)

STATUS = """\
Package: git
Status: install ok installed
Priority: optional
Description: fast
 a paragraph
Version: 1:2.39.5-0+deb12u2
Depends: libc6

Package: base-files
Version: 12.4

"""


def script(path: Path, body: str) -> None:
    """An executable shell script."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\nset -e\n{body}\n")
    path.chmod(0o755)


def root_archive(folder: Path, *, without: str = "") -> Path:
    """An archive as ``docker export`` writes it, of a system with next to nothing in it."""
    root = folder / "root"
    programs = [f"usr/bin/{name}" for name in NEEDED_PROGRAMS if name != without]
    for name in (*programs, "dev/console", "proc/1/x", "etc/hosts"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    (root / "bin").symlink_to("usr/bin")
    (root / "tmp").mkdir()
    (root / "tmp").chmod(0o1777)
    with tarfile.open(folder / "root.tar.gz", "w:gz") as archive:
        archive.add(root, ".")
    return folder / "root.tar.gz"


@pytest.fixture
def fake_tools(tmp_path: Path) -> dict[str, str]:
    """A debootstrap that makes a few files, and a chroot that says so."""
    tools = tmp_path / "tools"
    made = "usr/share/doc/x usr/share/locale/de var/cache/apt dev etc/dpkg/dpkg.cfg.d var/lib/dpkg usr/bin"
    body = f"""
for word; do case $word in --*|bookworm|http*) ;; *) root=$word ;; esac; done
echo "$@" > {tmp_path}/arguments
cd "$root"; mkdir -p {made}
echo text > usr/share/doc/x/readme; echo x > dev/console; ln -s /etc/elsewhere etc/hosts
printf 'Package: git\\nVersion: 1:2.39\\n' > var/lib/dpkg/status
"""
    script(tools / "debootstrap", body)
    script(tools / "chroot", 'echo "$2" > "$1/ran"')
    return {"PATH": f"{tools}:/usr/bin:/bin"}


@pytest.mark.skipif(os.geteuid() != 0, reason="debootstrap needs root")
def test_debian_is_made_once_and_trimmed(fake_tools: dict[str, str], tmp_path: Path) -> None:
    """Texts, caches and devices are gone; names of this machine are replaced; packages are noted."""
    store = make_store(tmp_path / "home")
    layer = rootfs_layer(store, RootfsChoice(), environ=fake_tools)
    assert layer.key.kind is LayerKind.ROOTFS
    assert not (layer.path / "usr/share/doc/x").exists()
    assert list((layer.path / "dev").iterdir()) == []
    assert (layer.path / "etc/hosts").read_text().startswith("127.0.0.1 localhost\n")
    assert (layer.path / "etc/machine-id").read_text() == ""
    assert (layer.path / "ran").read_text() == "locale-gen\n"
    assert (layer.path / "usr/bin").stat().st_uid == store.owner.uid
    assert layer.manifest.made.versions == (("git", "1:2.39"),)
    (tmp_path / "arguments").unlink()
    assert rootfs_layer(store, RootfsChoice(), environ={"PATH": ""}) == layer
    assert not (tmp_path / "arguments").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="debootstrap needs root")
def test_a_failing_debootstrap_is_told_with_its_last_lines(fake_tools: dict[str, str], tmp_path: Path) -> None:
    """The message has the command and what it said; nothing stays."""
    script(tmp_path / "tools/debootstrap", "echo 'E: Failed getting release file' >&2; exit 1")
    store = make_store(tmp_path / "home")
    with pytest.raises(MachineError, match=r"debootstrap --variant=minbase[\s\S]*Failed getting release file"):
        rootfs_layer(store, RootfsChoice(), environ=fake_tools)
    assert store.layers() == ()


def test_without_debootstrap_the_message_says_what_to_do(tmp_path: Path) -> None:
    """It names what is missing, root or the program, and the way with an archive."""
    reason = why_not_here(RootfsChoice(), {"PATH": str(tmp_path)})
    if Path("/usr/sbin/debootstrap").exists() and os.geteuid() == 0:
        pytest.skip("debootstrap is installed in its usual place")
    assert "--rootfs FILE" in reason
    assert ("debootstrap" in reason) == (os.geteuid() == 0)


def test_an_archive_becomes_a_layer(tmp_path: Path) -> None:
    """Devices and processes are left out, modes are kept, and its content names it."""
    choice = RootfsChoice(tarball=root_archive(tmp_path))
    assert why_not_here(choice, {}) == ""
    store = make_store(tmp_path / "home")
    layer = rootfs_layer(store, choice)
    assert (layer.path / "usr/bin/git").read_text() == "usr/bin/git"
    assert (layer.path / "bin").is_symlink()
    assert (layer.path / "tmp").stat().st_mode & 0o7777 == 0o1777
    assert not (layer.path / "dev/console").exists()
    assert not (layer.path / "proc/1").exists()
    assert store.verify(layer)
    assert store.find(choice.key()) == layer


def test_an_archive_without_git_is_refused(tmp_path: Path) -> None:
    """What is missing is named."""
    choice = RootfsChoice(tarball=root_archive(tmp_path, without="git"))
    with pytest.raises(UsageError, match="no program git"):
        rootfs_layer(make_store(tmp_path / "home"), choice)


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    """Neither a text nor a missing file is a root file system."""
    (tmp_path / "text").write_text("hello")
    store = make_store(tmp_path / "home")
    with pytest.raises(UsageError, match="no tar archive"):
        rootfs_layer(store, RootfsChoice(tarball=tmp_path / "text"))
    with pytest.raises(UsageError, match="cannot be read"):
        rootfs_layer(store, RootfsChoice(tarball=tmp_path / "missing"))
    assert why_not_here(RootfsChoice(tarball=tmp_path / "missing"), {}) != ""


def test_packages_are_read_from_dpkg(tmp_path: Path) -> None:
    """Name and version of each paragraph, whatever lies between them; nothing where dpkg is not used."""
    assert installed_packages(tmp_path) == ()
    (tmp_path / "var/lib/dpkg").mkdir(parents=True)
    (tmp_path / "var/lib/dpkg/status").write_text(STATUS)
    assert installed_packages(tmp_path) == (("base-files", "12.4"), ("git", "1:2.39.5-0+deb12u2"))


def test_trimming_removes_links_and_not_what_they_point_to(tmp_path: Path) -> None:
    """A link among what is removed leads nowhere."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "x").write_text("1")
    (tmp_path / "root" / "var" / "log").mkdir(parents=True)
    (tmp_path / "root" / "var" / "log" / "link").symlink_to(tmp_path / "outside")
    trim(tmp_path / "root")
    assert list((tmp_path / "root/var/log").iterdir()) == []
    assert (tmp_path / "outside" / "x").exists()


def test_the_key_follows_what_is_asked_for() -> None:
    """Another suite is another root file system; the mirror it comes from is not."""
    assert RootfsChoice(suite="trixie").key() != RootfsChoice().key()
    assert RootfsChoice(mirror="http://mirror.example.org/debian").key() == RootfsChoice().key()
