"""A whole run: real calls over loopback, real executions in the starter environment, and the same from its files."""

import dataclasses
import json
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from app_pieces import PROBLEMS, WRONG, private_home, run_grading

from benchwright.app.grading import GradeReport
from benchwright.app.run import Forecast
from benchwright.bridge.grader import ALL_SCORES
from benchwright.core.errors import MachineError, StoppedError, UsageError
from benchwright.core.prompts import Mode
from benchwright.core.runs import FUNCTION_SCORES, Score
from benchwright.testing import lost_record

sys.path.append(str(Path(__file__).parents[1] / "bridge"))

from run_pieces import (
    MODEL,
    Runs,
    Told,
    fenced,
    log_of,
    problem_of,
    quick_retries,
    reasons,
    reference,
    unexecuted,
    verdicts_of,
)
from scripted_server import Answer, Server, prompt_of, scripted_server


def without_imports(code: str) -> str:
    """A solution whose author took the prompt's imports and constants for granted."""
    lines = code.splitlines(keepends=True)
    return "".join(lines[next(n for n, line in enumerate(lines) if line.startswith("def ")) :])


def _long(code: str) -> str:
    """An answer of about 100,000 tokens: much thinking aloud, and code under a heap of comments."""
    return "First I think aloud. " * 9_000 + "\n" + fenced(("# " + "y" * 98 + "\n") * 2_000 + code)


# What the model answers to the problems, in their order, given the problem's reference.
KINDS: dict[str, Any] = {
    "right": lambda code: Answer(text=fenced(code)),
    "wrong": lambda code: Answer(text=fenced(WRONG)),
    "another language": lambda code: Answer(text=fenced("class A { int x; }", "java")),
    "cut": lambda code: Answer(text="Sure:\n```python\n" + code[:80], finish="length"),
    "cut behind the code": lambda code: Answer(text=fenced(code) + "\nThis code wo", finish="length"),
    "empty": lambda code: Answer(text=""),
    "refused": lambda code: Answer(text="I cannot help with that.", finish="content_filter"),
    "overflow by code": lambda code: Answer(
        status=400, error="maximum context length is 10 tokens", code="context_length_exceeded"
    ),
    "overflow by words": lambda code: Answer(
        status=400, error="request (9000 tokens) exceeds the available context size (512 tokens)"
    ),
    "long": lambda code: Answer(text=_long(code), usage=(100, 100_000)),
    "provider error": lambda code: Answer(status=400, error="bad request: nonsense"),
    "reasoning apart": lambda code: Answer(text=fenced(code), reasoning="def task_func(): return 0"),
    "no choice": lambda code: Answer(choices=False),
    "bare": lambda code: Answer(text=code),
    "reasoning inside": lambda code: Answer(text=f"<think>\n{fenced(WRONG)}</think>\n{fenced(code)}"),
    "lazy": lambda code: Answer(text=fenced(without_imports(code))),
}
IDS = dict(zip(KINDS, (problem.id for problem in PROBLEMS), strict=False))
BY_ID = {problem: kind for kind, problem in IDS.items()}


def mixed(body: dict[str, Any], number: int) -> Answer:
    """An answer of every kind."""
    problem = problem_of(body)
    answer: Answer = KINDS[BY_ID[problem.id]](problem.reference)
    return answer


class Real:
    """One run with an answer of every kind, really executed."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.home = private_home(folder / "home")
        self.told = Told()
        quick_retries(monkeypatch)
        self.runs = Runs(folder, self.home, monkeypatch)
        started = time.monotonic()
        with scripted_server(mixed) as server:
            self.report = self.runs.run(server, told=self.told, limit=len(KINDS), workers=2)
        self.seconds = time.monotonic() - started
        self.requests = server.requests
        self.log = log_of(self.report)

    def sample(self, kind: str) -> Any:
        """The sample of Inspect's log that has the answer of a kind."""
        return next(sample for sample in self.log.samples or [] if sample.id == IDS[kind])


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Real]:
    """A run that was really executed."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        yield Real(tmp_path_factory.mktemp("real"), monkeypatch)


@pytest.fixture
def runs(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    """Makes runs that execute nothing."""
    unexecuted(monkeypatch)
    return Runs(tmp_path, home, monkeypatch)


@pytest.mark.namespaces
def test_each_kind_of_reply_has_its_verdict(real: Real) -> None:
    """Whatever a model or its provider does, there is one row with the reason for it."""
    found = {BY_ID[problem]: verdict for problem, verdict in reasons(real.report).items()}
    right = "passed all_tests_passed"
    lazy = found.pop("lazy")
    assert lazy.startswith("failed")
    assert found.pop("wrong").startswith("failed")
    assert found == {
        "right": right,
        "another language": "unusable no_code",
        "cut": "no_answer truncated",
        "cut behind the code": right,
        "empty": "no_answer empty",
        "refused": "no_answer refused",
        "overflow by code": "no_answer context_overflow",
        "overflow by words": "no_answer context_overflow",
        "long": right,
        "provider error": "fault provider_error",
        "reasoning apart": right,
        "no choice": "no_answer empty",
        "bare": right,
        "reasoning inside": right,
    }
    assert reasons(real.report, "calibrated")[IDS["lazy"]] == right
    written = {BY_ID[problem]: verdict for problem, verdict in reasons(real.report, "as_written").items()}
    assert [kind for kind, verdict in written.items() if verdict == right] == ["bare"]


@pytest.mark.namespaces
def test_a_very_long_answer_is_graded_in_time(real: Real) -> None:
    """400 kB of answer hold up neither the reading nor the executing."""
    rows = [row for row in real.report.grading.rows if row.problem_id == IDS["long"]]
    assert len(rows) == 3
    assert all(row.wall_seconds < 60 for row in rows)
    assert real.seconds < 600
    assert len(real.sample("long").output.completion) > 380_000


@pytest.mark.namespaces
def test_a_fault_is_in_no_denominator(real: Real) -> None:
    """What the provider failed to answer is listed by its words, and every score is over the others."""
    assert {estimate.n for estimate in real.report.grading.summary.estimates} == {len(KINDS) - 1}
    (fault,) = {row.verdict.detail for row in real.report.grading.rows if row.problem_id == IDS["provider error"]}
    assert fault == "BadRequestError: Error code: 400 - bad request: nonsense"
    assert real.report.stopped is None
    assert len(real.requests) == len(KINDS)


def _graded_again(real: Real, source: Path, name: str, home: Path, **options: Any) -> GradeReport:
    """A grading of a run's file with the run's own problems and scores."""
    ids = tuple(problem for kind, problem in IDS.items() if kind != "provider error" or source.suffix == ".eval")
    return run_grading(home, source, real.folder / name, ids=ids, scores=ALL_SCORES, workers=2, **options)


def _official(folder: Path, name: str) -> Any:
    """An official file, without the day it was written."""
    document = json.loads((folder / name).read_text("utf-8"))
    return {key: value for key, value in document.items() if key != "date"}


@pytest.mark.namespaces
def test_grading_the_sample_file_gives_the_same(real: Real) -> None:
    """`bw grade` on the run's samples, in a home that shares no record with it, comes to the same rows and files."""
    samples = real.report.grading.folder / "samples.jsonl"
    graded = _graded_again(real, samples, "from samples", private_home(real.folder / "other home"), extract=True)
    fault = IDS["provider error"]
    own = {key: verdict for key, verdict in verdicts_of(real.report.grading.rows).items() if key[0] != fault}
    again = verdicts_of(graded.rows)
    assert again == own
    assert graded.run.executed > 0
    assert graded.run.reused == 0
    for score in ALL_SCORES:
        names = [f"{score.value}_{stem}.json" for stem in ("eval_results", "pass_at_k")]
        results, rates = (
            (_official(real.report.grading.folder, name), _official(graded.folder, name)) for name in names
        )
        assert {problem: [one["status"] for one in several] for problem, several in results[1]["eval"].items()} == {
            problem: [one["status"] for one in several]
            for problem, several in results[0]["eval"].items()
            if problem != fault
        }
        assert rates[0]["pass@1"] == rates[1]["pass@1"]
    estimates = [
        {(estimate.metric, estimate.value, estimate.low, estimate.n) for estimate in report.summary.estimates}
        for report in (real.report.grading, graded)
    ]
    assert estimates[0] == estimates[1]


@pytest.mark.namespaces
def test_grading_the_log_gives_the_same(real: Real) -> None:
    """`bw grade` on Inspect's log comes to the same rows, endings and faults included, and executes nothing anew."""
    graded = _graded_again(real, real.report.log, "from log", real.home)
    assert verdicts_of(graded.rows) == verdicts_of(real.report.grading.rows)
    assert graded.run.executed == 0
    details = [
        {(row.problem_id, row.score): row.verdict.detail for row in report.rows if row.problem_id != IDS["long"]}
        for report in (real.report.grading, graded)
    ]
    fault = (IDS["provider error"], Score.EXTRACTED)
    assert "bad request: nonsense" in details[1][fault]
    assert "Request:" not in details[1][fault]
    for detail in details:
        for score in FUNCTION_SCORES:
            del detail[(IDS["provider error"], score)]
    assert details[0] == details[1]


@pytest.mark.namespaces
def test_the_log_shows_what_was_graded(real: Real) -> None:
    """A sample of the log has its three verdicts as numbers, the code, the rule that found it and the tests."""
    score = real.sample("right").scores["verdicts"]
    assert score.value == {"as_written": 0.0, "extracted": 1.0, "calibrated": 1.0}
    assert score.answer.strip() == PROBLEMS[0].reference.strip()
    assert score.metadata["strategy"] == "fenced"
    assert {test["outcome"] for test in score.metadata["tests"]["calibrated"]} == {"passed"}
    assert len(score.metadata["tests"]["calibrated"]) == 8
    assert score.metadata["verdicts"]["extracted"]["outcome"] == "passed"
    wrong = real.sample("wrong").scores["verdicts"]
    assert wrong.value == {"as_written": 0.0, "extracted": 0.0, "calibrated": 0.0}
    failed = [test for test in wrong.metadata["tests"]["extracted"] if test["outcome"] != "passed"]
    assert failed
    assert all(test["id"] in wrong.explanation and test["message"] for test in failed)
    assert "AssertionError" in wrong.explanation
    none = real.sample("another language").scores["verdicts"]
    assert (none.answer, none.metadata["strategy"]) == (None, None)
    assert "no code" in none.explanation


@pytest.mark.namespaces
def test_the_log_has_the_verdicts_of_the_rows(real: Real) -> None:
    """For every sample that was answered, the log's verdicts are those of the table; a fault is an error there."""
    own = verdicts_of(real.report.grading.rows)
    seen = 0
    for sample in real.log.samples or []:
        if sample.id == IDS["provider error"]:
            assert sample.error is not None
            assert not sample.scores
            continue
        assert sample.error is None, sample.id
        for name, row in sample.scores["verdicts"].metadata["verdicts"].items():  # type: ignore[index]
            assert (row["outcome"], row["reason"]) == own[str(sample.id), 0, name][:2]
            seen += 1
    assert seen == 3 * (len(KINDS) - 1)


@pytest.mark.namespaces
def test_the_log_keeps_what_was_said(real: Real) -> None:
    """Prompt, answer as written, reasoning and usage of every sample can be looked at."""
    sample = real.sample("reasoning apart")
    assert sample.input[0].text == prompt_of(next(body for body in real.requests if problem_of(body).id == sample.id))
    assert sample.output.completion == fenced(PROBLEMS[list(KINDS).index("reasoning apart")].reference)
    assert "def task_func(): return 0" in str(sample.messages[-1].content)
    assert sample.metadata["problem_id"] == sample.id
    assert (real.log.eval.task, real.log.eval.model, real.log.status) == ("starter_complete", MODEL, "success")
    assert real.log.eval.metadata is not None
    assert real.log.eval.metadata["template_digest"] == real.runs.manifest()["template_digest"]


@pytest.mark.namespaces
def test_progress_is_told_for_what_was_graded(real: Real) -> None:
    """Every sample that has an answer is counted once, out of all."""
    answered = len(KINDS) - 1
    assert real.told.graded == [(number + 1, len(KINDS)) for number in range(answered)]


@pytest.mark.namespaces
def test_a_run_counts_what_it_executed(real: Real) -> None:
    """Executions of the run itself are its own, not taken over from an earlier one; the trial is nobody's.

    The trial execution was once counted among them, which made the number of taken over records -1.
    """
    digests = {row.job_digest for row in real.report.grading.rows if row.job_digest}
    run = real.report.grading.run
    assert (run.executed + run.reused, run.lost) == (len(digests), {})
    assert 0 <= run.reused <= 1  # the trial is the first problem's reference, which an answer may be as well


@pytest.mark.namespaces
def test_the_folder_holds_what_was_asked(real: Real) -> None:
    """`run.json` has identity and settings; the manifest has versions, usage, and where the log is in the folder."""
    run, manifest = real.runs.manifest(name="run.json"), real.runs.manifest()
    assert set(run["identity"]) <= set(run)
    expected = {
        "benchmark": "starter",
        "variant": "complete",
        "model": MODEL,
        "mode": "chat",
        "prefill": False,
        "samples": 1,
        "ids": list(IDS.values()),
        "generation": {"temperature": 0.0},
        "scores": ["as_written", "extracted", "calibrated"],
        "isolation": "namespace",
        "environment": "starter",
        "flags": [],
        "mode_reason": "nothing says that it is a base model",
        "served_by": "openai-api",
        "price": None,
        "budget": {"max_tokens": None, "max_cost": None},
        "calls": {"max_connections": 10, "max_retries": 6, "timeout": 60},
    }
    for document in (run, manifest):
        assert {name: document[name] for name in expected} == expected
        assert document["run_id"] == real.report.grading.run_id == real.report.plan.run_id
    assert (manifest["status"], manifest["not_asked"], manifest["stopped"]) == ("complete", [], None)
    assert manifest["log"].startswith("logs/")
    assert (real.report.grading.folder / manifest["log"]).samefile(real.report.log)
    assert {"guest_version", "judge_version", "inspect_version", "samples_digest", "problem_digests"} <= set(manifest)
    assert {path.name for path in real.report.grading.folder.iterdir()} >= {
        "run.json", "replies.jsonl", "samples.jsonl", "logs", "manifest.json", "rows.jsonl", "plans.json",
    }  # fmt: skip


@pytest.mark.namespaces
def test_the_sample_file_has_every_answer(real: Real) -> None:
    """Raw and extracted text of each reply stand side by side; what nobody answered says so."""
    rows = {BY_ID[row["task_id"]]: row for row in real.runs.samples()}
    assert set(rows) == set(KINDS)
    assert (rows["provider error"]["ending"], rows["provider error"]["solution"]) == ("failed", "")
    assert rows["right"]["raw_solution"] == fenced(PROBLEMS[0].reference)
    assert rows["right"]["solution"].strip() == PROBLEMS[0].reference.strip()
    assert (rows["empty"]["raw_solution"], rows["empty"]["solution"]) == ("", "")
    assert (rows["cut"]["ending"], rows["cut"]["solution"]) == ("truncated", "")
    assert rows["refused"]["ending"] == "refused"
    assert {(row["model"], row["sample"], row["lead"]) for row in rows.values()} == {(MODEL, 0, "")}


@pytest.mark.namespaces
def test_grading_overlaps_with_asking(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server holds its third answer back until the first verdict is there: it would wait in vain otherwise."""
    told = Told()
    overlapped: list[bool] = []

    def script(body: dict[str, Any], number: int) -> Answer:
        if number == 2:
            overlapped.append(told.first_graded.wait(300))
        return reference(body)

    runs = Runs(tmp_path, home, monkeypatch)
    with scripted_server(script) as server:
        report = runs.run(server, told=told, limit=4, max_connections=1, timeout=600)
    assert overlapped == [True]
    assert set(reasons(report).values()) == {"passed all_tests_passed"}


def test_samples_are_asked_at_a_temperature(runs: Runs) -> None:
    """Each problem is asked so many times with the settings given, and each sample has rows of its own."""
    with scripted_server(reference) as server:
        report = runs.run(
            server, limit=3, samples=4, temperature=0.8, reply_tokens=77, generation={"top_p": 0.9, "seed": 5}
        )
    assert len(server.requests) == 12
    assert {(body["temperature"], body["max_tokens"], body["top_p"], body["seed"]) for body in server.requests} == {
        (0.8, 77, 0.9, 5)
    }
    assert {(row.problem_id, row.sample) for row in report.grading.rows} == {
        (problem.id, sample) for problem in PROBLEMS[:3] for sample in range(4)
    }
    assert {estimate.samples for estimate in report.grading.summary.estimates} == {4}
    assert [(row["task_id"], row["sample"]) for row in runs.samples()][:4] == [
        (PROBLEMS[0].id, 0),
        (PROBLEMS[1].id, 0),
        (PROBLEMS[2].id, 0),
        (PROBLEMS[0].id, 1),
    ]
    assert runs.manifest()["samples"] == 4
    assert len(log_of(report).samples or []) == 12


def test_several_samples_need_a_temperature(runs: Runs) -> None:
    """Asking greedily more than once is refused, for all samples would be the same."""
    with scripted_server(reference) as server, pytest.raises(UsageError, match="3 samples at temperature 0 are one"):
        runs.run(server, samples=3)


def test_a_part_of_the_problems_is_asked(runs: Runs) -> None:
    """Ids and limit choose problems, and are part of what makes the run this one."""
    chosen = (PROBLEMS[4].id, PROBLEMS[2].id, PROBLEMS[9].id)
    with scripted_server(reference) as server:
        report = runs.run(server, ids=chosen, limit=2)
        assert {problem_of(body).id for body in server.requests} == {PROBLEMS[2].id, PROBLEMS[4].id}
        assert set(reasons(report)) == {PROBLEMS[2].id, PROBLEMS[4].id}
        with pytest.raises(UsageError, match="Starter/99"):
            runs.run(server, out="other", ids=("Starter/99",))
        with pytest.raises(UsageError, match="has no variant 'explain'; choose one of: complete, instruct"):
            runs.run(server, out="other", variant="explain")
        with pytest.raises(UsageError, match="nosuch"):
            runs.run(server, out="other", environment="nosuch")
    assert len(server.requests) == 2
    assert not (runs.folder / "other").exists()


def test_a_base_model_continues_the_stub(runs: Runs) -> None:
    """The raw text goes to the completions endpoint with its stops; the answer is read together with it."""
    problem = PROBLEMS[0]
    body_only = problem.reference.removeprefix(problem.prompts["complete"])
    assert body_only != problem.reference
    with scripted_server(lambda body, number: Answer(text=body_only)) as server:
        report = runs.run(server, ids=(problem.id,), mode=Mode.BASE)
        (asked,) = server.requests
    assert asked["prompt"] == problem.prompts["complete"]
    assert "\ndef " in asked["stop"]
    assert asked["max_tokens"] == 1280
    (row,) = runs.samples()
    assert row["raw_solution"] == problem.reference
    assert (row["lead"], row["lead_in_raw"]) == (problem.prompts["complete"], True)
    assert "def task_func" in row["solution"]
    assert reasons(report) == {problem.id: "passed all_tests_passed"}
    manifest = runs.manifest()
    assert (manifest["mode"], manifest["served_by"], manifest["flags"]) == ("base", "openai-api-completions", [])


def test_a_base_model_on_instructions_is_flagged(runs: Runs) -> None:
    """Instructions are meant for tuned models, and a base model's score on them is marked as such."""
    with scripted_server(lambda body, number: Answer(text=fenced(problem_of(body).reference))) as server:
        runs.run(server, limit=2, mode=Mode.BASE, variant="instruct")
    assert runs.manifest()["flags"] == ["base_model_on_instruct"]
    assert [row["lead"] for row in runs.samples()] == ["", ""]


def test_a_prefilled_answer_is_read_with_its_beginning(runs: Runs) -> None:
    """The answer's beginning is sent as the assistant's, and the rest is read as if the model had written all."""
    with scripted_server(lambda body, number: Answer(text=problem_of(body).reference)) as server:
        report = runs.run(server, limit=2, prefill=True)
        messages = server.requests[0]["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant"]
    assert json.dumps(messages[1]["content"]).find("```python") > 0
    assert server.requests[0]["stop"] == ["\n```\n"]
    assert set(reasons(report).values()) == {"passed all_tests_passed"}
    assert all(row["lead"].endswith("```python\n") for row in runs.samples())


ANSWERS = (
    lambda code, rest: fenced(code),
    lambda code, rest: rest,
    lambda code, rest: rest + "\n```\nThis is how it works.",
    lambda code, rest: "Sure, I can do that.\n",
    lambda code, rest: "    x = 1\n" + rest,
    lambda code, rest: rest + "\nprint(task_func())\n",
)


@pytest.mark.parametrize(
    "how", [{}, {"prefill": True}, {"mode": Mode.BASE}, {"mode": Mode.BASE, "variant": "instruct"}]
)
def test_sample_files_of_every_mode_are_graded_the_same(runs: Runs, how: dict[str, Any]) -> None:
    """However a model was asked, `bw grade --extract` on the sample file and on the log make the very same jobs."""

    def script(body: dict[str, Any], number: int) -> Answer:
        problem = problem_of(body)
        rest = problem.reference.removeprefix(problem.prompts["complete"])
        answer = ANSWERS[PROBLEMS.index(problem) % len(ANSWERS)](problem.reference, rest)
        cut = PROBLEMS.index(problem) >= len(ANSWERS)
        return Answer(text=answer[: len(answer) // 2] if cut else answer, finish="length" if cut else "stop")

    with scripted_server(script) as server:
        report = runs.run(server, limit=2 * len(ANSWERS), **how)
    own = verdicts_of(report.grading.rows)
    ids = tuple(problem.id for problem in PROBLEMS[: 2 * len(ANSWERS)])
    options: dict[str, Any] = {"ids": ids, "scores": ALL_SCORES, "variant": report.plan.question.variant}
    home, folder = runs.workspace.home, runs.folder
    samples = run_grading(home, folder / "out" / "samples.jsonl", folder / "a", extract=True, **options)
    log = run_grading(home, report.log, folder / "b", **options)
    assert verdicts_of(log.rows) == own
    # A base model's raw text has its stub in it, so that the rule that finds the code may be another; not the code.
    again = verdicts_of(samples.rows)
    assert {key: (*value[:4], value[-1]) for key, value in again.items()} == {
        key: (*value[:4], value[-1]) for key, value in own.items()
    }
    if not report.plan.question.prompt(PROBLEMS[0].id).lead or "prefill" in how:
        assert again == own


def test_white_space_of_a_reply_is_kept(runs: Runs) -> None:
    """What stands at the ends of a reply belongs to it: a continuation begins with its indentation."""
    text = "    indented\n\n"
    with scripted_server(lambda body, number: Answer(text=text)) as server:
        runs.run(server, limit=1)
        runs.run(server, limit=1, mode=Mode.BASE, out="base")
    for out in ("out", "base"):
        (call,) = runs.calls(out)
        assert call.reply is not None
        assert call.reply.text == text


def test_the_identity_is_what_is_asked(runs: Runs) -> None:
    """Whatever changes what a model is asked or how it is graded makes another run; how calls are made does not."""
    server = Server(url="http://127.0.0.1:9/v1")

    def run_id(**options: Any) -> str:
        return runs.plan(server, **{"limit": 4, "temperature": 0.5, "reply_tokens": 100, **options}).run_id

    changed = [
        run_id(),
        run_id(variant="instruct"),
        run_id(mode=Mode.BASE),
        run_id(mode=Mode.BASE, variant="instruct"),
        run_id(prefill=True),
        run_id(temperature=0.6),
        run_id(reply_tokens=101),
        run_id(reply_tokens=None),
        run_id(samples=2),
        run_id(limit=5),
        run_id(limit=None),
        run_id(name="openai-api/fake/n"),
        run_id(generation={"top_p": 0.5}),
        run_id(args={"strict_tools": False}),
        run_id(official_limits=True),
        run_id(floor_seconds=3.0),
    ]
    assert len(set(changed)) == len(changed)
    same = {
        "max_connections": 3,
        "max_retries": 0,
        "timeout": 9,
        "max_tokens": 7,
        "preflight": True,
        "workers": 2,
        "args": {},
    }
    assert run_id(**same) == run_id()


def test_the_template_is_part_of_the_identity(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other words around the tasks make another run, even when everything that was given is the same."""
    from benchwright.benchmarks.bigcodebench import prompts

    server = Server(url="http://127.0.0.1:9/v1")
    before = runs.plan(server)
    words = {**prompts._templates(), "chat": {**prompts._templates()["chat"], "instruction": "Please:"}}
    monkeypatch.setattr(prompts, "_templates", lambda: words)
    prompts._around.cache_clear()
    try:
        after = runs.plan(server)
    finally:
        prompts._around.cache_clear()
    assert before.identity["template_digest"] != after.identity["template_digest"]
    assert before.run_id != after.run_id
    assert before.folder == after.folder


def test_the_default_folder_is_named_after_the_run(runs: Runs) -> None:
    """Without --out a run gets a folder by model, benchmark, variant and identity."""
    plan = runs.plan(Server(url="http://127.0.0.1:9/v1"))
    plan = dataclasses.replace(plan, options=dataclasses.replace(plan.options, out=None))
    from benchwright.app.runplan import plan_run

    found = plan_run(plan.options, runs.workspace).folder
    assert found == Path("benchwright-results") / f"openai-api-fake-m-starter-complete-{plan.run_id[:8]}"


@pytest.mark.parametrize("out", ["a b%20c #ü/deep", "link/out"])
def test_a_folder_may_have_any_name(runs: Runs, tmp_path: Path, out: str) -> None:
    """Blanks, signs that mean something in addresses, and symbolic links are no obstacle to logs and going on."""
    (tmp_path / "place").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "place")
    with scripted_server(reference) as server:
        report = runs.run(server, out, limit=2)
        again = runs.run(server, out, limit=2)
        assert len(server.requests) == 2
    assert report.log.is_file()
    assert again.log.samefile(report.log)
    assert runs.manifest(out)["log"].startswith("logs/")


def test_changed_settings_are_refused(runs: Runs) -> None:
    """The folder of another run is not touched, and the sentence says what differs, from what to what."""
    with scripted_server(reference) as server:
        runs.run(server, limit=2)
        before = {path: path.read_bytes() for path in (runs.folder / "out").iterdir() if path.is_file()}
        with pytest.raises(UsageError) as caught:
            runs.run(server, limit=2, temperature=0.7, variant="instruct")
        assert len(server.requests) == 2
    for words in ("variant was 'complete', now 'instruct'", "generation.temperature was 0.0, now 0.7", "--out"):
        assert words in str(caught.value)
    assert {path: path.read_bytes() for path in before} == before
    with scripted_server(reference) as server:
        report = runs.run(server, limit=2)
        assert server.requests == []
    assert (report.asked, report.answered_before) == (0, 2)


def test_the_folder_of_a_grading_is_refused(runs: Runs, tmp_path: Path) -> None:
    """A run does not write into what `bw grade` wrote, nor the other way round."""
    with scripted_server(reference) as server:
        runs.run(server, limit=1)
        samples = tmp_path / "out" / "samples.jsonl"
        run_grading(runs.workspace.home, samples, tmp_path / "graded", ids=(PROBLEMS[0].id,))
        with pytest.raises(UsageError, match="graded holds a grading, not a run; choose another folder"):
            runs.run(server, out="graded", limit=1)
        assert len(server.requests) == 1
    with pytest.raises(UsageError, match="out holds another grading"):
        run_grading(runs.workspace.home, samples, tmp_path / "out", ids=(PROBLEMS[0].id,))
    assert not (tmp_path / "graded" / "run.json").exists()


def _texts(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Every file of a folder, those inside of logs as well."""
    for path in folder.rglob("*"):
        if path.suffix == ".eval":
            with zipfile.ZipFile(path) as archive:
                yield from ((f"{path.name}: {name}", archive.read(name)) for name in archive.namelist())
        elif path.is_file():
            yield path.name, path.read_bytes()


def test_secrets_are_written_nowhere(runs: Runs) -> None:
    """A key, headers and the password of an address reach the server and no file of the run."""
    seen: list[str] = []

    def script(body: dict[str, Any], number: int) -> Answer:
        seen.append("asked")
        return Answer(status=400, error="nonsense") if number == 1 else reference(body)

    with scripted_server(script) as server:
        runs.run(
            server,
            limit=3,
            base_url=server.url.replace("http://", "http://me:s3cret@"),
            args={"api_key": "s3cret", "default_headers": {"X-Auth": "s3cret"}},
        )
    assert len(seen) == 3
    found = [name for name, text in _texts(runs.folder / "out") if b"s3cret" in text]
    assert found == []
    assert runs.manifest()["model_args"] == {"api_key": "(hidden)", "default_headers": "(hidden)"}
    assert runs.manifest()["base_url"] == server.url


def test_a_log_folder_that_cannot_be_written_is_named(runs: Runs) -> None:
    """A file in the place of the log folder is one plain sentence, and replies so far are kept."""
    with scripted_server(reference) as server:
        (runs.folder / "out").mkdir()
        (runs.folder / "out" / "logs").write_text("in the way")
        with pytest.raises(MachineError, match=r"The log in .*logs could not be written \(.*give the same command"):
            runs.run(server, limit=2)
        (runs.folder / "out" / "logs").unlink()
        report = runs.run(server, limit=2)
    assert set(reasons(report).values()) == {"passed all_tests_passed"}


def test_nothing_is_asked_when_nothing_can_be_graded(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the first token is paid for, one reference is executed; a machine that cannot do it is told of."""
    factory = unexecuted(monkeypatch)
    factory.script = lost_record
    runs = Runs(tmp_path, home, monkeypatch)
    with scripted_server(reference) as server:
        with pytest.raises(MachineError, match="Nothing was asked, for nothing could be graded: the scripted sandbox"):
            runs.run(server, preflight=True)
        assert server.requests == []


def test_a_machine_that_gives_up_stops_the_asking(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When executing becomes impossible on the way, no further call is made, and the next invocation goes on."""
    factory = unexecuted(monkeypatch)
    ran = factory.script

    def give_up(job: Any) -> Any:
        if len(factory.ran) > 4:
            raise MachineError("no more processes")
        return ran(job)

    factory.script = give_up
    runs = Runs(tmp_path, home, monkeypatch)
    with scripted_server(reference) as server:
        with pytest.raises(MachineError, match="no more processes"):
            runs.run(server, max_connections=1)
        first = len(server.requests)
        assert first < len(PROBLEMS)
        factory.script = ran
        report = runs.run(server, max_connections=4)
        assert len(server.requests) == len(PROBLEMS)
    assert (report.answered_before, report.asked) == (first, len(PROBLEMS) - first)
    assert set(reasons(report).values()) == {"passed all_tests_passed"}


def test_lost_executions_are_tried_again(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sandbox that broke while asking gets another chance in the final grading; the counts stay true."""
    factory = unexecuted(monkeypatch)
    ran = factory.script
    lost: set[str] = set()

    def lose_once(job: Any) -> Any:
        first_try = len(factory.ran) > 1 and job.digest not in lost
        lost.add(job.digest)
        return lost_record(job) if first_try else ran(job)

    factory.script = lose_once
    runs = Runs(tmp_path, home, monkeypatch)
    with scripted_server(reference) as server:
        report = runs.run(server, limit=2)
    assert set(reasons(report).values()) == {"passed all_tests_passed"}
    digests = {row.job_digest for row in report.grading.rows}
    assert report.grading.run.executed + report.grading.run.reused == len(digests)
    assert report.grading.run.reused >= 0


def test_the_preflight_asks_three_and_nothing_twice(runs: Runs) -> None:
    """Its problems are spread, its evidence is told with a forecast, and its replies count for the run."""
    told = Told()
    with scripted_server(reference) as server:
        report = runs.run(server, told=told, limit=9, preflight=True)
        asked = [problem_of(body).id for body in server.requests]
    assert set(asked[:3]) == {PROBLEMS[number].id for number in (0, 4, 8)}
    assert sorted(asked) == sorted(problem.id for problem in PROBLEMS[:9])
    (preflight,), (forecast,) = told.preflights, told.forecasts
    assert preflight.objection is None
    assert all(sample.readable and sample.prompt.startswith("Please provide") for sample in preflight.samples)
    assert forecast == Forecast(replies=6, tokens=900, cost=None)
    assert told.said == ["Preflight: asking 3 of 9 problems first."]
    assert (report.asked, report.answered_before) == (9, 0)
    again = Told()
    with scripted_server(reference) as server:
        runs.run(server, told=again, limit=9, preflight=True)
        assert server.requests == []
    assert (again.said, again.preflights) == ([], [])


def test_a_forecast_needs_usage(runs: Runs) -> None:
    """A provider that reports nothing leaves tokens and cost of the forecast unknown, not zero."""
    told = Told()
    with scripted_server(lambda body, number: Answer(text=reference(body).text, usage=None)) as server:
        report = runs.run(server, told=told, limit=5, preflight=True)
    assert told.forecasts == [Forecast(replies=2, tokens=None, cost=None)]
    assert report.ledger.spent.total == 0
    assert report.ledger.estimated.total > 0


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Answer(text="no code from me"), "None of the 3 answers holds code"),
        (Answer(text="```python\nimport", finish="length"), "raise --reply-tokens"),
        (Answer(status=400, error="maximum context length is 10 tokens"), "do not fit the model's context"),
        (Answer(status=400, error="nonsense"), "gave no reply to any of the 3 first calls"),
    ],
)
def test_a_preflight_objects(runs: Runs, answer: Answer, words: str) -> None:
    """When no answer can be read, three requests were sent, the evidence was told, and no table is made."""
    told = Told()
    with scripted_server(lambda body, number: answer) as server:
        with pytest.raises(StoppedError, match=words):
            runs.run(server, told=told, preflight=True)
        assert len(server.requests) == 3
    assert len(told.preflights) == 1
    assert len(told.preflights[0].samples) == 3
    assert not (runs.folder / "out" / "rows.jsonl").exists()


def test_one_readable_answer_lets_the_run_go_on(runs: Runs) -> None:
    """The preflight is there for what is wrong with all answers."""

    def script(body: dict[str, Any], number: int) -> Answer:
        return reference(body) if problem_of(body).id == PROBLEMS[0].id else Answer(text="no code from me")

    with scripted_server(script) as server:
        report = runs.run(server, limit=5, preflight=True)
        assert len(server.requests) == 5
    assert list(reasons(report).values()) == ["passed all_tests_passed", *["unusable no_code"] * 4]


def test_without_a_preflight_everything_is_asked(runs: Runs) -> None:
    """Leaving it out asks all problems, readable or not."""
    told = Told()
    with scripted_server(lambda body, number: Answer(text="no code from me")) as server:
        runs.run(server, told=told, limit=5)
        assert len(server.requests) == 5
    assert (told.said, told.preflights) == ([], [])
