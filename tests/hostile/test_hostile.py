"""Every program of the hostile corpus gets the verdict it must get, and nothing of it stays behind."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import corpus
import pytest

from benchwright.core.errors import BenchwrightError
from benchwright.core.execution import ExecutionRecord
from benchwright.core.verdicts import Outcome, Verdict

SECRET = "zebra-stripe-4711"
SOURCES = Path(corpus.__file__).parents[2] / "src"

Results = dict[str, tuple[Verdict, ExecutionRecord]]


@pytest.fixture(scope="module")
def secrets_on_the_host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What no program may find: a variable, a file in the home, and a word in a host process's command line."""
    before = {name: os.environ.get(name) for name in ("HOSTILE_SECRET", "HOME")}
    home = tmp_path_factory.mktemp("home")
    (home / ".hostile_secret").write_text(SECRET)
    os.environ.update(HOSTILE_SECRET=SECRET, HOME=str(home))
    watcher = subprocess.Popen(
        [sys.executable, "-c", "import sys; sys.stdin.read()", "hostile_secret"], stdin=subprocess.PIPE
    )
    yield
    watcher.communicate()
    for name, value in before.items():
        os.environ.pop(name) if value is None else os.environ.update({name: value})


@pytest.fixture(scope="module")
def results(secrets_on_the_host: None) -> Results:
    """One run of the whole corpus."""
    try:
        return {program.name: (verdict, record) for program, verdict, record in corpus.run(corpus.programs())}
    except BenchwrightError as error:
        pytest.skip(f"this machine cannot isolate: {error}")


@pytest.mark.namespaces
@pytest.mark.parametrize("program", corpus.programs(), ids=lambda program: program.name)
def test_program_gets_its_verdict(program: corpus.Program, results: Results) -> None:
    """The verdict of each program is one of those its docstring names."""
    if program.needs and not all(_importable(name) for name in program.needs):
        pytest.skip(f"needs {', '.join(program.needs)}")
    verdict, _ = results[program.name]

    assert program.agrees(verdict), f"{verdict.outcome} {verdict.reason}: {verdict.detail}"


@pytest.mark.namespaces
def test_no_forger_passes(results: Results) -> None:
    """Not one program of the group ``forged`` is ever graded as passed, whatever its docstring allows."""
    passed = [name for name, (verdict, _) in results.items() if verdict.outcome is Outcome.PASSED]

    assert [name for name in passed if name.startswith("forged/")] == []


@pytest.mark.namespaces
def test_nothing_survives(results: Results) -> None:
    """When the corpus has run, no process of a guest is left on the machine."""
    assert results
    deadline = time.monotonic() + 10
    while (left := _guest_processes()) and time.monotonic() < deadline:
        time.sleep(0.05)

    assert left == []


@pytest.fixture
def readable() -> Iterator[Path]:
    """A folder that others can read; pytest keeps its own from them."""
    with tempfile.TemporaryDirectory(prefix="benchwright-plain-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.mark.namespaces
def test_corpus_as_a_plain_user(readable: Path) -> None:
    """Forgers and programs that reach out get the same verdicts when benchwright runs without any privilege."""
    if os.getuid() != 0:
        pytest.skip("the other tests of this file already run as a plain user")
    python = shutil.which("python3", path="/usr/bin")
    version = (
        subprocess.run([python, "-c", "import sys; print(sys.version_info >= (3, 11))"], capture_output=True)
        if python
        else None
    )
    if version is None or version.stdout.strip() != b"True":
        pytest.skip("needs a system Python 3.11 that other users can read")
    shutil.copytree(SOURCES, readable / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(Path(corpus.__file__).parent, readable / "hostile", ignore=shutil.ignore_patterns("__pycache__"))
    home = readable / "home"
    home.mkdir(mode=0o777)
    home.chmod(0o777)
    chosen = [
        p.name for p in corpus.programs() if p.name.startswith(("forged/", "reaching/", "unusable/")) and not p.needs
    ]
    process = subprocess.run(
        [python, "-B", str(readable / "hostile" / "corpus.py"), *chosen],
        env={
            "PATH": "/usr/bin:/bin",
            "PYTHONPATH": f"{readable / 'src'}:{readable / 'hostile'}",
            "HOME": str(home),
            "HOSTILE_SECRET": SECRET,
        },
        user=65534,
        group=65534,
        extra_groups=[],
        capture_output=True,
        text=True,
        cwd=readable,
        timeout=600,
    )
    if "refuses isolation level" in process.stderr:
        pytest.skip("this kernel gives plain users no namespaces")
    rows = [json.loads(line) for line in process.stdout.splitlines()]

    assert process.returncode == 0, process.stderr[-2000:]
    assert len(rows) == len(chosen)
    assert [row for row in rows if not row["agrees"]] == []
    assert {row["uid"] for row in rows} == {65534}


def _importable(name: str) -> bool:
    return subprocess.run([sys.executable, "-c", f"import {name}"], capture_output=True).returncode == 0


def _guest_processes() -> list[str]:
    """Guests of this checkout, but for those that another process of the same test run has at work."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes()
                above = list(_ancestors(int(entry.name)))
            except OSError:
                continue
            ours = os.getpid() in above or os.getppid() not in above
            if ours and b"benchwright_guest" in command and str(SOURCES).encode() in command:
                found.append(entry.name)
    return found


def _ancestors(process: int) -> Iterator[int]:
    while process > 1:
        status = Path(f"/proc/{process}/status").read_text(encoding="utf-8", errors="replace")
        process = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("PPid:"))
        yield process
