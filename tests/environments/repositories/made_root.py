"""A root file system for building in, copied from what this machine has: a shell, git, and what a Python needs."""

import re
import shutil
import subprocess
import sysconfig
import tarfile
from pathlib import Path

PROGRAMS = (
    *("bash", "cat", "chmod", "cp", "env", "find", "git", "ls", "mkdir", "patch", "rm", "sed", "sh", "touch", "true"),
    *("uname", "xargs"),
)
FOLDERS = ("usr/bin", "usr/lib", "etc", "tmp", "root", "opt", "var/tmp", "proc", "dev", "sys")


def archive_of_this_machine(folder: Path, *others: Path) -> Path | None:
    """A tar archive with these programs and with the libraries of them, of this Python and of the others.

    None when one of the programs is not there.
    """
    root = folder / "root"
    for name in FOLDERS:
        (root / name).mkdir(parents=True)
    for name in ("bin", "sbin"):
        (root / name).symlink_to("usr/bin")
    for name in ("lib", "lib64"):
        (root / name).symlink_to("usr/lib")
    (root / "tmp").chmod(0o1777)
    (root / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/sh\n")
    found = [shutil.which(name, path="/usr/bin:/bin") for name in PROGRAMS]
    programs = [Path(path) for path in found if path is not None]
    if len(programs) < len(PROGRAMS):
        return None
    for program in programs:
        shutil.copy2(program, root / "usr/bin" / program.name)
    modules = Path(sysconfig.get_path("stdlib"), "lib-dynload").glob("*.so")
    listing = subprocess.run(["ldd", *programs, *modules, *others], capture_output=True, text=True).stdout
    for library in {Path(word) for word in re.findall(r"(/\S+) \(0x", listing)}:
        target = root / "usr/lib" / library.relative_to("/").as_posix().removeprefix("usr/").partition("/")[2]
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(library, target)
    with tarfile.open(folder / "root.tar", "w") as archive:
        archive.add(root, ".")
    return folder / "root.tar"
