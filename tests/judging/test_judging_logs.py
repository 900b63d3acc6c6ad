"""Log parsers: golden logs in ``logs/``, swebench's own readings, and logs made to deceive or to take forever."""

import json
import os
import random
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.core.errors import UsageError
from benchwright.judging.logs import PARSERS, LogStatus, parse, parse_official, parser

FOLDER = Path(__file__).with_name("logs")
EXPECTED = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
SWEBENCH_PYTHON = os.environ.get("BENCHWRIGHT_SWEBENCH_PYTHON", "")

# Reads lines [form, log] and writes what swebench's parser gives, or null where it raises.
OFFICIAL_PROGRAM = """
import json, sys
from swebench.harness.log_parsers import python as p
forms = {
    "pytest": p.parse_log_pytest, "pytest-options": p.parse_log_pytest_options, "pytest-v2": p.parse_log_pytest_v2,
    "seaborn": p.parse_log_seaborn, "matplotlib": p.parse_log_matplotlib, "django": p.parse_log_django,
    "sympy": p.parse_log_sympy,
}
for line in sys.stdin:
    form, log = json.loads(line)
    try:
        found = forms[form](log, None)
    except Exception:
        found = None
    print(json.dumps(found))
"""


def golden(name: str) -> str:
    """The text of a golden log."""
    return (FOLDER / f"{name}.txt").read_bytes().decode("utf-8")


@pytest.mark.parametrize("case", sorted(EXPECTED))
def test_golden_logs_read_as_expected(case: str) -> None:
    """Statuses and conflicts of both readings are those of ``expected.json``, which a person has looked through."""
    name, form = case.split("/")
    parsed = parse(form, golden(name))
    assert {
        "robust": {test: status.value for test, status in parsed.statuses.items()},
        "conflicts": list(parsed.conflicts),
        "official": parse_official(form, golden(name)),
    } == EXPECTED[case]


def test_every_golden_log_is_expected_somewhere() -> None:
    """No log lies in the folder without being read."""
    assert {case.split("/")[0] for case in EXPECTED} == {file.stem for file in FOLDER.glob("*.txt")}
    assert {case.split("/")[1] for case in EXPECTED} == set(PARSERS)


def mutated(log: str, source: random.Random) -> str:
    """A log with lines doubled, moved, cut, joined or mixed with pieces that parsers look at."""
    pieces = [
        "PASSED", "FAILED", "SKIPPED", "ERROR", "XFAIL", " - ", "[", "]", "[/a/b*]", "[//a]", "[/a/b]x]", " ... ",
        " ... ok", " ...  OK", "ok", "OK", "FAIL:", "ERROR:", " ... FAIL", " ... skipped", "\t", "\r", " ", "\x1b[32m",
        "[32m", "MouseButton.LEFT", ".py:", "_", "__ a.py:b __", "test_", " E", " F", "\n", "\n\n", "\u2028", "\x0b",
        "\x1c", "\u0663", "a ... Testing against Django installed in ", " silenced).\nok\n", "/\nok",
        " ... Internal Server Error: /", " ... System check identified no issues (0 silenced)\nok\n",
        "--version is equivalent to version", "Applying sites.0002_alter_domain_unique...test_no_migrations ... ok",
        "x\n...\nInternal Server Error: /a/\nok\n",
    ]  # fmt: skip
    lines = log.split("\n")
    for _ in range(source.randint(1, 12)):
        place = source.randrange(len(lines))
        line = lines[place]
        cut = source.randint(0, len(line))
        match source.randrange(6):
            case 0:
                lines.insert(source.randrange(len(lines)), line)
            case 1:
                lines[place] = line[:cut]
            case 2:
                lines[place] = line[:cut] + source.choice(pieces) + line[cut:]
            case 3:
                lines[place] = source.choice(pieces) + line
            case 4:
                lines[place] = line + source.choice(pieces)
            case _ if place + 1 < len(lines):
                lines[place] = line + lines.pop(place + 1)
            case _:
                lines.append(line[cut:])
    return "\n".join(lines)


def test_official_readings_equal_those_of_swebench() -> None:
    """On thousands of changed golden logs, whatever swebench 4.1.0 does not raise on reads the same here."""
    if not SWEBENCH_PYTHON:
        pytest.skip("BENCHWRIGHT_SWEBENCH_PYTHON names no interpreter with swebench==4.1.0")
    source = random.Random(20240815)
    logs = [golden(file.stem) for file in sorted(FOLDER.glob("*.txt"))]
    cases = [(form, log) for form in PARSERS for log in logs]
    cases += [(form, mutated(source.choice(logs), source)) for form in PARSERS for _ in range(1500)]
    done = subprocess.run(
        [SWEBENCH_PYTHON, "-c", OFFICIAL_PROGRAM],
        input="".join(json.dumps(case) + "\n" for case in cases),
        capture_output=True,
        text=True,
        check=True,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(cases)
    assert sum(answer is not None for answer in answers) > len(cases) * 0.8
    for (form, log), answer in zip(cases, answers, strict=True):
        if answer is not None:
            assert parse_official(form, log) == answer, (form, log)


@given(
    st.sampled_from(sorted(PARSERS)),
    st.text() | st.integers().map(lambda n: mutated(golden("django-noise"), random.Random(n))),
)
def test_no_text_makes_a_parser_raise(form: str, log: str) -> None:
    """Both readings return for any text, and the robust one knows every test that the official one found."""
    official = parse_official(form, log)
    robust = parse(form, log)
    words = {status.value for status in LogStatus}
    assert {test for test, word in official.items() if word in words} <= set(robust.statuses)
    assert set(robust.conflicts) <= set(robust.statuses)


LAST_LINES = {"pytest": "PASSED t.py::x", "django": "x (m.C) ... ok", "sympy": "t.py[1] \ntest_x ok"}


@pytest.mark.parametrize("form", sorted(PARSERS))
@pytest.mark.parametrize(
    "line",
    [
        "PASSED " + "[" * 200_000,
        " " * 200_000,
        ("_ a.py:" * 40_000) + "x",
        " ... Internal Server Error: /" * 20_000,
        "PASSED (" * 40_000,
        "t::x " + "PASSED  " * 40_000,
        "\x1b]" * 100_000,
        "a ... " * 60_000,
    ],
    ids=["brackets", "blanks", "headings", "notices", "words", "statuses", "escapes", "dots"],
)
def test_time_grows_with_the_length_of_a_line(form: str, line: str) -> None:
    """Lines on which backtracking patterns take minutes are read at once, and so is the test that comes after them."""
    last = LAST_LINES.get(form, LAST_LINES["pytest"])
    test = next(iter(parse(form, last).statuses))
    log = "\n".join([line, line, last])
    assert parse_official(form, log)[test] == LogStatus.PASSED.value
    assert parse(form, log).statuses[test] is LogStatus.PASSED


def test_time_grows_with_the_number_of_notices() -> None:
    """A Django log that begins a notice on every line and ends none is read at once."""
    log = "a ... Testing against Django installed in x\nb ... Internal Server Error: /\n" * 40_000
    assert parse_official("django", log) == {}


def test_an_unknown_form_names_near_misses() -> None:
    """Asking for a parser that does not exist is the caller's mistake."""
    with pytest.raises(UsageError, match="did you mean django"):
        parser("djangoo")


@pytest.mark.parametrize(
    ("form", "log", "test"),
    [
        ("pytest", "FAILED a.py::t - boom\nPASSED a.py::t\n", "a.py::t"),
        ("pytest-v2", "a.py::t FAILED [ 50%]\nPASSED a.py::t\n", "a.py::t"),
        ("django", "t (m.C) ... FAIL\nt (m.C) ... ok\n", "t (m.C)"),
        ("sympy", "a/b.py[1] \ntest_t F [FAIL]\na/b.py[1] \ntest_t ok [OK]\n", "a/b.py::test_t"),
    ],
)
def test_a_later_pass_does_not_undo_a_failure(form: str, log: str, test: str) -> None:
    """The failure stays, and the id is named as listed in two ways; swebench's reading takes the last."""
    parsed = parse(form, log)
    assert parsed.statuses[test] is LogStatus.FAILED
    assert test in parsed.conflicts
