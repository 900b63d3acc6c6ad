"""Facts about sample files."""

import gzip
import hashlib
import json
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwright.answers.reading import answer_of
from benchwright.benchmarks.base import ProblemSet, SampleFile
from benchwright.benchmarks.bigcodebench.samples import read_samples
from benchwright.core.answers import CodeAnswer, NoAnswer
from benchwright.core.attempts import Attempt
from benchwright.core.errors import UsageError
from benchwright.core.verdicts import Reason

WriteLines = Callable[..., Path]


def sample(number: int = 1, solution: Any = "x = 1", **more: Any) -> dict[str, Any]:
    return {"task_id": f"BigCodeBench/{number}", "solution": solution, **more}


def keys(file: SampleFile) -> list[tuple[str, int]]:
    return [(attempt.problem_id, attempt.sample) for attempt in file.attempts]


def only(file: SampleFile) -> Attempt:
    (attempt,) = file.attempts
    return attempt


def test_a_solution_is_taken_as_it_stands(three_problems: ProblemSet, write_lines: WriteLines) -> None:
    """The field solution is code; the raw text is kept beside it."""
    attempt = only(read_samples(write_lines(sample(solution="a\n", raw_solution="```a```")), three_problems))
    assert (attempt.solution, attempt.raw_text, attempt.sample) == ("a\n", "```a```", 0)


def test_a_completion_follows_the_complete_prompt(three_problems: ProblemSet, write_lines: WriteLines) -> None:
    """The field completion goes on where the complete prompt ends; solution comes first if both are there."""
    path = write_lines(
        {"task_id": "BigCodeBench/1", "completion": "    return 2\n"},
        {"task_id": "BigCodeBench/2", "completion": "    return 2\n", "solution": "s"},
    )
    first, second = read_samples(path, three_problems).attempts
    assert first.solution == three_problems.problem("BigCodeBench/1").prompts["complete"] + "    return 2\n"
    assert second.solution == "s"


def test_a_file_is_described(three_problems: ProblemSet, write_lines: WriteLines) -> None:
    """Digest, name, tasks without an answer and samples per task are told."""
    path = write_lines(sample(1), sample(2), b"\n", sample(1))
    file = read_samples(path, three_problems)
    assert file.digest == hashlib.sha256(path.read_bytes()).hexdigest()
    assert (file.name, file.files) == ("samples.jsonl", (str(path),))
    assert file.missing == ("BigCodeBench/10",)
    assert (file.fewest_samples, file.most_samples) == (1, 2)


@given(st.lists(st.sampled_from([1, 2, 10]), min_size=1, max_size=12), st.booleans())
@settings(deadline=None, max_examples=50)
def test_samples_are_numbered_in_file_order(
    tmp_path_factory: pytest.TempPathFactory, row: Callable[..., Any], order: list[int], packed: bool
) -> None:
    """Whatever the order of tasks, each task's samples get 0, 1, … in file order, also from gzip."""
    from benchwright.benchmarks.bigcodebench.rows import problems_of

    problems = ProblemSet(
        benchmark="bigcodebench",
        version="v",
        subset="full",
        digest="",
        source="",
        pinned=False,
        problems=problems_of(("", row(f"BigCodeBench/{number}")) for number in (1, 2, 10)),
    )
    data = "".join(json.dumps(sample(task, str(index))) + "\n" for index, task in enumerate(order)).encode()
    path = tmp_path_factory.mktemp("order") / "samples.jsonl"
    path.write_bytes(gzip.compress(data) if packed else data)
    file = read_samples(path, problems)
    assert [attempt.solution for attempt in file.attempts] == [str(index) for index in range(len(order))]
    seen: Counter[int] = Counter()
    for task, key in zip(order, keys(file), strict=True):
        assert key == (f"BigCodeBench/{task}", seen[task])
        seen[task] += 1


@given(st.text(), st.none() | st.text())
@settings(deadline=None, max_examples=50)
def test_any_text_survives_the_file(
    tmp_path_factory: pytest.TempPathFactory, row: Callable[..., Any], code: str, raw: str | None
) -> None:
    """Code with any characters, escaped or not, comes back exactly."""
    from benchwright.benchmarks.bigcodebench.rows import to_problem

    problems = ProblemSet(
        benchmark="b",
        version="v",
        subset="full",
        digest="",
        source="",
        pinned=False,
        problems=(to_problem(row()),),
    )
    path = tmp_path_factory.mktemp("text") / "samples.jsonl"
    line = json.dumps(sample(solution=code, raw_solution=raw), ensure_ascii=False)
    path.write_bytes(line.encode("utf-8"))
    attempt = only(read_samples(path, problems))
    assert (attempt.solution, attempt.raw_text) == (code, raw)


def test_a_folder_is_read_like_one_file(three_problems: ProblemSet, write_lines: WriteLines) -> None:
    """All sample files of a folder count, in the order of their names; result files beside them do not."""
    write_lines(sample(1, "second"), name="m/b.jsonl")
    first = write_lines(sample(1, "first"), sample(2), name="m/a.jsonl")
    packed = first.with_name("c.jsonl.gz")
    packed.write_bytes(gzip.compress(json.dumps(sample(10)).encode()))
    write_lines(b"{}", name="m/a_eval_results.jsonl")
    write_lines(b"{}", name="m/a_eval_results.json")
    write_lines(b"notes", name="m/readme.txt")
    file = read_samples(first.parent, three_problems)
    assert keys(file) == [
        ("BigCodeBench/1", 0),
        ("BigCodeBench/2", 0),
        ("BigCodeBench/1", 1),
        ("BigCodeBench/10", 0),
    ]
    assert [Path(name).name for name in file.files] == ["a.jsonl", "b.jsonl", "c.jsonl.gz"]
    assert (file.name, file.model, file.missing) == ("m", "m", ())


def test_the_digest_of_a_folder_changes_with_any_of_its_files(
    three_problems: ProblemSet, write_lines: WriteLines
) -> None:
    """Two folders have one digest only if names and bytes of their sample files are the same."""
    folder = write_lines(sample(1), name="m/a.jsonl").parent
    before = read_samples(folder, three_problems).digest
    write_lines(sample(1, "other"), name="m/a.jsonl")
    assert read_samples(folder, three_problems).digest != before


@pytest.mark.parametrize(
    ("name", "extra", "expected"),
    [
        ("m/samples.jsonl", {"model": "org/row"}, "org/row"),
        ("m/some-model--bigcodebench-instruct--vllm-0-1.jsonl", {}, "some-model"),
        ("folder/full-complete.samples.jsonl", {}, "folder"),
    ],
)
def test_the_model_is_guessed(
    three_problems: ProblemSet, write_lines: WriteLines, name: str, extra: dict[str, str], expected: str
) -> None:
    """The model is what rows say, else what stands before --bigcodebench- in the name, else the folder."""
    file = read_samples(write_lines(sample(**extra), name=name), three_problems)
    assert file.model == only(file).model == expected


@pytest.mark.parametrize("mark", ["rows", "names"])
def test_answers_of_two_models_are_not_mixed(three_problems: ProblemSet, write_lines: WriteLines, mark: str) -> None:
    """Samples of several models would become samples of one; the file is refused."""
    if mark == "rows":
        path = write_lines(sample(model="a"), sample(model="b"))
    else:
        path = write_lines(sample(), name="m/a--bigcodebench-x.jsonl").parent
        write_lines(sample(), name="m/b--bigcodebench-x.jsonl")
    with pytest.raises(UsageError, match=r"2 models: a \(.*line 1\); b \(.*line"):
        read_samples(path, three_problems)


def test_numbers_given_in_the_file_are_kept(three_problems: ProblemSet, write_lines: WriteLines) -> None:
    """A sample number of the file's own replaces counting."""
    file = read_samples(write_lines(sample(sample=3), sample(sample=1)), three_problems)
    assert keys(file) == [("BigCodeBench/1", 3), ("BigCodeBench/1", 1)]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([sample(sample=0), sample(2, sample=0), sample(sample=0)], r"line 3: sample 0 of .*/1 .* line 1\."),
        (
            [sample(_identifier="i"), sample(_identifier="i")],
            r"line 2: the sample 'i' was already .* line 1\.",
        ),
        ([sample(sample=0), sample(2)], "line 2 has no 'sample' number, unlike .*line 1"),
        ([sample(sample=True)], "'sample' is True"),
        ([sample(sample=-1)], "'sample' is -1"),
        ([sample(sample="0")], "'sample' is '0'"),
        ([{"solution": "x"}], "line 1: the field 'task_id' is missing"),
        ([{"task_id": 1, "solution": "x"}], "line 1: the field 'task_id' is a number"),
        ([{"task_id": "BigCodeBench/1", "code": "x"}], "'solution' or 'completion'; found task_id, code"),
        ([sample(), b"\n", b'{"task_id": \n'], "line 3: expected one JSON object per line, .* not JSON"),
        ([b'{"task_id": "BigCo'], r"not JSON: .*\(the file ends in this line: is it complete\?\)"),
        ([sample(), b"[1]\n"], "line 2: expected a JSON object, got a list"),
        ([b"\n"], "holds no samples"),
        ([b"[" * 100_000 + b"\n"], "line 1: .*not JSON"),
        ([b'{"task_id": "BigCodeBench/1", "n": ' + b"9" * 5000 + b"}\n"], "line 1: .*not JSON"),
        ([b'{"task_id": "\xff", \n'], "line 1: byte 13 is not UTF-8, and the line is not JSON"),
    ],
)
def test_what_cannot_be_attributed_is_refused_with_its_line(
    three_problems: ProblemSet, write_lines: WriteLines, lines: list[Any], message: str
) -> None:
    """A line from which no sample of a task can be read stops the reading and is named."""
    with pytest.raises(UsageError, match=message):
        read_samples(write_lines(*lines), three_problems)


def test_the_same_number_in_two_files_is_refused(three_problems: ProblemSet, write_lines: WriteLines) -> None:
    """In a folder, explicit numbers must differ across files; both places are named."""
    folder = write_lines(sample(sample=0), name="m/a.jsonl").parent
    write_lines(sample(sample=0), name="m/b.jsonl")
    with pytest.raises(UsageError, match=r"b\.jsonl, line 1: sample 0 .* a\.jsonl, line 1|b\.jsonl.*a\.jsonl"):
        read_samples(folder, three_problems)


@pytest.mark.parametrize(
    ("task_id", "hint"),
    [
        ("BigCodeBench/1 ", r"did you mean BigCodeBench/1\?"),
        ("BigCodeBench_10", r"did you mean BigCodeBench/10\?"),
        ("BigCodeBench/100", "did you mean BigCodeBench/10"),
        ("HumanEval?", r"line 1\)\."),
    ],
)
def test_an_unknown_task_is_named_with_what_was_meant(
    three_problems: ProblemSet, write_lines: WriteLines, task_id: str, hint: str
) -> None:
    """An id that the set does not have is an error that names line, set and near ids."""
    with pytest.raises(UsageError, match=rf"answers 1 task that bigcodebench local-test \(subset full.*{hint}"):
        read_samples(write_lines({"task_id": task_id, "solution": ""}), three_problems)


def test_many_unknown_tasks_are_counted(three_problems: ProblemSet, write_lines: WriteLines) -> None:
    """Five unknown ids are named with their first line, the rest counted."""
    path = write_lines(sample(), *(sample(1000 + number % 8) for number in range(16)))
    with pytest.raises(UsageError, match=r"answers 8 tasks .*/1000' .*line 2.*/1004' .*and 3 more\.$"):
        read_samples(path, three_problems)


def test_a_truncated_gzip_says_how_much_was_read(three_problems: ProblemSet, tmp_path: Path) -> None:
    """A cut-off compressed file is refused, with the number of whole lines before the cut."""
    lines = [json.dumps(sample(solution=hashlib.sha256(bytes([n])).hexdigest() * 40)) for n in range(100)]
    path = tmp_path / "samples.jsonl.gz"
    packed = gzip.compress("\n".join(lines).encode())
    path.write_bytes(packed[: len(packed) // 2])
    with pytest.raises(UsageError, match=r"ends early: .* cut off; \d\d complete lines were read\."):
        read_samples(path, three_problems)


def test_a_damaged_gzip_is_refused(three_problems: ProblemSet, tmp_path: Path) -> None:
    """A compressed file whose content or checksum is wrong is not graded in part."""
    path = tmp_path / "samples.jsonl.gz"
    packed = bytearray(gzip.compress(json.dumps(sample()).encode() + b"\n"))
    packed[-6] ^= 0xFF
    path.write_bytes(packed)
    with pytest.raises(UsageError, match=r"is damaged: gzip says .* after \d complete lines"):
        read_samples(path, three_problems)


@pytest.mark.parametrize(
    ("solution", "reason"),
    [(None, Reason.EMPTY), ("", Reason.EMPTY), ([], Reason.NOT_TEXT), (3, Reason.NOT_TEXT)],
)
def test_an_answer_that_is_no_text_is_still_an_attempt(
    three_problems: ProblemSet, write_lines: WriteLines, solution: Any, reason: Reason
) -> None:
    """A null, blank or non-string solution is scored, not an error of the file."""
    answer = answer_of(only(read_samples(write_lines(sample(solution=solution)), three_problems)))
    assert isinstance(answer, NoAnswer)
    assert answer.reason is reason


def test_bytes_that_are_not_utf8_spoil_one_answer_only(three_problems: ProblemSet, write_lines: WriteLines) -> None:
    """A line that is JSON but for its encoding is an unreadable attempt; the others are read as usual."""
    path = write_lines(b'{"task_id": "BigCodeBench/1", "solution": "h\xe9"}\n', sample(2))
    first, second = read_samples(path, three_problems).attempts
    answer = answer_of(first)
    assert answer == NoAnswer(reason=Reason.NOT_TEXT, detail="byte 44 of the line is not UTF-8")
    assert isinstance(answer_of(second), CodeAnswer)


def test_nul_bytes_and_surrogates_are_the_answers_own(three_problems: ProblemSet, write_lines: WriteLines) -> None:
    """Characters that JSON can spell but no source holds reach the attempt and are judged there."""
    file = read_samples(write_lines(sample(solution="\0"), sample(2, "\ud800")), three_problems)
    assert [attempt.solution for attempt in file.attempts] == ["\0", "\ud800"]
    for attempt in file.attempts:
        answer = answer_of(attempt)
        assert isinstance(answer, NoAnswer)
        assert answer.reason is Reason.NOT_TEXT


def test_a_50_mb_solution_is_recorded_as_too_large_and_dropped(three_problems: ProblemSet, tmp_path: Path) -> None:
    """A huge answer costs memory only while its line is read."""
    path = tmp_path / "samples.jsonl"
    huge = "x" * 50_000_000
    path.write_text(json.dumps(sample(solution=huge, raw_solution=huge)) + "\n" + json.dumps(sample(2)) + "\n")
    del huge
    tracemalloc.start()
    try:
        file = read_samples(path, three_problems)
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 1_000_000
    answer = answer_of(file.attempts[0])
    assert answer == NoAnswer(
        reason=Reason.TOO_LARGE, detail="the answer has 50,000,000 bytes; at most 10,000,000 are graded"
    )
    assert isinstance(answer_of(file.attempts[1]), CodeAnswer)


def test_a_byte_order_mark_and_windows_line_ends_are_accepted(
    three_problems: ProblemSet, write_lines: WriteLines
) -> None:
    """Files saved by Windows tools are read."""
    path = write_lines(b"\xef\xbb\xbf" + json.dumps(sample()).encode() + b"\r\n", b"\r\n")
    assert len(read_samples(path, three_problems).attempts) == 1


def test_absent_files_and_empty_folders_are_usage_errors(three_problems: ProblemSet, tmp_path: Path) -> None:
    """A path without samples is named."""
    with pytest.raises(UsageError, match="There is no file"):
        read_samples(tmp_path / "nowhere.jsonl", three_problems)
    with pytest.raises(UsageError, match="holds no sample file"):
        read_samples(tmp_path, three_problems)


def test_20_000_samples_are_read_quickly_and_in_modest_memory(three_problems: ProblemSet, tmp_path: Path) -> None:
    """Reading grows with the file alone: 20,000 answers of 1 kB take seconds and about their own size."""
    path = tmp_path / "samples.jsonl.gz"
    code = "# a comment of some length\n" * 40
    with gzip.open(path, "wt", compresslevel=1) as file:
        for number in range(20_000):
            text = f"{code}x = {number}\n"
            file.write(json.dumps(sample((1, 2, 10)[number % 3], text, raw_solution=text)) + "\n")
    started = time.monotonic()
    tracemalloc.start()
    try:
        read = read_samples(path, three_problems)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(read.attempts) == 20_000
    assert read.attempts[0].raw_text is read.attempts[0].solution
    assert peak < 60_000_000  # the codes themselves are 22 MB
    assert time.monotonic() - started < 60  # measured: 0.4 s without tracing; the bound is for a loaded machine
