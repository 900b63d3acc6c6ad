"""The guest as the host sees it: where its files are, and which version they are."""

import functools
from pathlib import Path

import benchwright_guest
from benchwright.core.digest import digest_of


def guest_package() -> Path:
    """Folder of the guest's source files."""
    return Path(benchwright_guest.__file__).resolve().parent


@functools.cache
def guest_version() -> str:
    """Twelve hexadecimal digits over the guest's source files: any change of them makes results new."""
    files = sorted(path for path in guest_package().iterdir() if path.suffix in (".py", ".c", ".h"))
    return digest_of({file.name: file.read_text(encoding="utf-8") for file in files})[:12]
