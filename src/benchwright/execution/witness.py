"""The witness library: built from the guest's C source on first use, kept by the guest's version."""

import contextlib
import functools
import os
import platform
import shutil
import subprocess
from pathlib import Path

from benchwright.core.errors import MachineError
from benchwright.environments.home import default_home
from benchwright.execution.guest import guest_package, guest_version

_BUILD_SECONDS = 60


@functools.cache
def witness_library() -> Path:
    """Path of the built library; raises `MachineError` where there is no working C compiler."""
    folder = default_home(os.environ) / "witness"
    library = folder / f"witness-{guest_version()}-{platform.machine()}.so"
    if library.exists():
        return library
    compiler = next((path for name in ("cc", "gcc", "clang") if (path := shutil.which(name))), None)
    if compiler is None:
        raise MachineError(
            "The guest's witness is a small C library that is built on first use, and no C compiler (cc, gcc, clang) "
            "was found; install one, such as the package gcc."
        )
    temporary = library.with_suffix(f".{os.getpid()}")
    source = guest_package() / "witness.c"
    command = [compiler, "-O2", "-shared", "-fPIC", "-o", str(temporary), str(source), "-lpthread"]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(command, check=True, capture_output=True, timeout=_BUILD_SECONDS, stdin=subprocess.DEVNULL)
        temporary.replace(library)
    except (OSError, subprocess.SubprocessError) as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        words = getattr(error, "stderr", None) or b""
        raise MachineError(
            f"The guest's witness could not be built by {compiler} ({error}); "
            f"{words.decode('utf-8', 'replace').strip()[-400:]}"
        ) from error
    return library
