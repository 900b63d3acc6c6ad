"""The rows of the starter benchmark follow the schema and the rules that its loader states."""

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest

from benchwright.benchmarks.starter import source

Row = dict[str, Any]

COLUMNS = [
    "task_id",
    "complete_prompt",
    "instruct_prompt",
    "canonical_solution",
    "code_prompt",
    "test",
    "entry_point",
    "doc_struct",
    "libs",
    "domains",
]
DOMAINS = {
    "text",
    "data frames",
    "numeric",
    "files",
    "time",
    "cryptography",
    "json",
    "csv",
    "xml",
    "system",
    "plotting",
    "network",
}
FIRST_SLUGS = ["text_keyword_ranking", "text_initials_index", "text_fill_template", "frame_regional_revenue"]
# "The largest comes first, and ..." describes a result; what a recipe looks like is a sentence that opens so.
RECIPE_MARKERS = re.compile(r"\b[Ss]tep \d|\b(First(ly)?|Then|Next|Finally)\b|\bfirst\b[^.]*\bthen\b|\biterat")


def write_reference(text: str) -> str:
    """Return a small reference file whose docstring is the text."""
    body = "\n".join(f"    {line}" if line else "" for line in text.splitlines())
    return f'import os.path\n\nLIMIT = 3\n\n\ndef task_func(x):\n    """\n{body}\n    """\n    return x\n'


def test_ids_count_up_from_zero(rows: list[Row]) -> None:
    """The ids are unique and number the rows in their order."""
    assert [row["task_id"] for row in rows] == [f"Starter/{number}" for number in range(len(rows))]


def test_there_are_enough_tasks(rows: list[Row]) -> None:
    """The benchmark has at least 26 tasks."""
    assert len(rows) >= 26


def test_first_ids_stay_with_their_tasks() -> None:
    """The tasks at the head of the manifest are those that were published under these numbers."""
    assert [entry.slug for entry in source.read_manifest()][:4] == FIRST_SLUGS


def test_reading_twice_gives_the_same(rows: list[Row]) -> None:
    """The rows do not depend on when or how often they are read."""
    assert source.read_rows() == rows


def test_rows_have_the_columns_of_the_schema(rows: list[Row]) -> None:
    """Each row has the BigCodeBench columns and domains, and none besides."""
    assert all(list(row) == COLUMNS for row in rows)


def test_domains_are_known_and_all_covered(rows: list[Row]) -> None:
    """The domains come from one list, and each has at least two tasks."""
    counts = {domain: sum(domain in row["domains"] for row in rows) for domain in DOMAINS}
    assert set().union(*(row["domains"] for row in rows)) == DOMAINS
    assert min(counts.values()) >= 2


def test_prompt_and_body_are_the_reference(rows: list[Row]) -> None:
    """A prompt followed by its body is exactly the reference file, and compiles."""
    for entry, row in zip(source.read_manifest(), rows, strict=True):
        reference = (source.TASKS_FOLDER / entry.slug / "reference.py").read_text("utf-8")
        assert row["complete_prompt"] + row["canonical_solution"] == reference
        compile(reference, entry.slug, "exec")


def test_prompts_end_with_the_docstring(rows: list[Row]) -> None:
    """A prompt ends right after its docstring, so that a model writes the body."""
    assert all(row["complete_prompt"].endswith('\n    """\n') for row in rows)


def test_start_code_compiles_as_a_stub(rows: list[Row]) -> None:
    """The start code has no docstring or blank line, and is a function once "pass" is added."""
    for row in rows:
        assert "\n\n" not in row["code_prompt"]
        assert row["code_prompt"].endswith(":\n")
        tree = ast.parse(row["code_prompt"] + "\n    pass\n")
        assert isinstance(tree.body[-1], ast.FunctionDef)
        assert tree.body[-1].name == row["entry_point"] == "task_func"
        assert [type(node) for node in tree.body[-1].body] == [ast.Pass]


def test_instruct_prompts_end_with_the_start_code(rows: list[Row]) -> None:
    """A prompt in prose begins with the description and ends with the start code in a fence."""
    for row in rows:
        doc = json.loads(row["doc_struct"])
        assert row["instruct_prompt"].startswith(" ".join(doc["description"]) + "\n")
        assert row["instruct_prompt"].endswith(f"starting with:\n```\n{row['code_prompt']}```\n")
        assert all(item in row["instruct_prompt"] for item in doc["raises"] + doc["returns"])


def test_docstrings_are_complete(rows: list[Row]) -> None:
    """Each docstring has a description, parameters, a result, requirements and examples."""
    for row in rows:
        doc = json.loads(row["doc_struct"])
        assert list(doc) == ["description", "notes", "params", "returns", "reqs", "raises", "examples"]
        for section in ("description", "params", "returns", "reqs", "examples"):
            assert doc[section], f"{row['task_id']} lacks {section}"


def test_parameters_are_those_of_the_signature(rows: list[Row]) -> None:
    """The documented parameters have the names and the order of the signature."""
    for row in rows:
        function = ast.parse(row["complete_prompt"]).body[-1]
        assert isinstance(function, ast.FunctionDef)
        documented = [item.split()[0] for item in json.loads(row["doc_struct"])["params"]]
        assert documented == [argument.arg for argument in function.args.args]


def test_raised_exceptions_are_documented(rows: list[Row]) -> None:
    """Each kind of exception that a reference raises by name is described in its docstring."""
    for row in rows:
        tree = ast.parse(row["complete_prompt"] + row["canonical_solution"])
        calls = [node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise)]
        raised = {call.func.id for call in calls if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)}
        documented = {item.partition(":")[0] for item in json.loads(row["doc_struct"])["raises"]}
        assert raised <= documented, row["task_id"]


def test_statements_are_not_recipes(rows: list[Row]) -> None:
    """No description says how to proceed."""
    for row in rows:
        assert not RECIPE_MARKERS.search(row["instruct_prompt"]), row["task_id"]


def test_libraries_are_a_list_written_as_text(rows: list[Row]) -> None:
    """The libraries are a string that holds a list of the top-level modules which the start code imports."""
    for row in rows:
        libraries = ast.literal_eval(row["libs"])
        assert libraries == list(dict.fromkeys(source.imported_modules(ast.parse(row["complete_prompt"]))))
        assert not any("." in name for name in libraries)


def test_many_prompts_have_constants(rows: list[Row]) -> None:
    """At least ten prompts define constants which an answer has to repeat, and ten import several modules."""
    trees = [ast.parse(row["complete_prompt"]) for row in rows]
    assert sum(any(isinstance(node, ast.Assign) for node in tree.body) for tree in trees) >= 10
    assert sum(len(ast.literal_eval(row["libs"])) > 1 for row in rows) >= 10


def test_suites_have_five_to_eight_tests(rows: list[Row]) -> None:
    """Each suite is one class TestCases with five to eight tests."""
    for row in rows:
        classes = [node for node in ast.parse(row["test"]).body if isinstance(node, ast.ClassDef)]
        (cases,) = [node for node in classes if node.name == "TestCases"]
        tests = [n for n in cases.body if isinstance(n, ast.FunctionDef) and n.name.startswith("test_")]
        assert 5 <= len(tests) <= 8, row["task_id"]


def test_every_example_call_is_in_the_tests(rows: list[Row]) -> None:
    """Each call of task_func in an example occurs in the tests as the same expression."""
    for row in rows:
        examples = "\n".join(
            line[4:] for line in json.loads(row["doc_struct"])["examples"] if line.startswith((">>> ", "... "))
        )
        calls = function_calls(examples)
        assert calls, row["task_id"]
        assert calls <= function_calls(row["test"]), row["task_id"]


def function_calls(code: str) -> set[str]:
    """Return the calls of task_func in some code, written in one normal form."""
    calls = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)]
    return {ast.unparse(call) for call in calls if isinstance(call.func, ast.Name) and call.func.id == "task_func"}


def test_split_of_a_small_reference() -> None:
    """A reference is split after its docstring; dotted imports count as their top-level module."""
    parts = source.split_reference(write_reference("Return it.\n\nParameters:\n- x (int): It."))
    assert parts.code_prompt == "import os.path\nLIMIT = 3\ndef task_func(x):\n"
    assert parts.canonical_solution == "    return x\n"
    assert parts.libraries == ["os"]
    assert parts.docstring == "Return it.\n\nParameters:\n- x (int): It."


def test_sections_of_a_docstring() -> None:
    """Items lose their dash and line breaks, sentences are separated, examples keep their lines."""
    doc = source.parse_docstring(
        "Go on. It is 0.5 long,\nat most.\n\nNotes:\n- Mind\n  the gap.\n\n"
        "Returns:\n- int: It.\n- str: Or it.\n\n"
        "Example:\n>>> task_func(1)\n1"
    )
    assert doc.description == ["Go on.", "It is 0.5 long, at most."]
    assert doc.notes == ["Mind the gap."]
    assert doc.returns == ["int: It.", "str: Or it."]
    assert doc.examples == [">>> task_func(1)", "1"]
    assert source.write_instruct_prompt(doc, "def task_func(x):\n") == (
        "Go on. It is 0.5 long, at most.\nNote that: Mind the gap.\n"
        "The function should output with:\n    int: It.\n    str: Or it.\n"
        "You should write self-contained code starting with:\n```\ndef task_func(x):\n```\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        "def other(x):\n    '''Doc.'''\n    return x\n",
        "def task_func(x):\n    return x\n",
        "def task_func(x):\n    '''Doc.'''\n",
        "def task_func(x):\n    '''Doc.'''\n    return x\n\nLATE = 1\n",
        "def helper(x):\n    return x\n\ndef task_func(x):\n    '''Doc.'''\n    return x\n",
    ],
)
def test_references_of_another_form_are_refused(text: str) -> None:
    """A reference without exactly one documented function at its end is an error."""
    with pytest.raises(source.StarterSourceError):
        source.split_reference(text)


@pytest.mark.parametrize("text", ["Do it.\n\nRemarks:\n- None.", "Do it.\n\nReturns:\nnothing"])
def test_docstrings_of_another_form_are_refused(text: str) -> None:
    """A heading that is not known, or a section that starts without a dash, is an error."""
    with pytest.raises(source.StarterSourceError):
        source.parse_docstring(text)


def test_folders_and_manifest_must_agree(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A folder that is not listed, a listed folder that is absent and a repeated one are all named."""
    (tmp_path / "lonely").mkdir()
    (tmp_path / "lonely" / "reference.py").write_text("")
    tasks = [{"slug": slug, "domains": ["text"]} for slug in ("gone", "gone")]
    (tmp_path / "manifest.json").write_text(json.dumps({"schema_version": 1, "tasks": tasks}))
    monkeypatch.setattr(source, "TASKS_FOLDER", tmp_path)
    with pytest.raises(source.StarterSourceError) as caught:
        source.read_rows()
    assert "listed but absent: gone" in str(caught.value)
    assert "present but not listed: lonely" in str(caught.value)
    assert "listed more than once: gone" in str(caught.value)


def test_other_manifest_versions_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A manifest of a later version is an error, not a guess."""
    (tmp_path / "manifest.json").write_text(json.dumps({"schema_version": 2, "tasks": []}))
    monkeypatch.setattr(source, "TASKS_FOLDER", tmp_path)
    with pytest.raises(source.StarterSourceError, match="schema 2, expected 1"):
        source.read_rows()
