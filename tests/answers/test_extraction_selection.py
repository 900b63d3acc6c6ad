"""Facts about what is kept of a program for its entry point."""

import re

import pytest
from extraction_programs import ENTRY, code_of, results, run

from benchwright.answers.extraction import extract
from benchwright.core.answers import CodeAnswer


def sections(text: str) -> dict[str, str]:
    """Programs by name; each stands below a line ``## name``."""
    parts = re.split(r"^## (.*)\n", text, flags=re.MULTILINE)[1:]
    return {name: code.strip("\n") for name, code in zip(parts[::2], parts[1::2], strict=True)}


KEPT = sections(
    """
## a constant defined below
def task_func(x):
    return x + LATE

LATE = 2

## a helper defined below
def task_func(x):
    return late(x)

def late(x):
    return x

## an import below that is needed
def task_func(x):
    return math.floor(x)

import math

## a default argument
def seven():
    return 7

def task_func(x, y=seven()):
    return y

## a decorator
def same(f):
    return f

@same
def task_func(x):
    return x

## an annotation
Number = int

def task_func(x: Number) -> 'Number':
    return x

## a quoted annotation
class Box: pass

def task_func(x: 'list[Box]'):
    return x

## a base class
class Base: pass

class Box(Base): pass

def task_func(x):
    return isinstance(Box(), Base)

## a subclass of a kept class
class Base: pass

class Sub(Base): pass

def task_func(x):
    return len(Base.__subclasses__())

## several targets
a, (b, *c) = 1, (2, 3)

def task_func(x):
    return a + b + c[0]

## an assignment expression
if (limit := 3) > 2:
    pass

def task_func(x):
    return limit

## a loop that fills a table
table = {}
for n in range(3):
    table[n] = n * n

def task_func(x):
    return table

## a with statement that binds
import contextlib
with contextlib.suppress(ValueError):
    LIMIT = int('3')

def task_func(x):
    return LIMIT

## a global changed by a call
value = 0
def prepare():
    global value
    value = 5
prepare()

def task_func(x):
    return value

## a global that only functions bind
def prepare():
    global value
    value = 5
prepare()

def task_func(x):
    return value

## a list shuffled in place
import random
random.seed(1)
items = [1, 2, 3]
random.shuffle(items)

def task_func(x):
    return items

## an augmented assignment
total = 1
total += 2

def task_func(x):
    return total

## a deleted name
n = 3
items = [n]
del n

def task_func(x):
    return items, 'n' in globals()

## an attribute of the function
def task_func(x):
    return task_func.limit + x

task_func.limit = 3

## setattr on the function
def task_func(x):
    return task_func.n

setattr(task_func, 'n', 2)

## a later wrapper
import functools
def task_func(x):
    return x

task_func = functools.lru_cache(task_func)

## a wrapper of the first definition
def task_func(x):
    return x

first = task_func

def task_func(x):
    return first(x) + 1

## another name for a helper
def work(x):
    return x + 1

task_func = work

## registration by a decorator
from functools import singledispatch
@singledispatch
def task_func(x):
    return 'any'

@task_func.register
def _(x: int):
    return 'int'

## registration in a class body
class Plugins:
    known = []
    def __init_subclass__(cls):
        Plugins.known.append(cls.__name__)

class First(Plugins): pass

def task_func(x):
    return Plugins.known

## a subscript assignment below
TABLE = {}
def task_func(x):
    return TABLE['a'](x)

TABLE['a'] = str

## imports in try
try:
    import nothing_here as fast
except ImportError:
    fast = None

def task_func(x):
    return fast

## imports in try that prints
try:
    import math
except ImportError:
    print('no math')

def task_func(x):
    return math.floor(x)

## imports for the type checker
from __future__ import annotations
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    import pandas as pd

def task_func(x: pd.DataFrame):
    return x

## a version branch
import sys
if sys.version_info >= (3, 9):
    def merge(a):
        return a
else:
    def merge(a):
        return None

def task_func(x):
    return merge(x)

## both branches that define the function
import sys
if sys.maxsize > 5:
    def task_func(x):
        return x
else:
    def task_func(x):
        return 0

## seeds and options
import random, os, warnings
SEED = 3
random.seed(SEED)
warnings.filterwarnings('ignore')
os.environ['SOME_OPTION'] = '1'

def task_func(x):
    return random.random()

## an option through a call
from decimal import Decimal, getcontext
getcontext().prec = 5

def task_func(x):
    return Decimal(x) / 3

## an imported function called to set up
from random import seed, random
seed(3)

def task_func(x):
    return random()

## an own function called to set up
import random
def prepare():
    random.seed(3)

prepare()

def task_func(x):
    return random.random()

## a set-up that may fail
import locale
try:
    locale.setlocale(locale.LC_ALL, 'C')
except locale.Error:
    pass

def task_func(x):
    return x

## names of a star import below
def task_func(x):
    return floor(x)

from math import *

## names looked up by text
def plus(x): return x
def minus(x): return -x
def task_func(x):
    return eval('plus' if x else 'minus')(x)

## a nested function named like a helper
def task_func(x):
    def helper(y):
        return y
    return helper(x)

## a class as entry point
class task_func:
    def __new__(cls, x):
        return x

## a table filled while printing
TABLE = {}
for i in range(10):
    TABLE[i] = i * i
    print('computed', i)

def task_func(x):
    return TABLE

## a table filled where failing prints
WORDS = set()
try:
    WORDS.update(['a', 'the'])
except LookupError as error:
    print('no words', error)

def task_func(x):
    return sorted(WORDS)

## a buffer written to
import io
BUFFER = io.StringIO()
BUFFER.write('a,b')

def task_func(x):
    return BUFFER.getvalue()

## an own class's methods named like what shows
class Log:
    items = []
    def write(self, item):
        Log.items.append(item)
    def run(self):
        Log.items.append(0)
Log().run()
LOG = Log()
LOG.write('start')

def task_func(x):
    return LOG.items

## a seed whose failure prints
import random
try:
    random.seed(5)
except TypeError as error:
    print(error)

def task_func(x):
    return random.random()

## effects within assignments and expressions
import heapq, itertools
QUEUE = [3, 1, 2]
_ = heapq.heapify(QUEUE)
head = QUEUE.pop()
D = {}
default = D.setdefault('a', 5)
[D.update({i: i}) for i in range(3)]
E = []
E or E.append(3)
assert E.append(4) is None
list(map(E.append, range(2)))
numbers = itertools.count()
first = next(numbers)

def task_func(x):
    return QUEUE, D, E, next(numbers)

## an own function that changes what it is given
CONFIG = {}
def setup(config):
    config['x'] = 1
    return True
ok = setup(CONFIG)

def task_func(x):
    return CONFIG

## a wrapped function that changes a list
ITEMS = []
def fill():
    ITEMS.append(1)
    return 1
def once(function):
    return lambda: function()
filled = once(fill)
count = filled()

def task_func(x):
    return ITEMS

## a part of an object by another name
class Box:
    items = []
items = Box.items
items.append(1)
D = {'a': []}
part = D['a']
part.append(2)
A, B = [], []
for each in (A, B):
    each.append(3)

def task_func(x):
    return Box.items, D, A + B

## a cursor of a connection
import sqlite3
conn = sqlite3.connect(':memory:')
cur = conn.cursor()
cur.execute('create table t(x)')

def task_func(x):
    return conn.execute('select count(*) from t').fetchall()

## a handler of a logger
import io, logging
STREAM = io.StringIO()
logger = logging.getLogger('of a test')
handler = logging.StreamHandler(STREAM)
logger.addHandler(handler)
logger.setLevel(logging.INFO)

def task_func(x):
    logging.getLogger('of a test').info('hi')
    return STREAM.getvalue()

## options with computed values
import decimal, random, sys
LIMIT = 10 ** 3 + sys.getrecursionlimit()
sys.setrecursionlimit(LIMIT)
SEED = int('50')
random.seed(SEED)
decimal.getcontext().prec = SEED

def task_func(x):
    return random.random()

## set-up below
import json, os, sys
def task_func(x):
    return json.dumps({x})

def default(self, item):
    return 'P'
json.JSONEncoder.default = default
os.environ['SOME_OPTION'] = '1'
sys.setrecursionlimit(2000)

## names within a query
LIMIT = 3
def double(x):
    return x * 2

def task_func(x):
    return x.query('a > @LIMIT'), fit('y ~ double(x)')

## a docstring that is shown
'''Usage.'''

def task_func(x):
    return __doc__

## what an import executes
if __name__ != '__main__':
    FACTOR = 2

def task_func(x):
    return x * FACTOR

## a constant between two uses
def scale(v):
    return v * FACTOR
FACTOR = 2
A = scale(3)
FACTOR = 10

def task_func(x):
    return scale(x) + A

## names looked up in the module
import sys
def op_add(x):
    return x
def task_func(x):
    return getattr(sys.modules[__name__], 'op_add')(x)

## names looked up in vars
def op_add(x):
    return x
NAMES = vars()
def task_func(x):
    return NAMES['op_add'](x)

## a metaclass that notes its classes
class Meta(type):
    known = []
    def __init__(cls, name, bases, names):
        Meta.known.append(name)
class A(metaclass=Meta): pass

def task_func(x):
    return Meta.known

## an accessor registered with a library
import pandas as pd
@pd.api.extensions.register_series_accessor('double')
class Double: pass

def task_func(x):
    return pd.Series(x).double

## comments and blank lines
#!/usr/bin/env python
# -*- coding: utf-8 -*-

import os  # for later


# The limit.
LIMIT = 3  # three


def task_func(x):
    # Inside.

    return min(x, LIMIT)  # done
    # the end
"""
)


@pytest.mark.parametrize("program", KEPT.values(), ids=KEPT)
def test_what_the_entry_point_needs_is_kept(program: str) -> None:
    """Nothing is dropped of a program in which everything counts, and not a character is changed."""
    assert extract(program, entry_point=ENTRY) == CodeAnswer(code=program, strategy="program")


@pytest.mark.parametrize("program", KEPT.values(), ids=KEPT)
def test_a_demonstration_below_goes_and_the_rest_stays(program: str) -> None:
    """Behind any program, what calls the entry point, prints, asserts and asks is dropped."""
    demo = (
        "\n\n# Example usage\nsample_value = 3\nanswer = task_func(sample_value)\nprint(answer)\nassert answer\n"
        "for _unused in range(2):\n    print(task_func(_unused))\n"
        "if __name__ == '__main__':\n    print(task_func(input()))\n"
    )
    # Comments between the last statement and the demo go with the demo.
    assert code_of(program + demo) == program.removesuffix("\n    # the end")


DROPPED = {
    "a demo variable of the name of a local": (
        "def task_func(x):\n    result = x\n    return result",
        "\nresult = task_func([1, 2])\n",
    ),
    "a demo variable of the name of a parameter": (
        "def task_func(df):\n    return df",
        "\ndf = make_frame()\nprint(df)\n",
    ),
    "a demo variable of the name of a comprehension's": (
        "def task_func(x):\n    return [row for row in x if row]",
        "\nrow = [1]\nfor row in task_func([row]):\n    print(row)\n",
    ),
    "tests": (
        "def task_func(x):\n    return x",
        (
            "\nimport unittest\nfrom unittest import TestCase\n\nclass TestIt(TestCase):\n    def test_it(self):\n"
            "        self.assertEqual(task_func(1), 1)\n\nif __name__ == '__main__':\n    unittest.main()\n"
        ),
    ),
    "doctests": ("def task_func(x):\n    return x", "\nimport doctest\ndoctest.testmod()\n"),
    "a plot": ("import math\n\ndef task_func(x):\n    return x", "\nax = task_func(1)\nplt.show()\n"),
    "a function that shows": ("def task_func(x):\n    return x", "\ndef main():\n    print(task_func(1))\n\nmain()\n"),
    "an endless loop": ("def task_func(x):\n    return x", "\nwhile True:\n    task_func(input())\n"),
    "an exit": ("def task_func(x):\n    return x", "\nimport sys\nsys.exit(0)\n"),
    "an import of itself": ("def task_func(x):\n    return x", "\nfrom solution import task_func\ntask_func(1)\n"),
    "further functions": (
        "def task_func(x):\n    return x",
        "\ndef other(x):\n    return task_func(x)\n\nclass More:\n    pass\n",
    ),
    "a demo that shares a constant": (
        "import pandas as pd\nNAMES = ['a']\n\ndef task_func(x):\n    return NAMES",
        "\ndf = pd.DataFrame([1], columns=NAMES)\ndf['b'] = 2\nfor name in NAMES:\n    print(name)\nprint(df)\n",
    ),
    "a demo that reads a file": (
        "import pandas as pd\nROWS = []\n\ndef task_func(x):\n    return ROWS",
        "\ndata = pd.read_csv('data.csv')\nROWS.append(data)\nROWS.append(task_func(1))\n",
    ),
    "what the answer of a demo changes": (
        "ROWS = []\n\ndef task_func(x):\n    return ROWS",
        "\nanswer = task_func(1)\nROWS.extend(answer)\n",
    ),
    "a seed for a demo": (
        "import random\n\ndef task_func(x):\n    return random.random() + x",
        "\nrandom.seed(0)\nprint(task_func(random.random()))\n",
    ),
    "a demo that catches what is printed": (
        "import io, sys\n\ndef task_func(x):\n    return sys, io",
        "\nsys.stdout = io.StringIO()\nsys.argv = ['a']\ntask_func(1)\n",
    ),
    "a word that a demo binds": (
        "def task_func(x):\n    return 'a > @LIMIT'",
        "\nLIMIT = task_func(1)\n",
    ),
    "a needed name bound by a demo": (
        "def task_func(x):\n    return missing_elsewhere",
        "\nmissing_elsewhere = task_func(1)\n",
    ),
}


@pytest.mark.parametrize(("program", "below"), DROPPED.values(), ids=DROPPED)
def test_what_only_demonstrates_is_dropped(program: str, below: str) -> None:
    """What the entry point does not need goes, even when its names are names of locals, and the note says how much."""
    answer = extract(program + "\n" + below, entry_point=ENTRY)
    assert isinstance(answer, CodeAnswer)
    assert answer.code == program
    assert len(answer.notes) == 1
    assert answer.notes[0].startswith("statements that task_func does not need were left out: ")


@pytest.mark.parametrize(
    "above",
    [
        "print('loading')\n",
        "name = input()\n",
        "data = open('data.csv').read()\n",
        "import subprocess, sys\nsubprocess.check_call([sys.executable, '-m', 'pip', 'install', 'x'])\n",
        "import os\nos.system('pip install x')\n",
        "import time\ntime.sleep(100)\n",
        "from importlib import import_module\nimport_module('numpy', globals(), locals())\n",
        "frame = make()\nframe.head()\n",
    ],
)
def test_what_shows_reads_or_runs_something_above_is_dropped(above: str) -> None:
    """Set-up before the definition stays only when it configures; imports in it stay in any case."""
    imports = "".join(line + "\n" for line in above.splitlines() if line.startswith(("import ", "from ")))
    code = code_of(f"{above}\n\ndef task_func(x):\n    return x\n")
    assert code == f"{imports}\n\ndef task_func(x):\n    return x".strip()


def test_a_seed_below_stays_when_nobody_uses_it_up() -> None:
    """The tests draw from the generator as the module left it."""
    program = "import random\ndef task_func(x):\n    return random.random()\nrandom.seed(7)"
    assert code_of(program + "\nprint('ready')\n") == program


def test_an_own_function_named_like_a_shown_one_is_no_demonstration() -> None:
    """``run`` and ``main`` are ordinary names when the program defines them to set something up."""
    program = "TABLE = []\ndef run():\n    TABLE.append(1)\nrun()\ndef task_func(x):\n    return TABLE"
    assert code_of(program) == program


def test_an_earlier_definition_that_nobody_used_is_dropped() -> None:
    """Of two definitions of a name the last one counts; the first stays only where it was used in between."""
    assert (
        code_of("def task_func(x):\n    return 0\n\nprint(task_func(1))\n\ndef task_func(x):\n    return x\n")
        == "def task_func(x):\n    return x"
    )


def test_statements_that_share_a_line_are_parted() -> None:
    """Of statements on one line only the needed ones stay, each on a line of its own."""
    code = code_of("import os; print('é'); K = '😀'; L = (1,\n2); print(2)\ndef task_func(x): return K, L; print(3)\n")
    assert code == "import os\nK = '😀'\nL = (1,\n2)\ndef task_func(x): return K, L; print(3)"


def test_comments_stay_with_the_statement_below_them() -> None:
    """A comment above a kept statement stays, one above a dropped statement goes."""
    code = code_of(
        "# All about x.\nimport os\n\n# Say hello.\nprint('hello')\n\n# The function.\n# It is short.\n"
        "def task_func(x):\n    return os\n\n# Try it.\ntask_func(1)\n# The end.\n"
    )
    assert code == ("# All about x.\nimport os\n\n# The function.\n# It is short.\ndef task_func(x):\n    return os")


def test_a_future_import_of_a_joined_block_stands_first() -> None:
    """``from __future__`` comes to the top when blocks are joined, for Python accepts it nowhere else."""
    code = code_of(
        "```python\nimport math\n```\nand\n```python\nfrom __future__ import annotations\n\n"
        "def task_func(x: Unknown):\n    return math.floor(x)\n```\n"
    )
    assert code.startswith("from __future__ import annotations\nimport math\n")
    assert results(code) == [0, 1, 7, -3]


def test_a_demo_that_looks_like_set_up_keeps_nothing_alive() -> None:
    """A call before the definition is not kept when it would bring demo data with it."""
    program = "import math\npoints = make_points()\nmath.fsum(points)\n\ndef task_func(x):\n    return math.floor(x)\n"
    assert code_of(program) == "import math\n\ndef task_func(x):\n    return math.floor(x)"


def test_the_kept_code_runs_without_the_demo() -> None:
    """A program whose demo would block or fail can be loaded once it is extracted."""
    namespace = run(code_of("TOTAL = 3\n\ndef task_func(x):\n    return x + TOTAL\n\nprint(task_func(int(input())))\n"))
    assert namespace["task_func"](1) == 4
