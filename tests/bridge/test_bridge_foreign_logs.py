"""Inspect logs of other people's tasks: their scores are read as they are; own logs and odd ones are refused."""

import json
import zipfile
from pathlib import Path
from typing import Any

import inspect_ai
import inspect_streams  # noqa: F401 - imported for what it does
import pytest
from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalConfig, EvalDataset, EvalError, EvalLog, EvalSample, EvalSpec, write_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, Scorer, Target, accuracy, scorer
from inspect_ai.solver import TaskState

from benchwright.bridge import foreign_logs
from benchwright.bridge.foreign_logs import ForeignLog, read_foreign_log
from benchwright.core.errors import UsageError

REPLY = ModelOutput.from_content("mockllm/model", "pass")
REPLY.usage = ModelUsage(input_tokens=7, output_tokens=3, total_tokens=10)


@scorer(metrics=[accuracy()], name="verify")
def verify() -> Scorer:
    """Right is what the target says of the sample."""

    async def score(state: TaskState, target: Target) -> Score:
        if target.text == "breaks":
            raise RuntimeError("the sandbox broke")
        return Score(value=target.text, explanation="The code was run.\nAssertionError: 3 != 4")

    return score


@pytest.fixture(scope="module")
def real_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The log of a small task that Inspect ran: two epochs of a right answer, a wrong one, and one that broke."""
    (log,) = inspect_ai.eval(
        Task(
            dataset=[
                Sample(id="BigCodeBench/13", input="a", target="C"),
                Sample(id=15, input="b", target="I", metadata={"task_id": "BigCodeBench/15"}),
                Sample(id="BigCodeBench/17", input="c", target="breaks"),
            ],
            scorer=verify(),
            name="bigcodebench",
        ),
        # With the tokens said: otherwise Inspect fetches a tokenizer to count them.
        model=get_model("mockllm/model", custom_outputs=[REPLY] * 6),
        epochs=2,
        log_dir=str(tmp_path_factory.mktemp("logs")),
        display="none",
        fail_on_error=False,
    )
    return Path(log.location.removeprefix("file://"))


def test_a_log_that_inspect_wrote(real_log: Path) -> None:
    """Scores by sample and epoch, with the scorer's words; a sample that broke is not scored, and why is told."""
    log = read_foreign_log(real_log)
    found = {(sample.id, sample.epoch): (sample.passed, sample.detail) for sample in log.samples}
    assert found == {
        (name, epoch): said
        for epoch in (1, 2)
        for name, said in {
            "BigCodeBench/13": (True, "C: AssertionError: 3 != 4"),
            "BigCodeBench/15": (False, "I: AssertionError: 3 != 4"),
            "BigCodeBench/17": (None, found["BigCodeBench/17", epoch][1]),
        }.items()
    }
    assert "the sandbox broke" in found["BigCodeBench/17", 1][1]
    assert (log.task, log.scorer, log.model, log.status) == ("bigcodebench", "verify", "mockllm/model", "success")
    assert log.asked == ("BigCodeBench/13", "BigCodeBench/15", "BigCodeBench/17")
    assert log.finished.startswith("20")
    assert log.cost is None
    assert "inspect_ai" in log.facts["packages"]
    assert log.facts["usage"]["mockllm/model"]["total_tokens"] == 60
    assert len(log.sha256) == 64


def sample(name: str = "o__r-1", value: Any = 1, epoch: int = 1, **fields: Any) -> EvalSample:
    """A sample of a log, with one score unless others are given."""
    scores = {"s": Score(value=value)} if value is not None else None
    return EvalSample(id=name, epoch=epoch, input="x", target="", **{"scores": scores, **fields})


def read(tmp_path: Path, *samples: EvalSample, scorer: str | None = None, **spec: Any) -> ForeignLog:
    """What a log of these samples says."""
    path = tmp_path / "run.eval"
    ids = list(dict.fromkeys(str(one.id) for one in samples))
    header = EvalSpec(
        created="2025-01-01T00:00:00+00:00",
        task="swe_bench",
        dataset=EvalDataset(sample_ids=ids if spec.pop("named", True) else None),
        model="provider/model",
        config=EvalConfig(epochs=max((one.epoch for one in samples), default=1)),
        **spec,
    )
    write_eval_log(EvalLog(eval=header, samples=list(samples)), str(path))
    return read_foreign_log(path, scorer=scorer)


@pytest.mark.parametrize(
    ("value", "passed"),
    [("C", True), ("I", False), ("P", False), ("N", False), (1, True), (0, False), (1.0, True), (True, True)],
)
def test_right_or_wrong_in_inspect_s_words(tmp_path: Path, value: Any, passed: bool) -> None:
    """Letters, numbers and truths; what is right in part only is not right."""
    assert read(tmp_path, sample(value=value)).samples[0].passed is passed


@pytest.mark.parametrize("value", [0.5, 2, "yes", "", {"a": 1}, [1]])
def test_other_scores_are_refused(tmp_path: Path, value: Any) -> None:
    """A score between right and wrong is neither."""
    with pytest.raises(UsageError, match="expected C or I, 1 or 0"):
        read(tmp_path, sample(value=value))


def test_a_sample_without_a_score_says_why(tmp_path: Path) -> None:
    """An error's words, or that there is no score; one scored sample must be left."""
    error = EvalError(message="rate limit", traceback="", traceback_ansi="")
    found = read(tmp_path, sample("a"), sample("b", None, error=error), sample("c", None), sample("d", float("nan")))
    assert [one.detail for one in found.samples] == ["1", "not scored: rate limit", "not scored", "nan"]
    assert [one.passed for one in found.samples] == [True, None, None, None]
    with pytest.raises(UsageError, match="holds no score of its 1 samples"):
        read(tmp_path, sample("a", None))


def test_of_several_scorers_one_must_be_named(tmp_path: Path) -> None:
    """Nothing chooses between them."""
    both = {"good": Score(value="C"), "bad": Score(value="I")}
    with pytest.raises(UsageError, match="has the scorers bad, good; name one with --scorer"):
        read(tmp_path, sample(scores=both))
    found = read(tmp_path, sample(scores=both), scorer="bad")
    assert (found.scorer, found.samples[0].passed) == ("bad", False)
    with pytest.raises(UsageError, match="has no scorer 'x'"):
        read(tmp_path, sample(scores=both), scorer="x")


def test_logs_that_do_not_name_their_samples_are_read_whole(tmp_path: Path) -> None:
    """Older versions of Inspect did not."""
    found = read(tmp_path, sample("a"), sample("b", 0), named=False)
    assert ([one.id for one in found.samples], found.asked) == (["a", "b"], ())


def test_numbered_samples_are_asked_by_their_names(tmp_path: Path) -> None:
    """A number in the log and the id in its sample's metadata are one problem, whatever the number is."""
    first, second = (sample(str(number), metadata={"instance_id": f"o__r-{11 - number}"}) for number in (1, 2))
    found = read(tmp_path, first, second)
    assert found.asked == ("o__r-10", "o__r-9")


@pytest.mark.parametrize("ending", ["eval", "json"])
def test_a_log_that_speaks_of_more_samples_than_it_has(ending: str, tmp_path: Path) -> None:
    """Those that are there are read, in no more time than they take, however many epochs the header names."""
    path = tmp_path / f"run.{ending}"
    header = EvalSpec(
        created="2025-01-01T00:00:00+00:00",
        task="swe_bench",
        dataset=EvalDataset(sample_ids=["a", "b", "c", "b_epoch_1"]),
        model="provider/model",
        config=EvalConfig(epochs=10**15),
    )
    samples = [sample("b", epoch=11), sample("b", epoch=2), sample("b_epoch_1"), sample("a", epoch=3)]
    write_eval_log(EvalLog(eval=header, samples=samples), str(path))
    found = read_foreign_log(path)
    assert {(one.id, one.epoch) for one in found.samples} == {("a", 3), ("b", 2), ("b", 11), ("b_epoch_1", 1)}
    assert found.asked == ("a", "b", "c", "b_epoch_1")


@pytest.mark.parametrize(("part", "value"), [("plan", None), ("stats", None), ("status", None), ("status", "odd")])
def test_a_log_that_lacks_a_part_is_refused(part: str, value: str | None, tmp_path: Path) -> None:
    """Inspect's reader asserts that what it looks for is there."""
    path = tmp_path / "run.json"
    header = EvalSpec(
        created="2025-01-01T00:00:00+00:00", task="t", dataset=EvalDataset(), model="m", config=EvalConfig()
    )
    write_eval_log(EvalLog(eval=header, samples=[sample()]), str(path))
    plain = json.loads(path.read_text())
    del plain[part]
    path.write_text(json.dumps(plain if value is None else {**plain, part: value}))
    with pytest.raises(UsageError, match=r"run\.json is not a readable Inspect log"):
        read_foreign_log(path)


def test_own_logs_are_graded_and_not_imported(tmp_path: Path) -> None:
    """Logs of benchwright's tasks are told by the task, or by what samples carry."""
    with pytest.raises(UsageError, match="bw grade starter"):
        read(tmp_path, sample(), task_registry_name="benchwright/starter", metadata={"benchmark": "starter"})
    with pytest.raises(UsageError, match="is not imported but graded"):
        read(tmp_path, sample(metadata={"problem_id": "x", "lead": ""}))


def test_a_sample_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    """Which of two scores is meant cannot be known."""
    own = sample("7", metadata={"instance_id": "o__r-1"})
    with pytest.raises(UsageError, match="the same sample twice"):
        read(tmp_path, own, sample("o__r-1"))


def test_what_is_no_log_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing file, bytes, another archive, deep nesting, a part that is too large: one sentence each."""
    path = tmp_path / "x.eval"
    with pytest.raises(UsageError, match="There is no file"):
        read_foreign_log(path)
    for content in (b"", b"not a log", b'{"a":' * 100_000):
        path.write_bytes(content)
        with pytest.raises(UsageError, match=r"x\.eval is not a readable Inspect log"):
            read_foreign_log(path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", " " * 10_000)
    with pytest.raises(UsageError, match="not a readable Inspect log"):
        read_foreign_log(path)
    monkeypatch.setattr(foreign_logs, "_MAX_PART_BYTES", 1000)
    with pytest.raises(UsageError, match="a part of 10,000 bytes"):
        read_foreign_log(path)
