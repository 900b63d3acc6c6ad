"""The engine as a plain user: the tests may run as root, so another program drops to an unprivileged uid."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import benchwright

pytestmark = pytest.mark.namespaces

NOBODY = 65534
# Interpreters that another user can read, unlike one below /root.
CANDIDATES = ("/usr/bin/python3", "/usr/local/bin/python3", sys.executable)


def fitting_interpreter() -> str:
    """A Python for the host program that uid 65534 can start; skips when there is none."""
    for candidate in CANDIDATES:
        program = "import sys; sys.exit(sys.version_info < (3, 11))"
        with_rights = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.getuid() == 0 else {}
        try:
            done = subprocess.run([candidate, "-c", program], capture_output=True, cwd="/", **with_rights)  # type: ignore[call-overload]
        except OSError:
            continue
        if done.returncode == 0:
            return candidate
    pytest.skip("no Python of version 3.11 or newer can be started by uid 65534")


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder that others can read; pytest keeps its own from them."""
    with tempfile.TemporaryDirectory(prefix="benchwright-plain-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture(scope="module")
def seen(folder: Path) -> dict[str, Any]:
    """What came of the answers, run by uid 65534."""
    python = fitting_interpreter()
    source = Path(benchwright.__file__).parents[1]
    ignored = shutil.ignore_patterns("__pycache__")
    for package in ("benchwright", "benchwright_guest"):
        shutil.copytree(source / package, folder / "src" / package, ignore=ignored)
    for name in ("interpreter_runs.py", "plain_user.py"):
        shutil.copy(Path(__file__).with_name(name), folder / name)
    home = folder / "home"
    home.mkdir()
    uid = NOBODY if os.getuid() == 0 else os.getuid()
    if os.getuid() == 0:
        os.chown(home, uid, uid)
        command = [python, str(folder / "plain_user.py"), f"{folder / 'src'}:{folder}", str(uid)]
    else:
        pytest.skip("already a plain user: the other tests of the engine show the same")
    done = subprocess.run(
        command, capture_output=True, text=True, cwd="/", env={"HOME": str(home), "PATH": os.environ["PATH"]}
    )
    if "IsolationRefusedError" in done.stderr:
        pytest.skip(f"this kernel refuses plain users their namespaces: {done.stderr.splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def test_answers_are_judged_as_for_root(seen: dict[str, Any]) -> None:
    """Right and wrong answers come to the same results."""
    assert (seen["right"]["cause"], seen["right"]["tests"]) == ("finished", ["passed"])
    assert (seen["wrong"]["cause"], seen["wrong"]["tests"]) == ("finished", ["failed"])
    assert {record["isolation"] for record in seen.values()} == {"namespace"}


def test_limits_are_kept_without_control_groups(seen: dict[str, Any]) -> None:
    """CPU time and memory are limited where no control group may be made, and the record says by what."""
    assert seen["spins"]["cause"] == "cpu_time"
    # Either the watcher ended it, or its own resource limit made the allocation fail.
    assert seen["eats"]["cause"] == "memory" or seen["eats"]["tests"] == ["error"]
    assert {record["memory"] for record in seen.values()} <= {"watched", "cgroup"}


def test_a_job_sees_its_own_user_and_home_only(seen: dict[str, Any]) -> None:
    """Inside, the user is always the same one, and the homes of the host do not exist."""
    assert seen["identity"]["output"].splitlines()[0] == "[1000, ['bench'], False]"
