"""``bw run`` as a user sees it: what it refuses, what it prints, and what is left when it is stopped or killed."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from app_pieces import first_ids, private_home
from running_bw import PROGRAM, Done, Run

from benchwright.store.replies import NAME, ReplyJournal

sys.path.append(str(Path(__file__).parents[1] / "bridge"))

from run_pieces import MODEL, fenced, problem_of, reference, unexecuted
from scripted_server import Answer, Script, Server, scripted_server

SOON = 300


def home_in(folder: Path) -> Path:
    """A benchwright home below a folder, made when it is not there."""
    return folder / "home" if (folder / "home").exists() else private_home(folder / "home")


class Runner:
    """Calls ``bw run starter`` with a scripted server for ``openai-api/fake/…`` in a temporary folder."""

    def __init__(self, bw: Run, folder: Path) -> None:
        self.bw = bw
        self.folder = folder
        home_in(folder)

    def __call__(self, server: Server, *options: object, model: str = MODEL, benchmark: str = "starter") -> Done:
        return self.bw("run", benchmark, "--model", model, *options, FAKE_API_KEY="a key", FAKE_BASE_URL=server.url)


@pytest.fixture
def bw_run(bw: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runner:
    """Runs that execute nothing."""
    unexecuted(monkeypatch)
    for provider in ("OPENAI", "AZUREAI_OPENAI", "OTHER"):
        monkeypatch.delenv(f"{provider}_API_KEY", raising=False)
    return Runner(bw, tmp_path)


def sentence(done: Done) -> str:
    """The one line with which a command was refused."""
    (line,) = [line for line in done.stderr.strip().splitlines() if line.startswith("bw: ")]
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    return line


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"model": "gpt-4o"}, "A model is named provider/model"),
        ({"model": "nosuch/m"}, "nosuch of model 'nosuch/m' not recognized"),
        ({"model": "openai/gpt-4o"}, "OPENAI_API_KEY"),
        ({"model": "openai-api/other/m"}, "OTHER_API_KEY"),
        ({"benchmark": "startr"}, "did you mean starter"),
        (["--mode", "base", "--prefill"], "leave --prefill out in base mode"),
        (["--variant", "explain"], "has no variant 'explain'"),
        (["--ids", "Starter/99"], "Starter/99"),
        (["--ids", ","], "--ids names no problem"),
        (["--env", "nosuch"], "nosuch"),
        (["--samples", "3"], "3 samples at temperature 0"),
        (["--temperature", "nan"], "A temperature is a number from 0 to 100"),
        (["--max-cost", "1"], "the price of openai-api/fake/m is not known"),
        (["--prices", "nowhere.toml"], "The price file nowhere.toml cannot be read"),
        (["--model-arg", "key"], "--model-arg takes name=value; got 'key'"),
        (["-M", "nonsense=1"], "'nonsense'"),
        (["-G", "top_p"], "--generate takes name=value"),
        (["-G", "topp=0.5"], "There is no setting of generation named 'topp'; did you mean top_p"),
        (["-G", "top_p=much"], "The setting top_p cannot be 'much'"),
        (["-G", "temperature=0.5"], "use --temperature"),
        (["-G", "max_tokens=5"], "use --reply-tokens"),
        (["-G", "cache=true"], "a run keeps its replies itself"),
        (["-G", 'extra_headers={"X-Auth": "s3cret"}'], "would be written into the log"),
        (["--dataset", "nowhere.jsonl"], "nowhere.jsonl"),
    ],
)
def test_what_cannot_be_run_is_refused_first(bw_run: Runner, options: Any, words: str) -> None:
    """One sentence and code 2, before a request is sent or a folder made."""
    with scripted_server(reference) as server:
        done = bw_run(server, *options) if isinstance(options, list) else bw_run(server, **options)
        assert server.requests == []
    assert done.returncode == 2
    assert words in sentence(done)
    assert {path.name for path in bw_run.folder.iterdir()} == {"home"}


def test_base_mode_is_refused_without_an_endpoint(bw_run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    """A provider that takes conversations only is refused in base mode, by name."""
    monkeypatch.setenv("OPENAI_API_KEY", "a key")
    with scripted_server(reference) as server:
        done = bw_run(server, "--mode", "base", model="openai/gpt-4o")
    assert done.returncode == 2
    assert "the provider 'openai' has no endpoint for" in sentence(done)


@pytest.mark.parametrize(
    "option", [["--max-tokens", "0"], ["--limit", "0"], ["--mode", "poetic"], ["--temperature", "-1"]]
)
def test_values_out_of_range_are_refused(bw_run: Runner, option: list[str]) -> None:
    """Click's own checks end with code 2 as well."""
    with scripted_server(reference) as server:
        done = bw_run(server, *option)
        assert server.requests == []
    assert (done.returncode, done.stdout) == (2, "")
    assert option[0] in done.stderr


def the_object(done: Done) -> dict[str, Any]:
    """The one JSON object on standard output, on its one line."""
    (line,) = done.stdout.splitlines()
    document: dict[str, Any] = json.loads(line)
    return document


def test_json_is_one_object(bw_run: Runner) -> None:
    """With --json standard output holds the report and nothing else, preflight and Inspect's own lines or not."""
    with scripted_server(reference) as server:
        done = bw_run(server, "--limit", 4, "--json", "--preflight", "--out", "out")
    assert done.returncode == 0, done.stderr
    document = the_object(done)
    assert {name: document[name] for name in ("status", "model", "asked", "answered_before", "problems", "folder")} == {
        "status": "complete",
        "model": MODEL,
        "asked": 4,
        "answered_before": 0,
        "problems": 4,
        "folder": "out",
    }
    assert document["estimates"]["pass@1[calibrated]"]["value"] == 1.0
    assert document["usage"]["total_tokens"] == 600
    for name in ("results", "samples_file", "log"):
        assert (bw_run.folder / document[name]).is_file()
    assert list((bw_run.folder / "home/results/runs").iterdir()) == [
        bw_run.folder / "home/results/runs" / document["stored"]
    ]
    assert "Preflight: asking 3 of 4 problems first." in done.stderr
    assert "--- 3 of 3 answers can be graded" in done.stderr
    assert "Forecast for 1 more replies: 150 tokens, cost unknown." in done.stderr


def test_json_is_one_object_in_a_process_of_its_own(tmp_path: Path) -> None:
    """In a process whose first model this is, Inspect announces itself: not on standard output."""
    with started(tmp_path, reference, "--dry-run", "--json") as (process, _):
        out, errors = process.communicate(timeout=SOON)
    assert process.returncode == 0, errors
    (line,) = out.splitlines()
    assert json.loads(line)["to_ask"] == 32


def test_a_person_reads_a_table(bw_run: Runner) -> None:
    """The table of `bw grade`, and beneath it mode, transcripts and what the calls came to."""
    with scripted_server(reference) as server:
        done = bw_run(server, "--limit", 3, "--no-preflight", "--out", "out")
    assert done.returncode == 0, done.stderr
    for words in (
        "calibrated",
        "mode: chat (nothing says that it is a base model)",
        "transcripts: bw view out",
        "3 replies now, 0 before; 3 calls, 0 failed; 450 tokens; cost unknown",
    ):
        assert words in done.stdout
    assert "Preflight" not in done.stderr


def test_a_base_model_on_instructions_is_marked(bw_run: Runner) -> None:
    """A mismatch of model and variant is said beneath the table."""
    with scripted_server(lambda body, number: Answer(text=fenced(problem_of(body).reference))) as server:
        done = bw_run(server, "--limit", 1, "--no-preflight", "--mode", "base", "--variant", "instruct")
    assert done.returncode == 0, done.stderr
    assert "A base model on a variant for instruction-tuned models" in done.stdout
    (folder,) = (bw_run.folder / "benchwright-results").iterdir()
    assert folder.name.startswith("openai-api-fake-m-starter-instruct-")


def test_options_reach_the_server(bw_run: Runner) -> None:
    """Temperature, length, further settings and arguments of the provider arrive where they belong."""
    with scripted_server(reference) as server:
        done = bw_run(
            server, "--ids", "Starter/2,Starter/0", "--samples", 2, "--temperature", 0.4, "--reply-tokens", 99,
            "-G", "top_p=0.9", "-G", "seed=7", "-G", 'stop_seqs=["END"]', "--no-preflight", "--json", "--out", "out",
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert Counter(problem_of(body).id for body in server.requests) == {"Starter/0": 2, "Starter/2": 2}
    for body in server.requests:
        assert (body["temperature"], body["max_tokens"], body["top_p"], body["seed"]) == (0.4, 99, 0.9, 7)
        assert body["stop"] == ["END"]
    assert the_object(done)["generation"] == {
        "max_tokens": 99,
        "seed": 7,
        "stop_seqs": ["END"],
        "temperature": 0.4,
        "top_p": 0.9,
    }


def test_an_objection_ends_with_four(bw_run: Runner) -> None:
    """When no answer can be read the evidence is on standard error, three requests were sent, and the code is 4."""
    with scripted_server(lambda body, number: Answer(text="no code from me")) as server:
        done = bw_run(server, "--json")
        assert len(server.requests) == 3
    assert done.returncode == 4
    stopped = json.loads(done.stdout)
    assert (stopped["status"], Path(stopped["folder"]).parent.name) == ("stopped", "benchwright-results")
    assert "None of the 3 answers holds code" in stopped["stopped"]
    assert stopped["stopped"] in done.stderr
    assert done.stderr.count("--- answer as written\nno code from me") == 3
    assert done.stderr.count("Please provide a self-contained Python script") == 3
    assert "--- 0 of 3 answers can be graded" in done.stderr
    assert "Forecast" not in done.stderr


def test_an_answer_cannot_steer_the_terminal(bw_run: Runner) -> None:
    """What a model wrote is shown without the characters that terminals obey."""
    with scripted_server(lambda body, number: Answer(text="\x1b[2Jno \x07code\r\n")) as server:
        done = bw_run(server)
    assert "\x1b" not in done.stderr
    assert "\x07" not in done.stderr
    assert "no �code" in done.stderr


def test_a_spent_budget_ends_with_four(bw_run: Runner) -> None:
    """What was asked is reported all the same; the reason and the way on are beneath the table, or in the object."""
    options = ("--no-preflight", "--limit", 8, "--max-tokens", 2000, "--reply-tokens", 50, "--max-connections", 1)
    with scripted_server(lambda body, number: Answer(text=reference(body).text, usage=(500, 50))) as server:
        done = bw_run(server, *options, "--out", "a")
        assert 0 < len(server.requests) < 8
        shown = bw_run(server, *options, "--out", "b", "--json")
    assert done.returncode == shown.returncode == 4
    asked = len(server.requests) // 2
    words = " ".join(done.stdout.split())
    assert "Stopped: A call may use" in words
    assert f"{8 - asked} samples were not asked" in words
    assert "The same command goes on" in words
    assert "not recorded in the store, because it is not complete" in words
    document = the_object(shown)
    assert document["stored"] is None
    assert (document["status"], document["asked"], len(document["not_asked"])) == ("stopped", asked, 8 - asked)


def test_a_dry_run_is_shown(bw_run: Runner) -> None:
    """It says what would be asked and where it would go, and touches neither server nor disk."""
    with scripted_server(reference) as server:
        done = bw_run(server, "--dry-run", "--limit", 5)
        plain = bw_run(server, "--dry-run", "--limit", 5, "--json")
        assert server.requests == []
    assert done.returncode == plain.returncode == 0
    assert "would ask 5 samples" in done.stdout
    assert "0 are answered already" in done.stdout
    assert "would grade 15 (sample, score) pairs in environment starter" in done.stdout
    assert "price unknown" in done.stdout
    document = the_object(plain)
    assert (document["to_ask"], document["dry_run"]) == (5, True)
    assert {path.name for path in bw_run.folder.iterdir()} == {"home"}


def test_a_price_is_shown_by_a_dry_run(bw_run: Runner) -> None:
    """With a price of one's own the dry run says what a million tokens cost, and as of when."""
    (bw_run.folder / "prices.toml").write_text(
        'schema = 1\n[models.m]\ninput = 2.5\noutput = 10\nas_of = 2026-01-02\nsource = "us"\n'
    )
    with scripted_server(reference) as server:
        done = bw_run(server, "--dry-run", "--prices", "prices.toml", "--max-cost", 1)
    assert done.returncode == 0, done.stderr
    assert "price per million tokens: $2.5 in, $10 out (as of 2026-01-02)" in done.stdout


def test_secrets_are_not_printed(bw_run: Runner) -> None:
    """Neither the key nor the password of an address is said anywhere."""
    with scripted_server(reference) as server:
        url = server.url.replace("http://", "http://me:s3cret@")
        secret = ("-M", "api_key=s3cret", "--model-base-url", url, "--limit", 1)
        outputs = [bw_run(server, *secret, *more) for more in (["--json"], [], ["--dry-run"], ["--dry-run", "--json"])]
    for done in outputs:
        assert done.returncode == 0, done.stderr
        assert "s3cret" not in done.stdout + done.stderr


@contextlib.contextmanager
def started(folder: Path, script: Script, *options: object) -> Iterator[tuple[subprocess.Popen[str], Server]]:
    """``bw run`` as a user starts it, in a process group of its own, with a server; ended with the body."""
    home = home_in(folder)
    with scripted_server(script) as server:
        environment = os.environ | {
            "BENCHWRIGHT_HOME": str(home),
            "NO_COLOR": "1",
            "FAKE_API_KEY": "a key",
            "FAKE_BASE_URL": server.url,
        }
        command = [*PROGRAM, "run", "starter", "--model", MODEL, "--out", "out", *map(str, options)]
        with subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as process:
            try:
                yield process, server
            finally:
                process.kill()


class Holding:
    """Answers so many requests, and holds back all further ones until told."""

    def __init__(self, answered: int, held: int) -> None:
        self.answered = answered
        self.last = answered + held - 1
        self.holding = threading.Event()
        self.release = threading.Event()

    def __call__(self, body: dict[str, Any], number: int) -> Answer:
        if number >= self.answered:
            if number == self.last:
                self.holding.set()
            self.release.wait(SOON)
        return reference(body)


def answered(folder: Path) -> set[str]:
    """Problems that have a reply in the journal."""
    with ReplyJournal(folder / "out" / NAME, read_only=True) as journal:
        return {problem for problem, _ in journal.answered()}


def guests(folder: Path) -> list[str]:
    """Processes that run in an environment of this folder's home."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                command = (entry / "cmdline").read_bytes()
                if str(folder / "home" / "environments").encode() in command:
                    found.append(entry.name)
    return found


def gone(folder: Path) -> bool:
    """Whether all guests end soon."""
    end = time.monotonic() + SOON
    while guests(folder) and time.monotonic() < end:
        time.sleep(0.01)
    return not guests(folder)


@pytest.mark.namespaces
def test_a_killed_run_asks_only_what_has_no_reply(bw: Run, tmp_path: Path) -> None:
    """After `kill -9` half-way, the same command asks what has no reply, and nothing else; every row is there."""
    script, limit = Holding(5, 3), 10
    options = ("--limit", limit, "--no-preflight", "--json", "--max-connections", 3)
    with started(tmp_path, script, *options) as (process, server):
        assert script.holding.wait(SOON)
        # With three calls on the way, the five before them are through, and each of them was kept first.
        process.send_signal(signal.SIGKILL)
        process.wait()
        script.release.set()
        kept, first = answered(tmp_path), [problem_of(body).id for body in server.requests]
    assert len(kept) == 5
    assert len(first) == 8
    assert gone(tmp_path)
    with scripted_server(reference) as server:
        done = Runner(bw, tmp_path)(server, *options, "--out", "out")
        second = [problem_of(body).id for body in server.requests]
    assert done.returncode == 0, done.stderr
    times = Counter([*first, *second])
    assert set(times) == set(first_ids(limit))
    assert kept.isdisjoint(second)
    assert {problem for problem, count in times.items() if count == 2} == set(first) - kept
    document = the_object(done)
    assert (document["asked"], document["answered_before"]) == (limit - 5, 5)
    assert (document["status"], document["attempts"], document["solved"]) == ("complete", limit, limit)
    assert document["usage"]["calls"] == limit


def interrupted(folder: Path, script: Holding, *options: object) -> Server:
    """Start a run, press Ctrl-C once the server holds calls back, and see that the run ends as it should."""
    with started(folder, script, *options) as (process, server):
        assert script.holding.wait(SOON)
        assert guests(folder)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: guests get it too
        out, errors = process.communicate(timeout=SOON)
        script.release.set()
    assert (process.returncode, out) == (130, "")
    assert errors.strip().splitlines()[-1] == "bw: Interrupted; give the same command again to go on."
    assert "Traceback" not in errors
    assert gone(folder)
    return server


@pytest.mark.namespaces
def test_an_interrupted_preflight_leaves_nothing_behind(tmp_path: Path) -> None:
    """Ctrl-C among the first calls ends with 130 and one plain sentence; no guest is left, and replies are kept."""
    server = interrupted(tmp_path, Holding(1, 2), "--limit", 8, "--preflight")
    assert len(server.requests) == 3
    assert len(answered(tmp_path)) <= 1  # the one reply may still have been on its way


@pytest.mark.namespaces
def test_an_interrupted_run_goes_on(bw: Run, tmp_path: Path) -> None:
    """Ctrl-C half-way leaves no guest either, and the same command asks the rest; broken calls are accounted for."""
    options = ("--limit", 8, "--no-preflight", "--max-connections", 2, "--json")
    first = interrupted(tmp_path, Holding(4, 2), *options)
    kept = answered(tmp_path)
    assert (len(first.requests), len(kept)) == (6, 4)
    with scripted_server(reference) as server:
        done = Runner(bw, tmp_path)(server, *options, "--out", "out")
        assert {problem_of(body).id for body in server.requests} == set(first_ids(8)) - kept
    assert done.returncode == 0, done.stderr
    document = the_object(done)
    assert (document["solved"], document["usage"]["failures"]) == (8, 2)
    assert document["usage"]["estimated_tokens"] > 0
