"""``bw view``: what it refuses, and that it serves what a run has logged."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from app_pieces import PROBLEMS, private_home
from running_bw import PROGRAM, Run

sys.path.append(str(Path(__file__).parents[1] / "bridge"))

from run_pieces import Runs, reference, unexecuted
from scripted_server import scripted_server

SOON = 300


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with two runs, each with a log."""
    folder = tmp_path_factory.mktemp("viewed")
    with pytest.MonkeyPatch.context() as monkeypatch, scripted_server(reference) as server:
        unexecuted(monkeypatch)
        made = Runs(folder, private_home(folder / "home"), monkeypatch)
        made.run(server, "one", limit=2)
        made.run(server, "two", limit=1)
    yield folder


@pytest.mark.parametrize("json_too", [[], ["--json"]])
def test_a_missing_folder_is_refused(bw: Run, tmp_path: Path, json_too: list[str]) -> None:
    """A folder that is not there, given or by default, is named, with code 2."""
    for arguments, name in ((["nowhere"], "nowhere"), ([], "benchwright-results")):
        done = bw("view", *arguments, *json_too)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.strip() == (f"bw: There is no folder {name}; give the folder of a run (`bw run` prints it).")


def test_a_folder_without_logs_is_refused(bw: Run, tmp_path: Path) -> None:
    """Where no run has been there is nothing to look at, which is said instead of serving it."""
    (tmp_path / "empty" / "deep").mkdir(parents=True)
    done = bw("view", "empty")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.strip() == "bw: There is no Inspect log (.eval) below empty; `bw run` writes them."


@pytest.mark.parametrize("port", ["0", "70000", "eighty"])
def test_a_port_must_be_one(bw: Run, tmp_path: Path, port: str) -> None:
    """What is no port is refused with code 2."""
    assert bw("view", ".", "--port", port).returncode == 2


def free_port() -> int:
    """A port that nobody listens on just now."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def fetched(url: str, process: subprocess.Popen[str]) -> bytes:
    """What an address serves, once somebody listens there."""
    end = time.monotonic() + SOON
    while True:
        try:
            with urllib.request.urlopen(url, timeout=SOON) as response:
                return bytes(response.read())
        except OSError:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < end, f"nobody listens at {url}"
            time.sleep(0.02)


@contextlib.contextmanager
def serving(folder: Path, *options: object) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """``bw view`` on a folder, and its address; ended with the body."""
    port = free_port()
    command = [*PROGRAM, "view", str(folder), "--port", str(port), *map(str, options)]
    with subprocess.Popen(
        command,
        cwd=folder,
        env=os.environ | {"NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process, f"http://127.0.0.1:{port}"
        finally:
            process.kill()


def test_logs_are_served_over_loopback(runs: Path) -> None:
    """All logs below a folder are listed, the page is there, and a log has the text of its samples."""
    with serving(runs, "--json") as (process, url):
        listed: dict[str, Any] = json.loads(fetched(f"{url}/api/logs", process))
        assert b"<!doctype html>" in fetched(url, process)[:100].lower()
        names = [str(file["name"]) for file in listed["files"]]
        found = {path.name for path in runs.rglob("*.eval")}
        assert {Path(name).name for name in names} == found
        log = next(name for name in names if "/one/" in name)
        text = fetched(f"{url}/api/logs/{quote(log, safe='')}", process).decode()
        assert PROBLEMS[1].id in text
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=SOON)
    assert "Traceback" not in errors
    (line,) = out.splitlines()
    assert json.loads(line) == {"url": url, "logs": sorted(str(path) for path in runs.rglob("*.eval"))}


def test_one_run_is_served(runs: Path) -> None:
    """The folder of a run shows its own logs alone; the address is said."""
    with serving(runs / "two") as (process, url):
        (file,) = json.loads(fetched(f"{url}/api/logs", process))["files"]
        assert "/two/logs/" in file["name"]
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=SOON)
    assert url in out + errors
    assert "Traceback" not in errors
