"""Programs made at random: what is selected answers as the whole program does."""

import random
from typing import Any

from extraction_programs import ENTRY, code_of
from hypothesis import assume, given, settings
from hypothesis import strategies as st

FAILURES = (ArithmeticError, AttributeError, LookupError, NameError, RecursionError, TypeError, ValueError)
NUMBERS = ["a", "b", "c"]
LISTS = ["xs", "ys"]
FUNCTIONS = ["f", "g", "h"]
TEMPLATES = [
    "{a} = {n}",
    "{a} = {b} + {n}",
    "{a} += {n}",
    "{a}, {b} = {b}, {a}",
    "{a} = {f}()",
    "{a} = [{b} for {b} in range(3)][{n}]",
    "if ({a} := {b} + 1) > {n}:\n    {c} = {n}\nelse:\n    {xs}.append({a})",
    "for {a} in range({n}):\n    {xs}.append({a})",
    "try:\n    {a} = 1 // ({n} - 1)\nexcept ZeroDivisionError:\n    {a} = {b}",
    "{xs} = [{a}]",
    "{xs} = {ys}",
    "{xs}.append({a})",
    "{xs}[0] = {a}",
    "{xs} = {xs} + {ys}",
    "import random\nrandom.seed({n})\n{a} = random.randrange(100)",
    "import random\nrandom.seed({n})\nrandom.shuffle({xs})",
    "def {f}():\n    return {a} + {n}",
    "def {f}(value={a}):\n    return value",
    "def {f}():\n    global {a}\n    {a} = {n}\n    return {a}",
    "def {f}():\n    {xs}.append({n})\n    return len({xs})",
    "def {f}():\n    {a} = 1\n    def inner():\n        nonlocal {a}\n        {a} += {b}\n    inner()\n    return {a}",
    "def {f}():\n    return {g}() + 1",
    "def {f}():\n    return (lambda {a}: {a} + {b})({n})",
    "{f}()",
    "{f} = {g}",
    "class {f}:\n    {a} = {b}\n    def __new__(cls):\n        return cls.{a} + {c}",
    "def mark(function):\n    {xs}.append(function.__name__)\n    return function\n@mark\ndef {f}():\n    return {n}",
    "{f} = (lambda function: lambda: function() + {a})({g})",
    "del {a}\n{a} = {n}",
    "{a} = {xs}.pop() if {xs} else {n}",
    "[{xs}.append({a}) for {b} in range({n})]",
    "{xs} or {xs}.append({a})",
    "for {a} in range({n}):\n    {xs}.append({a})\n    print({a}, end='')",
    "for part in (xs, ys):\n    part.append({n})",
    "box = [{xs}]\nbox[0].append({a})",
    "table = {{'k': {xs}}}\npart = table['k']\npart.append({n})",
    "turn = iter({xs})\n{a} = next(turn, {n})",
    "{a} = len(list(map({xs}.append, range({n}))))",
    "match {a}:\n    case {n}:\n        {b} = 1\n    case {c}:\n        pass",
]
START = (
    "a = 1\nb = 2\nc = 3\nxs = [1]\nys = [2]\ndef f():\n    return a\ndef g():\n    return b\ndef h():\n    return c\n"
)
RESULTS = ["{a}", "{xs}", "{f}()", "sorted({xs})", "[{b} for {b} in {xs}]", "{a} + {b}"]


@st.composite
def statements(draw: st.DrawFn, templates: list[str]) -> str:
    def two(names: list[str]) -> list[str]:
        return list(draw(st.permutations(names)))

    numbers, lists, functions = two(NUMBERS), two(LISTS), two(FUNCTIONS)
    return draw(st.sampled_from(templates)).format(
        a=numbers[0],
        b=numbers[1],
        c=numbers[2],
        xs=lists[0],
        ys=lists[1],
        f=functions[0],
        g=functions[1],
        n=draw(st.integers(0, 3)),
    )


@st.composite
def modules(draw: st.DrawFn) -> str:
    above = draw(st.lists(statements(TEMPLATES), max_size=8))
    below = draw(st.lists(statements(TEMPLATES), max_size=4))
    results = draw(st.lists(statements(RESULTS), min_size=1, max_size=3))
    entry = f"def {ENTRY}():\n    return [{', '.join(results)}]"
    return START + "\n".join([*above, entry, *below]) + "\n"


def answers(code: str) -> list[Any]:
    """What the entry point answers when it is called three times; ``[exception]`` when the module does not load."""
    random.seed(0)
    namespace: dict[str, Any] = {"__name__": "answer"}
    try:
        exec(compile(code, "answer.py", "exec", dont_inherit=True), namespace)
    except FAILURES as error:
        return [type(error).__name__]
    found: list[Any] = []
    for _ in range(3):
        try:
            found.append(repr(namespace[ENTRY]()))
        except FAILURES as error:
            found.append(type(error).__name__)
    return found


@settings(deadline=None, max_examples=500)
@given(modules())
def test_selection_keeps_the_meaning_of_any_program(module: str) -> None:
    """Whatever a program binds, changes, deletes and calls, and in what order, its entry point answers as before."""
    expected = answers(module)
    assume(len(expected) > 1)  # a module that fails to load may fail in what is dropped
    code = code_of(module + "print('demo')\n")
    assert answers(code) == expected
    assert code_of(code) == code
