"""Bad input of every kind, through the program: one sentence and code 2, or a verdict; never a traceback."""

import errno
import gzip
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from app_pieces import PROBLEMS, private_home, references, write_samples
from running_bw import PROGRAM, Done, Run

from benchwright.benchmarks.starter.source import read_rows
from benchwright.store.folder import ResultsFolder

GOOD = {"task_id": "Starter/0", "solution": PROBLEMS[0].reference}


@pytest.fixture
def grade(bw: Run, tmp_path: Path) -> Callable[..., Done]:
    """Grades a file of given bytes or rows."""
    private_home(tmp_path / "home")

    def run(content: bytes | list[Any], *options: object, name: str = "samples.jsonl") -> Done:
        path = tmp_path / name
        data = content if isinstance(content, bytes) else b"".join(json.dumps(row).encode() + b"\n" for row in content)
        path.write_bytes(data)
        return bw("grade", "starter", path, "--out", "out", "--json", *options)

    return run


Grade = Callable[..., Done]


def refused(done: Done) -> str:
    """The one sentence with which something was refused."""
    assert done.returncode == 2, done
    assert done.stdout == ""
    (line,) = done.stderr.strip().splitlines()
    assert line.startswith("bw: ")
    assert "Traceback" not in done.stderr
    return line


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (json.dumps(GOOD).encode() + b"\n{broken\n", ["samples.jsonl, line 2", "not JSON"]),
        (json.dumps(GOOD).encode() + b"\n\n[1]\n", ["line 3", "expected a JSON object, got a list"]),
        (b'{"task_id": "Starter/0", "solu', ["line 1", "is it complete?"]),
        (b"", ["holds no samples"]),
        (b"\n \n", ["holds no samples"]),
        (b'{"solution": "x"}\n', ["line 1", "'task_id' is missing"]),
        (b'{"task_id": 5, "solution": "x"}\n', ["line 1", "'task_id' is a number"]),
        (b'{"task_id": "Starter/0", "code": "x"}\n', ["line 1", "'solution' or 'completion'"]),
        (b'{"task_id": "Starter/99", "solution": "x"}\n', ["'Starter/99'", "line 1", "does not have"]),
        (b'{"task_id": "Starter_0", "solution": "x"}\n', ["did you mean Starter/0?"]),
        (b'{"task_id": "BigCodeBench/0", "solution": "x"}\n', ["'BigCodeBench/0'"]),
        (b"\xff\xfe\x00\x01 not text", ["line 1", "not UTF-8", "not JSON"]),
        (b"[" * 200_000 + b"\n", ["line 1"]),
    ],
    ids=[
        "malformed", "not an object", "cut off", "empty", "blank", "no id", "id not text", "no answer", "unknown id",
        "file name for id", "other benchmark", "binary", "nested too deep",
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_read_is_refused(grade: Grade, content: bytes, words: list[str]) -> None:
    """File and line are named, and nothing is graded."""
    line = refused(grade(content))
    for word in words:
        assert word in line


def test_a_truncated_gzip_file_is_refused(grade: Grade) -> None:
    """How many complete lines there were is in the message."""
    data = gzip.compress(
        b"".join(
            os.urandom(20).hex().encode().join([b'{"task_id": "Starter/0", "solution": "', b'"}\n']) for _ in range(200)
        )
    )
    assert "gzip stream is cut off" in refused(grade(data[: len(data) // 2], name="samples.jsonl.gz"))


def test_a_damaged_gzip_file_is_refused(grade: Grade) -> None:
    """A file whose bytes were changed is told apart from one that ends early."""
    data = bytearray(gzip.compress(json.dumps(GOOD).encode() * 50))
    data[40:60] = b"\0" * 20
    assert "damaged" in refused(grade(bytes(data), name="samples.jsonl.gz"))


def test_a_pair_given_twice_is_refused(grade: Grade) -> None:
    """The same (task, sample) twice is an error that names both lines."""
    line = refused(grade([{**GOOD, "sample": 0}, {**GOOD, "sample": 0}]))
    assert "line 2: sample 0 of Starter/0 was already given" in line
    assert "line 1" in line


def test_answers_of_several_models_are_refused(grade: Grade) -> None:
    """A file is one model's."""
    assert "2 models" in refused(grade([{**GOOD, "model": "a"}, {**GOOD, "model": "b"}]))


def test_a_file_that_is_not_there(bw: Run, tmp_path: Path) -> None:
    """The path is named."""
    private_home(tmp_path / "home")
    assert "There is no file nowhere.jsonl" in refused(bw("grade", "starter", "nowhere.jsonl"))
    (tmp_path / "empty").mkdir()
    assert "holds no sample file" in refused(bw("grade", "starter", "empty"))


def test_an_environment_that_is_not_there(bw: Run, tmp_path: Path) -> None:
    """The command that builds it is in the message."""
    done = bw("grade", "starter", write_samples(tmp_path / "s.jsonl", references(1)))
    assert "`bw env build starter`" in refused(done)


def test_an_environment_of_another_lock(bw: Run, tmp_path: Path) -> None:
    """An environment built from another lock is not used in its place."""
    home = private_home(tmp_path / "home")
    real = home / "environments"
    built = next(path.resolve() for path in real.iterdir() if path.name.startswith("starter-"))
    real.unlink()
    real.mkdir()
    (real / "starter-0123456789ab").symlink_to(built)
    done = bw("grade", "starter", write_samples(tmp_path / "s.jsonl", references(1)))
    assert "another lock" in refused(done)


def test_data_whose_digest_differs(bw: Run, tmp_path: Path) -> None:
    """A data file that is not the version claimed is refused with both digests."""
    private_home(tmp_path / "home")
    row = {**next(iter(read_rows())), "task_id": "BigCodeBench/0", "libs": "['re']"}
    data = tmp_path / "data.jsonl"
    data.write_text(json.dumps(row) + "\n")
    done = bw("bench", "show", "bigcodebench", "--dataset", data, "--data-version", "v0.1.0_hf")
    assert "not version v0.1.0_hf" in refused(done)


def test_two_gradings_into_one_folder(grade: Grade, tmp_path: Path) -> None:
    """The second is refused while the first writes."""
    with ResultsFolder(tmp_path / "out").locked():
        assert "Another grading is writing" in refused(grade([GOOD]))


def test_a_folder_that_cannot_be_written(bw: Run, tmp_path: Path) -> None:
    """The folder and the option to choose another are named."""
    private_home(tmp_path / "home")
    samples = write_samples(tmp_path / "s.jsonl", references(1))
    (tmp_path / "file").write_text("")
    for folder in ("file/out", "/proc/1/out"):
        assert "--out" in refused(bw("grade", "starter", samples, "--ids", "Starter/0", "--out", folder))


def test_a_store_that_is_damaged(grade: Grade, tmp_path: Path) -> None:
    """The record store is named, and what to do with it."""
    (tmp_path / "home" / "records.sqlite").write_bytes(b"garbage" * 1000)
    assert "move it away" in refused(grade([GOOD], "--ids", "Starter/0"))


VERDICTS: list[tuple[str, Any, str, str, str]] = [
    ("empty", "", "no_answer", "empty", "empty"),
    ("whitespace", " \n\t ", "no_answer", "empty", "empty"),
    ("null", None, "no_answer", "empty", "empty"),
    ("number", 5, "unusable", "not_text", "a number, not a string"),
    ("nul byte", "x = 1\ny = '\0'\n", "unusable", "not_text", "line 2 of the answer has a NUL byte"),
    ("surrogate", "# \ud800\n", "unusable", "not_text", "lone surrogate"),
    ("fifty megabytes", "#" * 50_000_000, "unusable", "too_large", "50,000,000 bytes"),
    ("syntax error", "import os\n\ndef task_func(:\n", "unusable", "syntax_error", "line 3"),
    ("wrong name", "def other():\n    pass\n", "unusable", "entry_point_missing", "does not define task_func"),
    ("nothing defined", "x = 1\n", "unusable", "entry_point_missing", "does not define task_func"),
    ("not callable", "task_func = 3\n", "unusable", "entry_point_missing", "not callable"),
]


@pytest.mark.namespaces
def test_answers_that_cannot_be_used_have_verdicts(bw: Run, tmp_path: Path) -> None:
    """What can be attributed to a task is graded, with a reason and a detail that names the place; twice the same."""
    private_home(tmp_path / "home")
    ids = [problem.id for problem in PROBLEMS[: len(VERDICTS) + 1]]
    lines = [
        json.dumps({"task_id": task, "solution": case[1]}).encode() for task, case in zip(ids, VERDICTS, strict=False)
    ]
    # Bytes that are not UTF-8 cannot be written as JSON: the line is put together by hand.
    lines.append(b'{"task_id": "%s", "solution": "x = \'\xff\'"}' % ids[-1].encode())
    samples = tmp_path / "samples.jsonl"
    samples.write_bytes(b"\n".join(lines) + b"\n")
    done = bw("grade", "starter", samples, "--ids", ",".join(ids), "--out", "out", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["solved"] == 0
    rows = [json.loads(line) for line in (tmp_path / "out" / "rows.jsonl").read_text().splitlines()]
    expected = {task: case[2:] for task, case in zip(ids, VERDICTS, strict=False)}
    expected[ids[-1]] = ("unusable", "not_text", "not UTF-8")
    assert len(rows) == 2 * len(ids)
    for row in rows:
        outcome, reason, words = expected[row["problem_id"]]
        assert (row["outcome"], row["reason"]) == (outcome, reason), row
        assert words in row["detail"]


def test_progress_is_on_standard_error_alone(tmp_path: Path) -> None:
    """On a terminal a bar with count and rate is drawn on standard error; standard output stays one JSON object."""
    import pty

    home = private_home(tmp_path / "home")
    samples = write_samples(tmp_path / "s.jsonl", references(1))
    terminal, other_end = pty.openpty()
    arguments = ["grade", "starter", str(samples), "--ids", "Starter/0", "--out", "out", "--json"]
    with (tmp_path / "stdout").open("wb") as stdout:
        process = subprocess.Popen(
            [*PROGRAM, *arguments],
            stdout=stdout,
            stderr=other_end,
            cwd=tmp_path,
            env={**os.environ, "BENCHWRIGHT_HOME": str(home), "TERM": "xterm"},
        )
    os.close(other_end)
    seen = b""
    try:
        while part := os.read(terminal, 65536):  # meanwhile, for a terminal that nobody reads holds the program up
            seen += part
    except OSError:
        pass  # the other end of a terminal closes with an error
    os.close(terminal)
    assert process.wait() == 0
    assert isinstance(json.loads((tmp_path / "stdout").read_bytes()), dict)
    assert b"grading" in seen
    assert b"2/2" in seen or b"0/2" in seen


LONG = "a" * 256
"""A name that no file can have."""


@pytest.mark.parametrize(
    "arguments",
    [
        ("store", "import", LONG),
        ("store", "import", f"{LONG}.bw.zip"),
        ("store", "export", "x.bw.zip", LONG),
        ("store", "verify", "--store", LONG),
        ("results", "list", "--store", LONG),
        ("results", "show", LONG),
        ("results", "query", "SELECT 1", "--store", LONG),
        ("rank", "starter", "--store", LONG),
        ("rank", "bigcodebench", "--verdicts", LONG),
        ("grade", "starter", LONG),
        ("grade", "starter", f"{LONG}.bw.zip"),
        ("regrade", LONG),
        ("regrade", "x.bw.zip", "--out", LONG),
        ("verify", LONG),
        ("bench", "show", "starter", "--dataset", LONG),
        ("view", LONG),
        ("site", "build", "--bundle", LONG),
        ("site", "serve", LONG),
        ("compare", LONG, LONG),
        ("diff", LONG, LONG),
        ("report", LONG),
    ],
    ids=lambda arguments: " ".join(word.replace(LONG, "LONG") for word in arguments),
)
def test_a_name_that_is_too_long_is_refused(bw: Run, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """Every command says it in a sentence, for merely asking whether there is such a file raises."""
    private_home(tmp_path / "home")
    (tmp_path / "x.bw.zip").write_bytes(b"")
    assert LONG[:50] in refused(bw(*arguments))


@pytest.mark.parametrize(
    ("number", "code", "words"),
    [
        (errno.EACCES, 2, "give another path"),
        (errno.ENOTDIR, 2, "give another path"),
        (errno.ENOSPC, 3, "No space left on device"),
        (errno.EROFS, 3, "once that is mended"),
    ],
)
def test_what_the_system_says_of_a_path_is_a_sentence(
    bw: Run, monkeypatch: pytest.MonkeyPatch, number: int, code: int, words: str
) -> None:
    """A path that was badly chosen is the user's, a full disk the machine's."""

    def fail(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number), "some/place")

    monkeypatch.setattr("benchwright.cli.results.list_results", fail)
    done = bw("results", "list")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (code, "", 1)
    assert done.stderr.startswith("bw: some/place cannot be used")
    assert words in done.stderr


@pytest.mark.parametrize("error", [OSError("no path"), FileNotFoundError(errno.ENOENT, "gone", "some/place")])
def test_mistakes_of_the_program_keep_their_trace(bw: Run, monkeypatch: pytest.MonkeyPatch, error: OSError) -> None:
    """An error without a path, or over one that the program should have looked at first, is not dressed up."""

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("benchwright.cli.results.list_results", fail)
    with pytest.raises(OSError, match=r"no path|gone"):
        bw("results", "list")


@pytest.mark.parametrize(
    "arguments",
    [
        ("verify", "pipe"),
        ("verify", "/dev/zero"),
        ("store", "import", "pipe"),
        ("store", "import", "pipe.bw.zip"),
        ("grade", "starter", "pipe"),
        ("grade", "starter", "/dev/zero"),
        ("grade", "starter", "pipe.bw.zip"),
        ("regrade", "pipe.bw.zip", "--out", "new"),
        ("rank", "bigcodebench", "--verdicts", "pipe"),
        ("bench", "show", "starter", "--dataset", "pipe"),
    ],
    ids=" ".join,
)
def test_pipes_and_devices_are_no_input(bw: Run, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """A named pipe is not waited for, and a device that never ends is not read."""
    private_home(tmp_path / "home")
    for name in ("pipe", "pipe.bw.zip"):
        os.mkfifo(tmp_path / name)
    assert "is a pipe, a device or a socket; expected a file" in refused(bw(*arguments))


@pytest.mark.parametrize("arguments", [("results", "list"), ("store", "verify"), ("rank", "starter")], ids=" ".join)
def test_a_pipe_in_the_place_of_a_store_is_refused(bw: Run, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """What says which schema a store has is a file."""
    (tmp_path / "s").mkdir()
    os.mkfifo(tmp_path / "s" / "store.json")
    assert "store.json is no file" in refused(bw(*arguments, "--store", "s"))


@pytest.mark.parametrize("arguments", [("diff", "locked/a", "b"), ("compare", "locked/a", "b"), ("report", "locked/a")])
def test_a_missing_permission_is_called_so(
    bw: Run, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    """A results folder that may not be looked for is not said to be absent."""
    stat = Path.stat

    def guarded(path: Path, **options: bool) -> os.stat_result:
        if path.parts[:1] == ("locked",):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return stat(path, **options)

    monkeypatch.setattr(Path, "stat", guarded)
    assert "The permission to look for locked/a is missing" in refused(bw(*arguments))
