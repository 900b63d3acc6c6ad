"""Extraction's time stays in bounds on texts that are made to be hard."""

import importlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from extraction_programs import ENTRY, PLAIN

from benchwright.answers import parsing
from benchwright.answers.extraction import as_written, extract
from benchwright.answers.parsing import LONGEST_PARSED, MOST_PARSED
from benchwright.core.answers import CodeAnswer

SIZE = 10_000
SECONDS = 5.0
"""Some hundred times what a text of that size takes: only a time that grows faster than the text reaches it."""


@pytest.fixture(scope="module")
def benchmark() -> Iterator[ModuleType]:
    """The script that measures the same texts at two million characters."""
    folder = str(Path(__file__).parents[2] / "benchmarks")
    sys.path.insert(0, folder)
    try:
        yield importlib.import_module("extraction")
    finally:
        sys.path.remove(folder)
        for name in ("extraction", "measuring"):
            sys.modules.pop(name, None)


def test_no_text_takes_long(benchmark: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hard texts of every family, whatever stands before them, are read in bounded time and with bounded parsing."""
    parsed: list[int] = []
    parse = parsing.parse
    monkeypatch.setattr(parsing, "parse", lambda code: (parsed.append(len(code)), parse(code))[1])
    for name, make in benchmark.FAMILIES.items():
        for lead in benchmark.LEADS:
            text = lead + make(SIZE)
            parsed.clear()
            begin = time.process_time()
            extract(text, entry_point=ENTRY)
            extract(text, entry_point=ENTRY, cut=True)
            as_written(text)
            assert time.process_time() - begin < SECONDS, (name, lead)
            assert sum(parsed) <= 3 * MOST_PARSED, (name, lead)
            assert max(parsed, default=0) <= LONGEST_PARSED, (name, lead)


def test_a_long_reasoning_costs_no_answer() -> None:
    """A right answer behind two million characters of reasoning is found."""
    draft = "Let me see (again).\n```python\ndef task_func(x):\n    return 0\n```\n"
    for opening in ("<think>\n", ""):
        answer = extract(f"{opening}{draft * 30_000}</think>\n```python\n{PLAIN}```\n", entry_point=ENTRY)
        assert isinstance(answer, CodeAnswer)
        assert answer.code == PLAIN.strip()


@pytest.mark.parametrize("loop", ["```\n", "prose again (and again).\n", "print(task_func(1))\n", "x = 1\n"])
@pytest.mark.parametrize("lead", ["```python\n", ""])
def test_a_reply_that_repeats_itself_at_the_end_costs_no_answer(loop: str, lead: str) -> None:
    """What a model wrote before it began to repeat itself a hundred thousand times is graded."""
    closing = "```\n" if lead else ""
    answer = extract(f"{lead}{PLAIN}{closing}{loop * 100_000}", entry_point=ENTRY)
    assert isinstance(answer, CodeAnswer)
    assert answer.code == PLAIN.strip()


def test_a_program_too_long_to_be_parsed_is_taken_as_it_stands() -> None:
    """A block with a megabyte of data in it is handed on whole, and a note says why nothing was selected."""
    program = f"DATA = '{'x' * 1_000_000}'\n\ndef task_func(x):\n    return DATA[x]"
    answer = extract(f"Here:\n```python\n{program}\n```\n", entry_point=ENTRY)
    assert answer == CodeAnswer(
        code=program, strategy="unparsed", notes=("the code is too long to be parsed and is taken as it stands",)
    )
