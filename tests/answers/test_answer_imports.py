"""Facts about finding imports."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.answers.imports import top_level_imports


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import os, numpy.linalg as la", {"os", "numpy"}),
        ("from sklearn.svm import SVC", {"sklearn"}),
        ("from . import sibling\nfrom .pkg import x", set()),
        ("def f():\n    if x:\n        import pandas", {"pandas"}),
        ("import importlib\nimportlib.import_module('torch.nn')", {"importlib", "torch"}),
        ("import_module(name='keras')", {"keras"}),
        ("__import__('requests').get(u)", {"requests"}),
        ("__import__(name)", set()),
        ("__import__('')", set()),
        ("import_module(3)", set()),
        ("table[0]('os')", set()),
        ("text = 'import os'", set()),
        ("import os\ndef f(:", set()),
        ("import os\0", set()),
        ("x = '\\d'\nimport re", {"re"}),
        ("", set()),
    ],
)
def test_imports_are_read_from_anywhere_in_the_code(code: str, expected: set[str]) -> None:
    """Every import in the code counts by its top-level name, and code that does not parse imports nothing."""
    assert top_level_imports(code) == expected


@given(st.text())
def test_any_text_is_survived(text: str) -> None:
    """No text makes the reader fail."""
    assert all(isinstance(name, str) for name in top_level_imports(text))


def test_code_nested_beyond_the_parser_imports_nothing() -> None:
    """Nesting that the host's parser gives up on is treated like any code that does not parse."""
    assert top_level_imports("import os\n" + "(" * 100_000 + ")" * 100_000) == frozenset()
