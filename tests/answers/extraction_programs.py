"""Self-contained right programs, and replies made around them, for the tests of extraction."""

import builtins
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchwright.answers.extraction import extract
from benchwright.core.answers import CodeAnswer, NoAnswer

ENTRY = "task_func"
PLAIN = "def task_func(x):\n    return x + 1\n"
WRONG = "def task_func(x):\n    return 0\n"


def code_of(text: str, **options: Any) -> str:
    """The code extracted from a reply that holds some."""
    answer = extract(text, entry_point=ENTRY, **options)
    assert isinstance(answer, CodeAnswer), answer
    return answer.code


def refusal_of(text: str, **options: Any) -> NoAnswer:
    """What is said of a reply that holds nothing to grade."""
    answer = extract(text, entry_point=ENTRY, **options)
    assert isinstance(answer, NoAnswer), answer
    assert answer.detail
    return answer


def _forbidden(*arguments: object) -> None:
    raise AssertionError("the demonstration of an answer was executed")


def run(code: str) -> dict[str, Any]:
    """Execute code as a module in which nothing may print or read input."""
    namespace: dict[str, Any] = {"__name__": "answer", "__builtins__": {**vars(builtins)}}
    namespace["__builtins__"].update(print=_forbidden, input=_forbidden)
    exec(compile(code, "answer.py", "exec", dont_inherit=True), namespace)
    return namespace


def results(code: str) -> list[object]:
    """What the entry point answers to some arguments."""
    function: Callable[[int], object] = run(code)[ENTRY]
    return [function(argument) for argument in (0, 1, 7, -3)]


@dataclass(frozen=True, kw_only=True)
class Program:
    """A program in pieces, so that replies can spread it over blocks."""

    name: str
    imports: str = ""
    code: str
    tail: bool = False
    """Whether something the entry point needs stands below its definition."""

    @property
    def text(self) -> str:
        return f"{self.imports}\n\n{self.code}" if self.imports else self.code


def _program(text: str) -> Program:
    name, _, source = text.partition("\n")
    imports, parted, code = source.rpartition("\n#---\n")
    return Program(
        name=name.removesuffix(" (tail)"),
        imports=imports if parted else "",
        code=code.strip("\n") + "\n",
        tail=name.endswith(" (tail)"),
    )


PROGRAMS = [
    _program(text)
    for text in re.split(
        r"^## ",
        r'''
## plain
def task_func(x):
    return x + 1

## imports
import math
from os import path
#---
LIMIT = 5  # of everything


def task_func(x):
    return min(math.floor(x), LIMIT), path.join('a', 'b')

## helpers
import functools
#---
STEP = 2

def double(f):
    @functools.wraps(f)
    def inner(*a):
        return f(*a) * STEP
    return inner

def default():
    return [3]

@double
def task_func(x, y=default()):
    def nested(z):
        return z + len(y)
    return nested(x)

## class
from dataclasses import dataclass
#---
class Base:
    scale = 3

@dataclass
class Box(Base):
    value: int

    def grow(self):
        return self.value * self.scale


def task_func(x):
    return Box(x).grow()

## global
total = 0
TABLE = {}
TABLE['add'] = lambda a, b: a + b


def task_func(x):
    global total
    total = TABLE['add'](total, x)
    return total

## lambda
base = 10
task_func = lambda x: x + base

## documented
def task_func(x):
    """Count.

    ```python
    def task_func(x):
        return -1
    ```

    Example:
    >>> task_func(1)
    'it''s'
    """
    text = '<think>' + "</think>"
    return text.count('think') + x

## tags
PAGE = """
<think>
hidden (
</think>
```
shown
```
"""


def task_func(x):
    return PAGE.splitlines()[x % 3]

## guarded imports
try:
    import nonexistent_library as fast
except ImportError:
    fast = None
#---
import sys
if sys.version_info >= (3,):
    NAME = 'three'
else:
    NAME = 'two'


def task_func(x):
    return (NAME, fast, x)

## seeded
import random
#---
SEED = 4
random.seed(SEED)
FIRST = random.random()


def task_func(x):
    return FIRST + x

## wrapped later (tail)
from functools import lru_cache
#---
def task_func(x):
    return x * getattr(task_func, 'factor', 1)

task_func = lru_cache(task_func)
task_func.factor = 4

## registry (tail)
HANDLERS = {}

def handles(name):
    def note(f):
        HANDLERS[name] = f
        return f
    return note

def task_func(x):
    return HANDLERS[x % 2](x)

@handles(0)
def even(x):
    return x

@handles(1)
def odd(x):
    return -helper(x)

def helper(x): return x + 1

## one line
import os; import sys
#---
A = 1; B = A + 1
def task_func(x): return x + B

## looked up
def plus(x): return x + 1
def minus(x): return x - 1
def task_func(x):
    return globals()['plus' if x > 0 else 'minus'](x)

## unusual text
NAME = 'é – 😀'; Ж = 3
def task_func(x):
    return NAME * Ж, x
''',
        flags=re.MULTILINE,
    )[1:]
]
"""Programs that are right by themselves; ``#---`` parts the imports from the rest."""
