"""``bw run`` on repository problems: a scripted model works in real workspaces, and what it leaves is graded."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from little_home import SECOND, SOUND, BuiltHome
from running_bw import PROGRAM, Done, Run

from left_behind import mounts, own_seconds, processes_with

sys.path.append(str(Path(__file__).parents[1] / "bridge"))

import inspect_streams  # noqa: F401 - imported for what it does
from scripted_server import Answer, scripted_server

from benchwright.core.agents import AgentAttempt
from benchwright.core.attempts import Ending
from benchwright.store.agent_journal import NAME as JOURNAL
from benchwright.store.agent_journal import AgentJournal
from benchwright.testing.agents import SUBMIT, Turn, by_bash, by_editor, by_patch_tool, call

pytestmark = [pytest.mark.namespaces, pytest.mark.slow]

OVER = {"input_tokens": 2_999_990, "output_tokens": 10}
FORGED = """
def pytest_collection_modifyitems(items):
    for item in items:
        item.obj = lambda: None
"""
SECONDS = 300.0
"""Until something must have happened that takes a second or two."""


@pytest.fixture(scope="module")
def home(built: BuiltHome, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the built environments; control runs that one test has made serve the others."""
    return built.private(tmp_path_factory.mktemp("agents") / "home")


@pytest.fixture
def folder(home: Path, tmp_path: Path) -> Path:
    """The folder that commands run in."""
    (tmp_path / "home").symlink_to(home)
    return tmp_path


Work = Callable[..., Any]


def write_script(folder: Path, turns: Sequence[Turn] | Mapping[str, Sequence[Turn]]) -> Path:
    """A script for the model: the same turns for every instance, or by instance."""
    path = folder / "script.json"
    path.write_text(json.dumps(turns if isinstance(turns, Mapping) else {"*": turns}), encoding="utf-8")
    return path


def arguments(built: BuiltHome, script: Path, *options: object, ids: str = SOUND, out: str = "out") -> list[object]:
    """The command line of a run."""
    return [
        "run", "repositories", *built.rows, "--ids", ids, "--model", "benchwright/scripted", "-M", f"script={script}",
        "--out", out, "--json", *(() if "--scaffold" in options else ("--scaffold", "bash-only")), *options,
    ]  # fmt: skip


@pytest.fixture
def start(bw: Run, built: BuiltHome, folder: Path) -> Callable[..., Done]:
    """Starts a run of scripted turns."""

    def run(turns: Any, *options: object, **where: str) -> Done:
        return bw(*arguments(built, write_script(folder, turns), *options, **where))

    return run


@pytest.fixture
def work(start: Callable[..., Done]) -> Work:
    """Runs scripted turns to their end and gives what ``--json`` printed."""

    def run(turns: Any, *options: object, **where: str) -> Any:
        done = start(turns, *options, **where)
        assert done.returncode == 0, done
        return json.loads(done.stdout)

    return run


def lines(path: Path) -> list[dict[str, Any]]:
    """The objects of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def outcome(folder: Path, out: str = "out") -> tuple[str, str, str]:
    """Outcome, reason and ending of a run of one sample."""
    (row,) = lines(folder / out / "rows.jsonl")
    (attempt,) = lines(folder / out / "attempts.jsonl")
    return row["outcome"], row["reason"], attempt["ending"]


def changes(patch: str) -> list[str]:
    """The lines of a patch that say what changes."""
    return [line for line in patch.splitlines() if not line.startswith("index ")]


RESOLVED = ("passed", "all_tests_passed", "submitted")


@pytest.mark.parametrize("tool", [by_bash, by_editor, by_patch_tool])
def test_the_reference_by_each_tool_is_resolved(
    work: Work, built: BuiltHome, folder: Path, tool: Callable[[str], list[Turn]]
) -> None:
    """The same change by a here-document, by the editor and by apply_patch resolves the issue."""
    report = work(tool(built.little.gold), "--scaffold", "loop")
    assert outcome(folder) == RESOLVED
    assert report["solved"] == 1 and report["agents"]["endings"] == {"submitted": 1}
    (prediction,) = lines(folder / "out" / "predictions.jsonl")
    assert changes(prediction["model_patch"]) == changes(built.little.gold)


def test_the_same_in_containers(work: Work, built: BuiltHome, folder: Path) -> None:
    """In the docker sandbox the fix is resolved too, also in the turn that exceeds the budget, and nothing is left."""
    if shutil.which("docker") is None or subprocess.run(["docker", "info"], capture_output=True).returncode != 0:
        pytest.skip("no container engine answers `docker info`")
    fix = by_patch_tool(built.little.gold)[0]
    work(
        {SOUND: [call("bash", command="ls"), {**fix, "usage": OVER}, SUBMIT], SECOND: [fix, SUBMIT]},
        "--sandbox", "docker", "--scaffold", "loop", ids=f"{SOUND},{SECOND}",
    )  # fmt: skip
    rows = {row["problem_id"]: row["outcome"] for row in lines(folder / "out" / "rows.jsonl")}
    attempts = {attempt["problem_id"]: attempt["ending"] for attempt in lines(folder / "out" / "attempts.jsonl")}
    assert rows[SOUND] == "passed" and attempts == {SOUND: "out_of_budget", SECOND: "submitted"}


def test_what_is_no_fix_is_not_resolved(work: Work, built: BuiltHome, folder: Path) -> None:
    """Nothing, the hidden tests alone and a forged configuration are not resolved."""
    tests = built.little.row()["test_patch"]
    forged = [call("bash", command=f"cat > conftest.py <<'END'\n{FORGED}\nEND"), SUBMIT]
    for number, (turns, expected) in enumerate(
        [
            ([SUBMIT], ("no_answer", "empty")),
            (by_bash(tests), ("failed", "tests_failed")),
            (forged, ("failed", "tests_failed")),
        ]
    ):
        work(turns, out=f"out{number}")
        assert outcome(folder, f"out{number}")[:2] == expected


def test_the_turn_over_the_budget_keeps_its_work(work: Work, built: BuiltHome, folder: Path) -> None:
    """The fix in the turn that exceeds the budget counts, and what the model would do next does not happen."""
    fix = {**by_bash(built.little.gold)[0], "usage": OVER}
    work([call("bash", command="ls"), fix, call("bash", command="git checkout -q -- ."), SUBMIT])
    assert outcome(folder) == ("passed", "all_tests_passed", "out_of_budget")
    (attempt,) = lines(folder / "out" / "attempts.jsonl")
    assert attempt["turns"] == 2


def test_the_ledger_is_the_sum_of_the_logs(work: Work, built: BuiltHome, folder: Path) -> None:
    """What the run counts is exactly what the transcripts report, by kind of token."""
    usage = {"input_tokens": 11, "cache_read_tokens": 700, "cache_write_tokens": 13, "output_tokens": 17}
    turns = [{**turn, "usage": {**usage, "reasoning_tokens": 5}} for turn in by_bash(built.little.gold)]
    report = work(turns, "--samples", "2", "--no-preflight")
    from inspect_ai.log import list_eval_logs, read_eval_log

    logs = [read_eval_log(info) for info in list_eval_logs(str(folder / "out" / "logs"))]
    counted = [usage for log in logs for usage in log.stats.model_usage.values()]
    assert report["usage"]["input_tokens"] == sum(one.input_tokens for one in counted) > 0
    assert report["usage"]["cache_read_tokens"] == sum(one.input_tokens_cache_read or 0 for one in counted) > 0
    assert report["usage"]["cache_write_tokens"] == sum(one.input_tokens_cache_write or 0 for one in counted) > 0
    assert report["usage"]["output_tokens"] == sum(one.output_tokens for one in counted) > 0
    assert report["usage"]["reasoning_tokens"] == sum(one.reasoning_tokens or 0 for one in counted) > 0


def test_a_log_holds_what_a_reader_wants(work: Work, built: BuiltHome, folder: Path) -> None:
    """Prompt, turns with what is left, diff, verdict and tests are in the transcript."""
    work(by_bash(built.little.gold))
    from inspect_ai.log import list_eval_logs, read_eval_log

    (info,) = list_eval_logs(str(folder / "out" / "logs"))
    (sample,) = read_eval_log(info).samples or []
    text = "\n".join(message.text for message in sample.messages)
    assert "Twice four is nine." in text and "Budget left:" in text
    score = (sample.scores or {})["verdicts"]
    assert score.value == {"patch": 1.0}
    assert "test_double" in str(score.explanation) and "```diff" in str(score.explanation)


def test_samples_are_counted_apart(work: Work, built: BuiltHome, folder: Path) -> None:
    """Two repetitions of two instances give four rows, and predictions in two files."""
    report = work({SOUND: by_bash(built.little.gold), SECOND: [SUBMIT]}, "--samples", "2", ids=f"{SOUND},{SECOND}")
    assert [(row["problem_id"], row["sample"]) for row in lines(folder / "out" / "rows.jsonl")] == [
        (SOUND, 0), (SOUND, 1), (SECOND, 0), (SECOND, 1),
    ]  # fmt: skip
    assert len(lines(folder / "out" / "predictions.jsonl")) == len(lines(folder / "out" / "predictions-2.jsonl")) == 2
    assert report["estimates"]["pass@1"]["value"] == 0.5


def test_a_finished_run_asks_nothing(work: Work, built: BuiltHome, folder: Path) -> None:
    """The same command again finds everything done; other settings are refused."""
    turns = by_bash(built.little.gold)
    work(turns)
    before = (folder / "out" / JOURNAL).read_bytes()
    again = work(turns)
    assert (again["finished_now"], again["finished_before"]) == (0, 1)
    assert (folder / "out" / JOURNAL).read_bytes() == before


def test_another_run_in_the_folder_is_refused(start: Callable[..., Done], built: BuiltHome) -> None:
    """A folder belongs to one run."""
    turns = by_bash(built.little.gold)
    assert start(turns).returncode == 0
    done = start(turns, "--sample-tokens", "1000")
    assert done.returncode == 2 and "other settings" in done.stderr and "agent_limits" in done.stderr


def test_a_dry_run_writes_nothing(work: Work, built: BuiltHome, folder: Path) -> None:
    """A dry run says what there is to do and what it may take."""
    planned = work([SUBMIT], "--dry-run", "--samples", "3")
    assert planned["to_work_on"] == 3 and planned["most_uncached_tokens"] == 6_000_000
    assert planned["turns_without_a_cache"] == 44
    assert not (folder / "out").exists()


def test_a_model_without_tools_is_found_out_first(bw: Run, built: BuiltHome, folder: Path) -> None:
    """The question before the run says that the model does not call tools; nothing is worked on."""
    with scripted_server(lambda body, number: Answer(text="I would rather talk.")) as server:
        done = bw(
            "run", "repositories", *built.rows, "--ids", SOUND, "--model", "openai-api/fake/m", "--out", "out",
            FAKE_API_KEY="a key", FAKE_BASE_URL=server.url,
        )  # fmt: skip
        asked = len(server.requests)
    assert done.returncode == 4 and "calls tools" in done.stderr
    assert asked == 2


def test_the_runs_cap_leaves_the_rest_for_later(start: Callable[..., Done], built: BuiltHome, folder: Path) -> None:
    """A sample stopped by the run's cap is not graded; with a larger cap it is begun anew."""
    turns = [{**turn, "usage": {"input_tokens": 20_000, "output_tokens": 10}} for turn in by_bash(built.little.gold)]
    options = ("--samples", "2", "--at-once", "1")
    done = start(turns, "--max-tokens", "65000", *options)
    report = json.loads(done.stdout)
    assert done.returncode == 4
    assert report["finished_now"] == 1 and report["not_finished"] == [f"{SOUND}#1"]
    report = json.loads(start(turns, "--max-tokens", "650000", *options).stdout)
    assert (report["finished_now"], report["finished_before"], report["solved"]) == (1, 1, 1)


def turn_of(body: Mapping[str, Any]) -> int:
    """Which turn a request of an agent asks for, from 0."""
    return sum(message["role"] == "assistant" for message in body["messages"])


def of_second(body: Mapping[str, Any]) -> bool:
    """Whether a request is of the second instance: its issue says something of halves' base commit."""
    return "SECOND" in json.dumps(body)


def serve(
    bw: Run, built: BuiltHome, folder: Path, script: Callable[[dict[str, Any], int], Answer], *more: object
) -> Done:
    """Run two instances with a provider of the OpenAI kind that answers by a script."""
    rows = [dict(row) for row in lines(built.dataset) if row["instance_id"] in (SOUND, SECOND)]
    for row in rows:
        row["problem_statement"] += " SECOND" if row["instance_id"] == SECOND else ""
    (folder / "two.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with scripted_server(script) as server:
        return bw(
            "run", "repositories", "--dataset", "two.jsonl", "--specs", built.specs, "--model", "openai-api/fake/m",
            "--no-preflight", "--max-retries", "1", "--out", "out", "--json",
            FAKE_API_KEY="a key", FAKE_BASE_URL=server.url,
        )  # fmt: skip


def test_a_dropped_connection_costs_a_retry_or_the_sample(bw: Run, built: BuiltHome, folder: Path) -> None:
    """One that is dropped once is asked again; a provider that stays away is a fault, and asked by the next run."""
    dropped: list[int] = []
    patch = json.dumps(by_patch_tool(built.little.gold)[0]["calls"][0]["arguments"])

    def script(body: dict[str, Any], number: int) -> Answer:
        if of_second(body):
            return Answer(hang_up=True)
        if turn_of(body) == 1 and not dropped:
            dropped.append(number)
            return Answer(hang_up=True)
        return Answer(calls=(("apply_patch", patch) if turn_of(body) == 0 else ("submit", "{}"),))

    done = serve(bw, built, folder, script)
    rows = {row["problem_id"]: (row["outcome"], row["reason"]) for row in lines(folder / "out" / "rows.jsonl")}
    assert rows == {SOUND: ("passed", "all_tests_passed"), SECOND: ("fault", "provider_error")}, done.stderr
    report = json.loads(done.stdout)
    assert report["faults"] == 1 and report["estimates"]["pass@1"]["n"] == 1
    done = serve(bw, built, folder, lambda body, number: Answer(calls=(("submit", "{}"),)))
    report = json.loads(done.stdout)
    assert (report["finished_now"], report["finished_before"], report["faults"]) == (1, 1, 0)


def test_calls_that_make_no_sense_are_answered_and_count(bw: Run, built: BuiltHome, folder: Path) -> None:
    """Broken JSON and an unknown tool are told to the model, which goes on; each is a turn."""
    told: list[str] = []
    answers = [
        Answer(calls=(("bash", '{"command": "ls'),)),
        Answer(calls=(("fly", "{}"),)),
        Answer(calls=(("bash", '{"order": "ls"}'),)),
        Answer(text="Now I am done."),
        Answer(calls=(("submit", "{}"),)),
    ]

    def script(body: dict[str, Any], number: int) -> Answer:
        turn = turn_of(body)
        if turn and not of_second(body):
            told.append(str(body["messages"][-1]["content"]))
        return answers[turn]

    done = serve(bw, built, folder, script)
    assert done.returncode == 0, done
    attempts = {attempt["problem_id"]: attempt for attempt in lines(folder / "out" / "attempts.jsonl")}
    assert [attempts[name]["ending"] for name in (SOUND, SECOND)] == ["submitted"] * 2
    assert [attempts[name]["turns"] for name in (SOUND, SECOND)] == [5, 5]
    broken, unknown, wrong, reminded = told
    assert "fly" in unknown and "command" in wrong and "submit" in reminded
    assert all("Budget left" in words for words in told) and broken


HOSTILE: dict[str, str] = {
    "deletes .git": "rm -rf /testbed/.git",
    "deletes the repository": "cd /; rm -rf /testbed",
    "deletes /usr": "rm -rf /usr /bin /lib /lib64 /opt/env",
    "kills everything": "kill -9 -1",
    "kills its shell": "kill -9 $$ $PPID",
    "writes 200 MB": "head -c 200000000 /dev/zero | tr '\\0' x",
    "writes binary": "head -c 100000 /dev/urandom",
    "fills the disk": "head -c 20000000000 /dev/zero > /tmp/big",
    "forks without end": "f() { f | f & }; f; sleep 1",
    "leaves processes behind": "for i in 1 2 3; do (setsid sleep 10000 &) ; done",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_agent_ends_and_its_neighbour_does_not_notice(
    work: Work, built: BuiltHome, folder: Path, name: str
) -> None:
    """Whatever an agent does to its workspace, the sample ends as submitted, and the one beside it is resolved."""
    hostile = [call("bash", command=HOSTILE[name], timeout_seconds=5), call("bash", command="ls"), SUBMIT]
    work({SECOND: hostile, SOUND: by_bash(built.little.gold)}, "--at-once", "2", ids=f"{SOUND},{SECOND}")
    rows = {row["problem_id"]: row for row in lines(folder / "out" / "rows.jsonl")}
    endings = {attempt["problem_id"]: attempt["ending"] for attempt in lines(folder / "out" / "attempts.jsonl")}
    assert rows[SOUND]["outcome"] == "passed"
    assert rows[SECOND]["outcome"] in ("failed", "no_answer", "unusable")
    assert endings == {SOUND: "submitted", SECOND: "submitted"}


def test_a_command_that_sleeps_for_ever_is_ended_and_flagged(work: Work, built: BuiltHome, folder: Path) -> None:
    """The time limit ends the command, the agent goes on, and the report names the wait."""
    turns = [call("bash", command="sleep infinity", timeout_seconds=1), *by_bash(built.little.gold)]
    work(turns)
    assert outcome(folder) == RESOLVED
    (attempt,) = lines(folder / "out" / "attempts.jsonl")
    assert [finding["kind"] for finding in attempt["findings"]] == ["long_wait"]


def test_a_sample_out_of_time_is_graded_as_it_stands(work: Work, built: BuiltHome, folder: Path) -> None:
    """When a sample's time is over its command is ended, and the tree is graded."""
    fix = by_bash(built.little.gold)[0]
    work([fix, call("bash", command="sleep 1000"), SUBMIT], "--sample-seconds", "8")
    assert outcome(folder) == ("passed", "all_tests_passed", "out_of_time")


def test_ignored_files_are_left_out_and_listed(work: Work, built: BuiltHome, folder: Path) -> None:
    """A new file that git ignores is no part of the submission, unless that is asked for."""
    turns = [call("bash", command="echo '*.log' > .gitignore; echo 1 > a.log; echo 2 > b.txt"), SUBMIT]
    work(turns)
    (prediction,) = lines(folder / "out" / "predictions.jsonl")
    assert "b.txt" in prediction["model_patch"] and "a.log" not in prediction["model_patch"]
    (attempt,) = lines(folder / "out" / "attempts.jsonl")
    assert [item["path"] for item in attempt["left_out"]] == ["a.log"]
    work(turns, "--include-ignored", out="with")
    (prediction,) = lines(folder / "with" / "predictions.jsonl")
    assert "a.log" in prediction["model_patch"]


def test_integrity_is_reported_with_the_score_without(work: Work, built: BuiltHome, folder: Path) -> None:
    """An attempt to reach the network and a look at later history are found, with their turns."""
    turns = [
        call("bash", command="curl -s https://example.org"),
        call("bash", command="git log --all --oneline"),
        *by_bash(built.little.gold),
    ]
    report = work(turns)
    (attempt,) = lines(folder / "out" / "attempts.jsonl")
    assert [(finding["kind"], finding["turn"]) for finding in attempt["findings"]] == [("network", 1), ("history", 2)]
    assert report["solved"] == 1


def test_functions_have_no_scaffold(bw: Run) -> None:
    """An option of agents is refused for a benchmark of functions."""
    done = bw("run", "starter", "--model", "mockllm/model", "--scaffold", "loop")
    assert done.returncode == 2 and "--scaffold means nothing for starter" in done.stderr


def test_an_unknown_scaffold_is_named(start: Callable[..., Done]) -> None:
    """A scaffold that nobody has is refused, with the names there are."""
    done = start([SUBMIT], "--scaffold", "lop")
    assert done.returncode == 2 and "loop" in done.stderr


@contextlib.contextmanager
def started(built: BuiltHome, folder: Path, turns: Any, *options: object) -> Iterator[subprocess.Popen[str]]:
    """A run as a process, in work."""
    command = [*PROGRAM, *map(str, arguments(built, write_script(folder, turns), *options))]
    environ = {**os.environ, "BENCHWRIGHT_HOME": str(folder / "home"), "NO_COLOR": "1"}
    process = subprocess.Popen(
        command, cwd=folder, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def wait_for(condition: Callable[[], bool], what: str) -> None:
    """Wait until something is so; fails when that takes too long."""
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain: {what}"
        time.sleep(0.05)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL, signal.SIGABRT])
def test_nothing_is_left_when_a_run_is_ended(built: BuiltHome, folder: Path, how: signal.Signals) -> None:
    """Ctrl-C, ``kill -9`` and a crash end the agents' processes; what is finished stays, and the command goes on."""
    mark = own_seconds(97)
    turns = {SOUND: by_bash(built.little.gold), SECOND: [call("bash", command=f"sleep {mark}"), SUBMIT]}
    options = ("--ids", f"{SOUND},{SECOND}", "--at-once", "2")
    before = mounts(folder)
    with started(built, folder, turns, *options) as process:
        wait_for(lambda: bool(processes_with(f"sleep\0{mark}")), "the agent's command")
        wait_for(lambda: SOUND in finished(folder), "the other sample")
        process.send_signal(how)
        process.wait(SECONDS)
    wait_for(lambda: not processes_with(f"sleep\0{mark}"), "the agent's command to be gone")
    assert not mounts(folder) - before
    turns[SECOND] = [SUBMIT]
    with started(built, folder, turns, *options) as process:
        out, errors = process.communicate(timeout=SECONDS)
    report = json.loads(out)
    assert (report["finished_now"], report["finished_before"]) == (1, 1), errors


def finished(folder: Path) -> dict[str, AgentAttempt]:
    """What the journal has finished."""
    path = folder / "out" / JOURNAL
    if not path.exists():
        return {}
    with AgentJournal(path, read_only=True) as journal:
        return {key[0]: attempt for key, attempt in journal.attempts.items() if attempt.ending is not Ending.FAILED}
