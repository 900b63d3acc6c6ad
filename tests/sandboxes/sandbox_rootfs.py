"""A small root file system for tests, copied from what this machine has: a shell, file commands and a Python.

Standard library and benchwright only, so that any interpreter will do.
"""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from benchwright.sandboxes.base import Image
from benchwright.sandboxes.users import user_mapping

PROGRAMS = (
    "cat", "chmod", "chown", "cp", "dd", "df", "echo", "env", "false", "grep", "head", "hostname", "id", "kill", "ln",
    "ls", "mkdir", "mkfifo", "mknod", "mount", "mv", "printf", "pwd", "rm", "seq", "setsid", "sh", "sleep", "sort",
    "tail", "test", "touch", "tr", "true", "umount", "uname", "unshare", "wc", "yes",
)  # fmt: skip
FOLDERS = ("usr/bin", "usr/lib", "usr/lib64", "etc", "tmp", "root", "testbed", "opt", "var/tmp", "proc", "dev", "sys")
_LEFT_OUT = ("test", "tests", "idlelib", "ensurepip", "lib2to3", "turtledemo", "tkinter", "distutils", "pydoc_data")
_LEFT_OUT_TOO = ("site-packages", "dist-packages", "config-*", "*.a", "*.opt-*.pyc", "__phello__")
_LIBRARIES = ("libdl.so.2", "libpthread.so.0", "librt.so.1", "libutil.so.1", "libm.so.6", "libz.so.1")
_PYTHON = Path("opt/python")


def build(root: Path) -> None:
    """Fill a folder; the files belong to whoever is root inside workspaces that this process makes."""
    for name in FOLDERS:
        (root / name).mkdir(parents=True)
    for name in ("bin", "sbin"):
        (root / name).symlink_to("usr/bin")
    for name in ("lib", "lib64"):
        (root / name).symlink_to(f"usr/{name}")
    (root / "tmp").chmod(0o1777)
    (root / "etc" / "passwd").write_text("root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n")
    (root / "etc" / "os-release").write_text('ID=debian\nVERSION_ID="12"\n')  # Inspect's tools ask for it
    (root / "etc" / "group").write_text("root:x:0:\ntty:x:5:\nnogroup:x:65534:\n")
    found = [shutil.which(name, path="/usr/bin:/bin:/usr/sbin:/sbin") for name in PROGRAMS]
    programs = [Path(path) for path in found if path is not None]
    for program in programs:
        shutil.copy2(program, root / "usr/bin" / program.name)
    _copy_libraries([*programs, *_copy_python(root), *_libraries_of_tools(root)], root)
    for folder, folders, files in os.walk(root):
        for name in (".", *folders, *files):
            os.chown(Path(folder, name), user_mapping().uid, user_mapping().gid, follow_symlinks=False)


def image(*layers: Path) -> Image:
    """An image of layers, with the variables that the root file system needs."""
    environ = {"PATH": "/usr/bin:/opt/python/bin", "HOME": "/root", "LANG": "C.UTF-8"}
    return Image(digest="+".join(map(str, layers)), layers=layers, environ=environ)


def built_once(base: Path) -> Path:
    """The root file system below a folder of the test session; built if it is not there yet."""
    root = base / "sandbox-rootfs"
    if not root.exists():
        build(root)
    return root


def _copy_python(root: Path) -> list[Path]:
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    executable = Path(sys.executable).resolve()
    target = root / _PYTHON / "bin" / "python3"
    target.parent.mkdir(parents=True)
    shutil.copy2(executable, target)
    library = root / _PYTHON / "lib" / version
    ignored = shutil.ignore_patterns(*_LEFT_OUT, *_LEFT_OUT_TOO)
    shutil.copytree(sysconfig.get_path("stdlib"), library, symlinks=True, ignore=ignored)
    for link in [path for path in library.rglob("*") if path.is_symlink()]:
        link.unlink()  # a distribution's own additions
    return [executable, *(library / "lib-dynload").glob("*.so")]


def _libraries_of_tools(root: Path) -> list[Path]:
    """What the program that Inspect puts into sandboxes was linked with; most of it is part of the C library by now."""
    listing = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True).stdout
    found = [re.search(rf"{re.escape(name)} \(.*64.*=> (\S+)", listing) for name in _LIBRARIES]
    libraries = [Path(match[1]) for match in found if match is not None]
    for library in libraries:
        target = root / "usr" / str(library).removeprefix("/usr").lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(library, target)
    return libraries


def _copy_libraries(binaries: list[Path], root: Path) -> None:
    listing = subprocess.run(["ldd", *binaries], capture_output=True, text=True).stdout
    for library in {Path(word) for word in re.findall(r"(/\S+) \(0x", listing)}:
        target = root / library.relative_to("/")
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(library, target)
