"""Which names a stub gives to an answer."""

import dataclasses

import pytest

from benchwright.benchmarks.starter.benchmark import BENCHMARK
from benchwright.benchmarks.stubs import given_names

PROBLEM = BENCHMARK.load().problems[0]


def names(before: str) -> set[str]:
    """What a stub with this in front of its function gives."""
    stub = f"{before}\ndef {PROBLEM.entry_point}(data):"
    return set(given_names(dataclasses.replace(PROBLEM, stub=stub)))


@pytest.mark.parametrize(
    ("before", "given"),
    [
        ("", set()),
        ("import numpy as np, os", {"np", "os"}),
        ("import matplotlib.pyplot", {"matplotlib", "matplotlib.pyplot"}),
        ("import matplotlib.pyplot as plt", {"plt", "matplotlib.pyplot"}),
        ("import a.b.c", {"a", "a.b", "a.b.c"}),
        ("from collections import Counter as C", {"C", "collections.Counter"}),
        ("from scipy import stats", {"stats", "scipy.stats"}),
        ("from sklearn.cluster import KMeans", {"KMeans", "sklearn.cluster", "sklearn.cluster.KMeans"}),
        ("from . import sibling", set()),
        ("COLUMNS = ['a', 'b']", {"COLUMNS"}),
        ("LOW, (HIGH, *REST) = 1, (2, 3)", {"LOW", "HIGH", "REST"}),
        ("A = B = 1", {"A", "B"}),
        ("SIZE: int = 3\nLATER: int", {"SIZE"}),
        ("TABLE['x'] = INDEX", set()),
        ("class Node:\n    value = 0", {"Node"}),
        ("def helper(x):\n    inner = x\n    return inner", {"helper"}),
        ("try:\n    import lxml\nexcept ImportError:\n    lxml = None\nelse:\n    FOUND = 1", {"lxml", "FOUND"}),
        ("if True:\n    import json\nelse:\n    import simplejson as json", {"json"}),
        ("for LETTER in 'ab':\n    LAST = LETTER", {"LETTER", "LAST"}),
        ("with open('f') as HANDLE:\n    TEXT = HANDLE.read()", {"HANDLE", "TEXT"}),
        ("nltk.download('stopwords')", set()),
    ],
)
def test_a_stub_gives_what_it_binds(before: str, given: set[str]) -> None:
    """Imports with their aliases and modules, constants and definitions count; the entry point never does."""
    assert names(before) == given


def test_a_stub_that_does_not_parse_gives_nothing() -> None:
    """A broken stub is the benchmark's own check to find; here it gives nothing."""
    assert names("import (") == set()
