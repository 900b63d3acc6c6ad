"""``bw site``: a built folder and its JSON, a server that ends with Ctrl-C, and what is misuse."""

import json
import os
import signal
import subprocess
import urllib.request
from pathlib import Path

import pytest
from running_bw import PROGRAM, Run
from stored_pieces import add_run

pytest.importorskip("jinja2")
pytest.importorskip("vl_convert")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """The store of the home below the temporary folder, with two runs."""
    root = tmp_path / "home" / "results"
    add_run(root, "alder", "PPPF", cost=1.0)
    add_run(root, "birch", "PFFF", cost=2.0)
    return root


def test_a_site_is_built_and_served(bw: Run, store: Path, tmp_path: Path) -> None:
    """The command says where the site is; serving it prints one address, and Ctrl-C ends it without complaint."""
    done = bw("site", "build", "--out", "pages", "--title", "Ours", "--rounds", "5", "--hf-space", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    plain = json.loads(done.stdout)
    assert (plain["site"], plain["tables"], plain["models"], plain["tasks"]) == ("pages", 1, 2, 4)
    files = [path for path in (tmp_path / "pages").rglob("*") if path.is_file() and path.name != ".benchwright-site"]
    assert (plain["files"], plain["bytes"]) == (len(files), sum(path.stat().st_size for path in files))
    assert plain["answers_left_out"] == 0
    assert (
        (tmp_path / "pages" / "README.md").read_text(encoding="utf-8").startswith('---\ntitle: "Ours"\nsdk: static\n')
    )
    again = bw("site", "build", "--out", "pages", "--rounds", "5")  # replaces its own
    assert "Tables: 1, rows: 2, pages of tasks: 4" in again.stdout
    serving = subprocess.Popen(
        [*PROGRAM, "site", "serve", "pages", "--port", "0", "--json"],
        cwd=tmp_path,
        env={**os.environ, "BENCHWRIGHT_HOME": str(tmp_path / "home")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert serving.stdout is not None
    address = json.loads(serving.stdout.readline())["address"]
    with urllib.request.urlopen(address) as answer:
        assert b"Leaderboard" in answer.read()
    serving.send_signal(signal.SIGINT)
    out, err = serving.communicate(timeout=30)
    assert (serving.returncode, out, err) == (0, "", "")


def test_misuse_is_said_in_a_sentence(bw: Run, store: Path, tmp_path: Path) -> None:
    """A foreign folder, a dataset without its benchmark, a folder without a site: exit code 2 and one line."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years")
    for arguments, words in (
        (("build", "--out", "mine"), "is left alone"),
        (("build", "--dataset", "rows.jsonl"), "--dataset is BENCHMARK=FILE"),
        *((("build", "--date", date), "--date is a date in ISO 8601") for date in ("foo", "99999-01-01", "<script>")),
        (("build", "--benchmark", "nothing"), "There is no benchmark with results in the store"),
        (("serve", "mine"), "There is no built site in mine"),
    ):
        done = bw("site", *arguments)
        assert done.returncode == 2
        assert words in done.stderr
        assert done.stderr.count("\n") == 1
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "years"


@pytest.mark.parametrize(
    ("given", "shown"),
    [("2026-01-31", "2026-01-31"), ("20260131", "2026-01-31"), ("2026-01-31T10:00Z", "2026-01-31T10:00:00+00:00")],
)
def test_pages_give_the_date_that_was_asked_for(bw: Run, store: Path, tmp_path: Path, given: str, shown: str) -> None:
    """In one form, however it was written."""
    assert bw("site", "build", "--out", "pages", "--rounds", "5", "--date", given).returncode == 0
    assert f'<time datetime="{shown}">2026-01-31</time>' in (tmp_path / "pages/index.html").read_text(encoding="utf-8")
