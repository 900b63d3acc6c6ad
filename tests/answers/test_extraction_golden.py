"""Realistic replies in ``replies/`` and the answers that are to come of them."""

import json
import re
from pathlib import Path

import pytest

from benchwright.answers.extraction import extract
from benchwright.core.answers import CodeAnswer

FOLDER = Path(__file__).with_name("replies")


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.txt")), ids=lambda file: file.stem)
def test_the_answer_to_a_reply_is_the_expected_one(file: Path) -> None:
    """Strategy, notes and every character of the code are as the file says below the reply."""
    head, text, expected = re.split(
        r"^==== reply\n|\n==== answer \(no newline above\)\n|^==== answer\n", file.read_text(), flags=re.MULTILINE
    )
    options = {name: json.loads(value) for name, value in (line.split(": ", 1) for line in head.splitlines())}
    answer = extract(text, entry_point="task_func", **options)
    if isinstance(answer, CodeAnswer):
        notes = "".join(f"note: {note}\n" for note in answer.notes)
        assert f"strategy: {answer.strategy}\n{notes}----\n{answer.code}\n" == expected
    else:
        assert f"reason: {answer.reason.value}\n" == expected
