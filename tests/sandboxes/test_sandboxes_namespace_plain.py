"""The tests of the namespace sandbox once more as a plain user, where they run as root."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import benchwright

pytestmark = [pytest.mark.namespaces, pytest.mark.slow]

NOBODY = 65534
# Interpreters that another user can read, unlike one below /root.
CANDIDATES = (
    f"/usr/bin/python3.{sys.version_info[1]}",
    f"/usr/local/bin/python3.{sys.version_info[1]}",
    sys.executable,
)
FILES = (
    "../left_behind.py",
    "conftest.py",
    "live_pieces.py",
    "sandbox_rootfs.py",
    "test_sandboxes_namespace.py",
    "test_sandboxes_namespace_hostile.py",
    "test_sandboxes_live.py",
    "test_sandboxes_live_files.py",
    "test_sandboxes_live_hostile.py",
)


def as_nobody(command: list[str], folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a program as uid 65534."""
    passed_on = {name: os.environ[name] for name in ("PATH", "CI") if name in os.environ}
    environ = {**passed_on, "HOME": str(folder), **variables}
    rights = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    return subprocess.run(command, capture_output=True, text=True, cwd="/", env=environ, **rights)  # type: ignore[call-overload,no-any-return]


def interpreter(libraries: str) -> str:
    """A Python that uid 65534 can start and that finds pytest; skips when there is none."""
    for candidate in CANDIDATES:
        try:
            done = as_nobody([candidate, "-c", "import pytest"], Path("/"), PYTHONPATH=libraries)
        except OSError:
            continue
        if done.returncode == 0:
            return candidate
    pytest.skip("no Python with pytest can be started by uid 65534")


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that others can read; pytest keeps its own from them."""
    with tempfile.TemporaryDirectory(prefix="benchwright-plain-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def test_the_sandbox_works_for_a_plain_user(folder: Path) -> None:
    """Every test but those that are about root passes, or the kernel refuses plain users their namespaces."""
    if os.getuid() != 0:
        pytest.skip("already a plain user: the other tests show the same")
    libraries = sysconfig.get_path("purelib")
    python = interpreter(libraries)
    ignored = shutil.ignore_patterns("__pycache__")
    for package in ("benchwright", "benchwright_guest"):
        shutil.copytree(Path(benchwright.__file__).parents[1] / package, folder / "src" / package, ignore=ignored)
    for name in FILES:
        shutil.copy(Path(__file__).parent / name, folder)
    (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n    namespaces: needs namespaces\n")
    home = folder / "home"
    home.mkdir()
    os.chown(home, NOBODY, NOBODY)
    command = [python, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", str(folder / "pytest.ini")]
    paths = f"{folder / 'src'}:{folder}:{libraries}"
    command += [f"--basetemp={home / 'temporary'}", *(str(folder / name) for name in FILES if name.startswith("test_"))]
    done = as_nobody(command, home, PYTHONPATH=paths)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    if not re.search(r"\d+ passed", done.stdout) or "This machine refuses" in done.stdout:
        pytest.skip("this kernel refuses plain users their namespaces")
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) > 80  # type: ignore[index]
