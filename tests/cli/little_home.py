"""A benchwright home in which ``bw env build`` really built a little repository, once for all tests that ask for it."""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

sys.path += [str(Path(__file__).parents[1] / name) for name in ("sandboxes", "repositories")]

import sandbox_rootfs
from little_repositories import PROGRAMS, run_git
from running_bw import start_bw

from benchwright.core.errors import IsolationRefusedError
from benchwright.environments.interpreters import find_uv
from benchwright.sandboxes.base import WorkspaceLimits
from benchwright.sandboxes.namespace import NamespaceSandbox
from benchwright.sandboxes.users import user_mapping

REPO = "own/little"
PYTHON = f"{sys.version_info[0]}.{sys.version_info[1]}"
NO_PYTHON = "3.99"
"""A version that no machine has."""
PACKAGES = ("pytest==8.3.4", "pluggy==1.5.0", "iniconfig==2.0.0", "packaging==24.2")

SOUND = "own__little-12"
"""The merge of the repository's pull request 12."""
SECOND = "own__little-15"
"""A squashed change."""
UNSOUND = "own__little-90"
"""Its reference does not resolve it."""
FUTURE = "own__little-91"
"""Its environment needs an interpreter that nobody has."""
BUILT = (SOUND, SECOND, UNSOUND)

F2P = ("tests/test_counting.py::test_double", "tests/test_counting.py::test_double_of_nothing")
P2P = ("tests/test_counting.py::test_triple",)

SPEC = f"""\
schema = 1
repo = "{REPO}"
source = "written for these tests"

[defaults]
python = "{PYTHON}"
packages = [{json.dumps(PACKAGES)}]
install = "python -m pip install --no-build-isolation --no-deps -e ."
requirement = ""
editable = true
test = "pytest -rA"
runner = "pytest"

[[block]]
versions = ["1.0"]

[[block]]
versions = ["2.0"]
python = "{NO_PYTHON}"
"""

COUNTING = '''\
"""Counting."""


def double(number):
    return number + number + 1


def triple(number):
    return 3 * number
'''
DOUBLE = ("number + number + 1", "2 * number")
TRIPLE_TESTS = '''\
"""Tests of counting."""

from little import counting


def test_triple():
    assert counting.triple(2) == 6
'''
DOUBLE_TESTS = """

def test_double():
    assert counting.double(4) == 8


def test_double_of_nothing():
    assert counting.double(0) == 0
"""
COINS = 16
HALF_TESTS = f'''\
"""Tests of halves; chance decides most of them."""

import os

import pytest

from little import counting


def test_half():
    assert counting.half(8) == 4


@pytest.mark.parametrize("coin", range({COINS}))
def test_coin(coin):
    assert os.urandom(1)[0] % 2
'''
BASE = {
    "pyproject.toml": '[project]\nname = "little"\nversion = "1.0"\n\n[tool.setuptools]\npackages = ["little"]\n',
    "little/__init__.py": '"""Little."""\n',
    "little/counting.py": COUNTING,
    "tests/test_counting.py": TRIPLE_TESTS,
    "notes.txt": "1\n",
}


@dataclass(frozen=True, kw_only=True)
class Little:
    """The repository, and what its commits are called."""

    path: Path
    base: str
    """Where the merged change branched off."""
    merge: str
    source_only: str
    tests_only: str
    squashed: str

    def diff(self, files: Mapping[str, str | None], base: str | None = None) -> str:
        """What git prints for files with other contents than at the base; None removes one."""
        folder = self.path.parent / "diffing"
        shutil.rmtree(folder, ignore_errors=True)
        run_git(self.path, "worktree", "prune")
        run_git(self.path, "worktree", "add", "--quiet", "--detach", "--force", str(folder), base or self.base)
        for name, text in files.items():
            if text is None:
                (folder / name).unlink()
            else:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_text(text)
        run_git(folder, "add", "--all")
        return run_git(folder, "diff", "--cached", "--binary").decode()

    def between(self, before: str, after: str, *paths: str) -> str:
        """What git prints for the difference of two commits below some paths."""
        return run_git(self.path, "diff", "--binary", before, after, "--", *paths).decode()

    @property
    def gold(self) -> str:
        """The reference of `SOUND`."""
        return self.between(self.base, f"{self.merge}^2", "little")

    @property
    def wrong(self) -> str:
        """A patch that applies and does not fix it."""
        return self.diff({"little/counting.py": COUNTING.replace(DOUBLE[0], "number + 2")})

    def row(self, **changes: Any) -> dict[str, Any]:
        """The row of `SOUND` in the official format, with changes; None takes a field away."""
        row = {
            "instance_id": SOUND,
            "repo": REPO,
            "version": "1.0",
            "base_commit": self.base,
            "problem_statement": "Twice four is nine.",
            "created_at": "2024-05-01T10:00:00Z",
            "patch": self.gold,
            "test_patch": self.between(self.base, f"{self.merge}^2", "tests"),
            "FAIL_TO_PASS": list(F2P),
            "PASS_TO_PASS": list(P2P),
            **changes,
        }
        return {name: value for name, value in row.items() if value is not None}

    def rows(self) -> list[dict[str, Any]]:
        """The rows of `BUILT`, and of `FUTURE`."""
        before = f"{self.squashed}^"
        second = {
            "instance_id": SECOND,
            "base_commit": run_git(self.path, "rev-parse", before).decode().strip(),
            "patch": self.between(before, self.squashed, "little"),
            "test_patch": self.between(before, self.squashed, "tests"),
            "FAIL_TO_PASS": ["tests/test_halves.py::test_half"],
            "PASS_TO_PASS": [],
        }
        return [
            self.row(),
            self.row(**second),
            self.row(instance_id=UNSOUND, patch=self.wrong),
            self.row(instance_id=FUTURE, version="2.0"),
        ]


def make_little(path: Path) -> Little:
    """Commit the project's past, a merged change, two that make no instance, and a squashed one."""
    path.mkdir(parents=True)
    run_git(path, "init", "--quiet", "--initial-branch=main")
    _commit(path, {"notes.txt": "0\n"}, "begin")
    base = _commit(path, BASE, "count")
    run_git(path, "checkout", "--quiet", "-b", "fix")
    fixed = COUNTING.replace(*DOUBLE)
    _commit(path, {"little/counting.py": fixed}, "double rightly")
    _commit(path, {"tests/test_counting.py": TRIPLE_TESTS + DOUBLE_TESTS}, "test doubling")
    run_git(path, "checkout", "--quiet", "main")
    _commit(path, {"notes.txt": "2\n"}, "write down more")
    message = "Merge pull request #12 from own/fix\n\nDouble is one too large"
    run_git(path, "merge", "--quiet", "--no-ff", f"--message={message}", "fix")
    merge = run_git(path, "rev-parse", "HEAD").decode().strip()
    source_only = _commit(path, {"little/counting.py": fixed + "\n\nTEN = 10\n"}, "Name ten (#13)")
    tests_only = _commit(path, {"tests/test_more.py": "def test_more():\n    pass\n"}, "Test more (#14)")
    halves = fixed + "\n\nTEN = 10\n\n\ndef half(number):\n    return number // 2\n"
    squashed = _commit(path, {"little/counting.py": halves, "tests/test_halves.py": HALF_TESTS}, "Halve (#15)")
    _commit(path, {"notes.txt": "3\n"}, "go on")
    return Little(path=path, base=base, merge=merge, source_only=source_only, tests_only=tests_only, squashed=squashed)


def _commit(path: Path, files: Mapping[str, str], message: str) -> str:
    for name, text in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text)
    run_git(path, "add", "--all")
    run_git(path, "commit", "--quiet", f"--message={message}")
    return run_git(path, "rev-parse", "HEAD").decode().strip()


def make_root_archive(folder: Path) -> Path:
    """A tar archive of a small root file system with git, made of this machine's files."""
    root, archive, uv = folder / "root", folder / "root.tar", find_uv(os.environ)
    with mock.patch.object(sandbox_rootfs, "PROGRAMS", (*sandbox_rootfs.PROGRAMS, *PROGRAMS, str(uv))):
        sandbox_rootfs.build(root)
    (root / "usr/bin/uv").unlink()  # only its libraries are needed: the builder brings it along, as it does Python
    shutil.rmtree(root / "opt/python")
    with tarfile.open(archive, "w") as tar:
        tar.add(root, arcname=".", filter=_as_root)
    shutil.rmtree(root)
    return archive


def _as_root(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


@dataclass(frozen=True, kw_only=True)
class BuiltHome:
    """Where everything is."""

    folder: Path
    little: Little
    archive: Path
    build_output: dict[str, Any]
    """What the build of `BUILT` printed."""

    @property
    def home(self) -> Path:
        """The benchwright home; tests only read it."""
        return self.folder / "home"

    @property
    def specs(self) -> Path:
        """Folder with the specifications."""
        return self.folder / "specs"

    @property
    def dataset(self) -> Path:
        """The rows of `BUILT`."""
        return self.folder / "rows.jsonl"

    @property
    def rows(self) -> tuple[object, ...]:
        """The options that say which rows are meant and how they are specified."""
        return ("--dataset", self.dataset, "--specs", self.specs)

    @property
    def building(self) -> tuple[object, ...]:
        """The options that say of what environments are built."""
        return ("--rootfs", self.archive, "--repo-source", f"{REPO}={self.little.path}")

    def private(self, folder: Path) -> Path:
        """A home of one's own, with these environments and nothing else."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "repositories").symlink_to(self.home / "repositories")
        return folder


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    """A file of rows, or of predictions."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def write_predictions(path: Path, patches: Mapping[str, Any], model: str = "somebody/one") -> Path:
    """A file of predictions: patch by instance."""
    return write_rows(
        path,
        ({"instance_id": name, "model_name_or_path": model, "model_patch": patch} for name, patch in patches.items()),
    )


def built_home(folder: Path) -> BuiltHome:
    """Build the home below an empty folder; skips where this machine cannot build."""
    _need_a_sandbox()
    _need_packages()
    little = make_little(folder / "little")
    (folder / "specs").mkdir()
    (folder / "specs/little.toml").write_text(SPEC)
    built = BuiltHome(folder=folder, little=little, archive=make_root_archive(folder), build_output={})
    write_rows(built.dataset, [row for row in little.rows() if row["instance_id"] in BUILT])
    done = start_bw(folder, "env", "build", "repositories", *built.rows, *built.building, "--json")
    assert done.returncode == 0, done.stderr + done.stdout
    built.build_output.update(json.loads(done.stdout))
    return built


def _need_a_sandbox() -> None:
    mapping, limits = user_mapping(), WorkspaceLimits(memory_bytes=2**28, processes=16, scratch_bytes=2**20)
    with tempfile.TemporaryDirectory() as name:
        os.chown(name, mapping.uid, mapping.gid)
        try:
            NamespaceSandbox().open(sandbox_rootfs.image(Path(name)), limits).close()
        except IsolationRefusedError as error:
            pytest.skip(str(error))


def _need_packages() -> None:
    uv = find_uv(os.environ)
    if uv is None:
        pytest.skip("there is no uv command")
    asked = subprocess.run(
        [uv, "--no-cache", "pip", "compile", "--quiet", "--python-version", PYTHON, "-"],
        input="".join(f"{line}\n" for line in (*PACKAGES, "pip", "setuptools", "wheel")),
        capture_output=True,
        text=True,
    )
    if asked.returncode != 0:
        pytest.skip(f"packages cannot be had: {asked.stderr.strip()[-200:]}")
