"""The files of four small projects, one for each kind of test runner, before and after a fix.

Each has its past, its base, the fix with the tests that came with it, and a future that nobody may see.  Lists of tests
are spelled as SWE-bench's log parsers spell them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

Files = Mapping[str, str | bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """One project."""

    name: str
    """Name of the distribution and, but for ``areas``, of the package."""
    package: str
    spec: str
    """Its specification, as the text of a TOML file."""
    base: Files
    executable: frozenset[str] = frozenset()
    fix: Files
    """Files as the reference patch leaves them."""
    tests: Files
    """Files as the test patch leaves them."""
    fail_to_pass: tuple[str, ...]
    pass_to_pass: tuple[str, ...]
    wrong: Files
    """A fix that does not fix it, for which the tests run."""
    regression: Files
    """The fix, and something else broken."""
    built: Files = field(default_factory=dict)
    """Files as the set-up of the environment leaves them, without a commit."""


INSTALLER = '''\
"""Installs this checkout for development, as ``pip install -e`` does, without pip."""

import configparser
import pathlib
import sysconfig

HERE = pathlib.Path(__file__).resolve().parent


def install():
    config = configparser.ConfigParser()
    config.read(HERE / "setup.cfg")
    name, version = config["metadata"]["name"], config["metadata"]["version"]
    target = pathlib.Path(sysconfig.get_paths()["purelib"])
    metadata = target / "{}-{}.dist-info".format(name, version)
    metadata.mkdir(exist_ok=True)
    (target / (name + ".pth")).write_text(str(HERE) + "\\n")
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\\nName: {}\\nVersion: {}\\n".format(name, version))
    groups = config["options.entry_points"] if config.has_section("options.entry_points") else {}
    lines = ["[{}]\\n{}\\n".format(group, entries.strip()) for group, entries in groups.items()]
    (metadata / "entry_points.txt").write_text("\\n".join(lines))


if __name__ == "__main__":
    install()
'''

_SPEC = """\
schema = 1
repo = "acme/{name}"
source = "written for these tests"

[defaults]
python = "3"
install = "python setup.py"
editable = true

[[block]]
versions = ["1.0"]
{rest}
"""


def _metadata(name: str) -> str:
    return f"[metadata]\nname = {name}\nversion = 1.0\n"


# pytest

_SIZES = '''\
"""Sizes of boxes."""

import re


class Size:
    """Three sides."""

    def __init__(self, width, height, depth):
        self.sides = (width, height, depth)

    @property
    def volume(self):
        """How much fits in."""
        width, height, depth = self.sides
        return width * height + depth

    @property
    def longest(self):
        """The longest side."""
        return max(self.sides)


def parse(text):
    """The size in a text such as ``2x3x4``."""
    sides = [int(side) for side in re.split(r"\\s*[x/]\\s*", text)]
    if len(sides) != 3:
        raise ValueError(text)
    return Size(*sides)
'''
_SIZE_TESTS = '''\
"""Tests of sizes."""

import sys

import pytest

from boxes import Size, parse


class TestParse:
    @pytest.mark.parametrize("text", ["2x3x4", "2 x 3 x 4", "2/3/4"])
    def test_sides(self, text):
        assert parse(text).sides == (2, 3, 4)

    def test_two_sides_are_refused(self):
        with pytest.raises(ValueError):
            parse("2x3")


def test_sides_of_a_crate(crate):
    """Uses a fixture of the root's conftest.py."""
    assert crate.sides == (2, 3, 4)


@pytest.mark.xfail(reason="not written yet")
def test_weight():
    assert Size(1, 1, 1).weight == 1


@pytest.mark.skipif(sys.platform.startswith("linux"), reason="not on Linux")
def test_drive_letters():
    assert parse("C:").sides == ()


def test_tape_measure():
    """Has failed for a long time, for a reason of its own."""
    assert parse("2x3x4").sides == (4, 3, 2)
'''
_VOLUME_TESTS = """

class TestVolume:
    @pytest.mark.parametrize("text, volume", [("1x1x1", 1), ("2 x 3 x 4", 24), ("2/3/4", 24)])
    def test_volume(self, text, volume):
        assert parse(text).volume == volume

    def test_longest(self):
        assert parse("2x3x4").longest == 4


def test_volume_of_a_crate(crate):
    assert crate.volume == 24
"""
_STACKS = '''\
"""Boxes on top of one another."""


def stacked(boxes):
    """How high a stack is."""
    return max(box.sides[1] for box in boxes)
'''
_STACK_TESTS = '''\
"""Tests of stacks."""

from boxes.sizes import Size
from boxes.stacks import stacked


def test_one():
    assert stacked([Size(1, 2, 3)]) == 2


def test_two():
    assert stacked([Size(1, 2, 3), Size(1, 5, 1)]) == 7
'''
_CONFTEST = '''\
"""Fixtures."""

import pytest

from boxes.sizes import Size


@pytest.fixture
def crate():
    return Size(2, 3, 4)
'''
_SIZES_FIXED = _SIZES.replace("width * height + depth", "width * height * depth")
_STACKS_FIXED = _STACKS.replace("max(box", "sum(box")
_BOXES_BASE: dict[str, str | bytes] = {
    "README.txt": "Boxes.\n",
    "setup.py": INSTALLER,
    "setup.cfg": _metadata("boxes"),
    "pytest.ini": "[pytest]\naddopts = --strict-markers\n",
    "conftest.py": _CONFTEST,
    "boxes/__init__.py": '"""Boxes."""\n\nfrom boxes.sizes import Size, parse\n\n__all__ = ["Size", "parse"]\n',
    "boxes/sizes.py": _SIZES,
    "boxes/stacks.py": _STACKS,
    "boxes/dos.py": '"""Written elsewhere."""\r\n\r\nLIMIT = 1\r\n\r\n\r\ndef limit():\r\n    return LIMIT\r\n',
    "boxes/names.txt": b"first\n" + b"line\n" * 20 + b"caf\xe9\n",
    "boxes/logo.bin": bytes(range(256)) * 4,
    "boxes/pack.sh": "#!/bin/sh\necho packed\n",
    "docs/notes.txt": "Volume is not right yet.\n",
    "tests/test_sizes.py": _SIZE_TESTS,
}

BOXES = Sources(
    name="boxes",
    package="boxes",
    spec=_SPEC.format(name="boxes", rest='runner = "pytest"\ntest = "pytest -rA"'),
    base=_BOXES_BASE,
    fix={"boxes/sizes.py": _SIZES_FIXED, "boxes/stacks.py": _STACKS_FIXED, "docs/notes.txt": "Volume is right.\n"},
    tests={"tests/test_sizes.py": _SIZE_TESTS + _VOLUME_TESTS, "tests/test_stacks.py": _STACK_TESTS},
    fail_to_pass=(
        "tests/test_sizes.py::TestVolume::test_volume[1x1x1-1]",
        "tests/test_sizes.py::TestVolume::test_volume[2",
        "tests/test_sizes.py::TestVolume::test_volume[2/3/4-24]",
        "tests/test_sizes.py::test_volume_of_a_crate",
        "tests/test_stacks.py::test_two",
    ),
    pass_to_pass=(
        "tests/test_sizes.py::TestParse::test_sides[2",
        "tests/test_sizes.py::TestParse::test_sides[2/3/4]",
        "tests/test_sizes.py::TestParse::test_sides[2x3x4]",
        "tests/test_sizes.py::TestParse::test_two_sides_are_refused",
        "tests/test_sizes.py::TestVolume::test_longest",
        "tests/test_sizes.py::test_sides_of_a_crate",
        "tests/test_sizes.py::test_weight",
        "tests/test_stacks.py::test_one",
    ),
    wrong={"boxes/sizes.py": _SIZES.replace("width * height + depth", "width + height + depth")},
    regression={"boxes/sizes.py": _SIZES_FIXED.replace("max(", "min("), "boxes/stacks.py": _STACKS_FIXED},
)
"""pytest, with its configuration in ``pytest.ini`` and a ``conftest.py`` at the root."""

_CRATES_BASE = {name: text for name, text in _BOXES_BASE.items() if name != "pytest.ini"}
CRATES = Sources(
    name="crates",
    package="boxes",
    spec=_SPEC.format(name="crates", rest='runner = "pytest"\ntest = "pytest -rA"'),
    base={
        **_CRATES_BASE,
        "setup.cfg": _metadata("crates"),
        "pyproject.toml": '[tool.pytest.ini_options]\naddopts = "--strict-markers"\n',
    },
    fix=BOXES.fix,
    tests=BOXES.tests,
    fail_to_pass=BOXES.fail_to_pass,
    pass_to_pass=BOXES.pass_to_pass,
    wrong=BOXES.wrong,
    regression=BOXES.regression,
)
"""The same with its configuration in ``pyproject.toml``."""

# unittest, as Django's tests are run

_FORMS = '''\
"""Forms of a ledger."""


def amount(text):
    """Cents in a text such as ``1.05``."""
    whole, _, part = text.partition(".")
    return int(whole) * 100 + int(part or 0)


def total(texts):
    """Sum of amounts."""
    return sum(amount(text) for text in texts)
'''
_FORM_TESTS = '''\
"""Tests of forms."""

import sys
import unittest

from ledger.forms import amount, total


class AmountTests(unittest.TestCase):
    def test_whole(self):
        self.assertEqual(amount("2"), 200)

    def test_cents(self):
        """Two digits are cents."""
        self.assertEqual(amount("1.05"), 105)

    @unittest.expectedFailure
    def test_currency(self):
        self.assertEqual(amount("2 EUR"), 200)

    @unittest.skipIf(sys.platform.startswith("linux"), "not on Linux")
    def test_locale(self):
        self.fail()

    def test_rounding(self):
        self.assertEqual(amount("1.055"), 106)
'''
_MORE_FORM_TESTS = '''\

    def test_tenths(self):
        self.assertEqual(amount("1.5"), 150)

    def test_tenths_alone(self):
        """A point in front ... is a zero before it."""
        self.assertEqual(amount(".5"), 50)

    def test_many(self):
        for text, cents in (("1.1", 110), ("1.2", 120)):
            with self.subTest(text=text):
                self.assertEqual(amount(text), cents)


class TotalTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.texts = ["1.5", "2.25"]

    def test_total(self):
        self.assertEqual(total(self.texts), 375)

    def test_nothing(self):
        self.assertEqual(total([]), 0)
'''
_RUNTESTS = '''\
#!/usr/bin/env python
"""Runs the tests that dotted labels name."""

import argparse
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), HERE]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("modules", nargs="*")
    parser.add_argument("-v", "--verbosity", type=int, default=1)
    parser.add_argument("--settings", default="test_sqlite")
    parser.add_argument("--parallel", type=int, default=1)
    options = parser.parse_args()
    __import__(options.settings)
    print("Testing against the ledger installed in '%s' with up to %d processes" % (HERE, options.parallel))
    suite = unittest.defaultTestLoader.loadTestsFromNames(options.modules)
    print("Found %d test(s)." % suite.countTestCases())
    print("System check identified no issues (0 silenced).")
    result = unittest.TextTestRunner(verbosity=options.verbosity).run(suite)
    sys.exit(bool(result.failures or result.errors))


if __name__ == "__main__":
    main()
'''
_FORMS_FIXED = _FORMS.replace(
    "return int(whole) * 100 + int(part or 0)", 'return int(whole or 0) * 100 + int((part + "00")[:2])'
)


def _method(name: str, case: str) -> str:
    """As Python 3.11 and newer print it."""
    return f"{name} (forms_tests.tests.{case}.{name})"


LEDGER = Sources(
    name="ledger",
    package="ledger",
    spec=_SPEC.format(
        name="ledger",
        rest=(
            'runner = "django"\ndirectives = "labels"\nlabel_root = "tests"\n'
            'test = "./tests/runtests.py --verbosity 2 --settings=test_sqlite --parallel 1"'
        ),
    ),
    base={
        "setup.py": INSTALLER,
        "setup.cfg": _metadata("ledger"),
        "ledger/__init__.py": '"""A ledger."""\n\nfrom ledger.forms import amount, total\n',
        "ledger/forms.py": _FORMS,
        "tests/runtests.py": _RUNTESTS,
        "tests/test_sqlite.py": "DATABASES = {}\n",
        "tests/forms_tests/__init__.py": "",
        "tests/forms_tests/tests.py": _FORM_TESTS,
    },
    executable=frozenset({"tests/runtests.py"}),
    fix={"ledger/forms.py": _FORMS_FIXED},
    tests={"tests/forms_tests/tests.py": _FORM_TESTS + _MORE_FORM_TESTS},
    fail_to_pass=(
        "A point in front ... is a zero before it.",
        _method("test_many", "AmountTests"),
        _method("test_tenths", "AmountTests"),
        _method("test_total", "TotalTests"),
    ),
    pass_to_pass=(
        "Two digits are cents.",
        _method("test_nothing", "TotalTests"),
        _method("test_whole", "AmountTests"),
    ),
    wrong={"ledger/forms.py": _FORMS.replace("int(part or 0)", "int(part or 1) - 1")},
    regression={"ledger/forms.py": _FORMS_FIXED.replace("return sum(", "return 0 or texts and sum(")},
)
"""unittest's verbose form, by a script and labels as Django has them."""

# pytest by way of tox

_NUMBERS = '''\
"""Numbers of pages."""


def roman(number):
    """A page number as in a preface."""
    text = ""
    for value, letter in ((10, "x"), (5, "v"), (1, "i")):
        while number >= value:
            text += letter
            number -= value
    return text
'''
_NUMBERS_FIXED = _NUMBERS.replace(
    '((10, "x"), (5, "v"), (1, "i"))', '((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))'
)
_NUMBER_TESTS = '''\
"""Tests of page numbers."""

import os

import pytest

from pages.numbers import roman


@pytest.mark.parametrize("number, text", [(4, "iv"), (9, "ix"), (14, "xiv")])
def test_shortened(number, text):
    assert roman(number) == text


def test_plain(first):
    assert roman(first) == "i"


def test_environment():
    """tox hands on what it is told to, and nothing else."""
    assert "PIP_NO_INDEX" not in os.environ
'''
_TOX_INI = """\
[tox]
envlist = py

[testenv]
deps =
commands = pytest {posargs}

[flake8]
max-line-length = 80
exclude =
    .git
    .tox
ignore = E501
"""
_TOX_RUN = "sed -i 's/pytest/pytest -rA/' tox.ini"
PAGES = Sources(
    name="pages",
    package="pages",
    spec=_SPEC.format(
        name="pages",
        rest=(f'runner = "tox-pytest"\npre_install = ["{_TOX_RUN}"]\ntest = "tox --current-env -epy39 -v --"'),
    ),
    base={
        "setup.py": INSTALLER,
        "setup.cfg": _metadata("pages") + "\n[tool:pytest]\naddopts = --strict-markers\n",
        "tox.ini": _TOX_INI,
        "pages/__init__.py": '"""Pages."""\n\nfrom pages.numbers import roman\n',
        "pages/numbers.py": _NUMBERS,
        "tests/conftest.py": '"""Fixtures."""\n\nimport pytest\n\n\n@pytest.fixture\ndef first():\n    return 1\n',
        "tests/test_pages.py": '"""Tests of pages."""\n\n\ndef test_nothing():\n    pass\n',
    },
    fix={"pages/numbers.py": _NUMBERS_FIXED},
    tests={"tests/test_numbers.py": _NUMBER_TESTS},
    fail_to_pass=(
        "tests/test_numbers.py::test_shortened[14-xiv]",
        "tests/test_numbers.py::test_shortened[4-iv]",
        "tests/test_numbers.py::test_shortened[9-ix]",
    ),
    pass_to_pass=("tests/test_numbers.py::test_environment", "tests/test_numbers.py::test_plain"),
    wrong={"pages/numbers.py": _NUMBERS.replace('(5, "v")', '(5, "v"), (4, "iiii")')},
    regression={"pages/numbers.py": _NUMBERS_FIXED.replace("return text", 'return text if len(text) > 1 else "?"')},
    built={"tox.ini": _TOX_INI.replace("commands = pytest", "commands = pytest -rA")},
)
"""pytest started by tox, whose configuration the set-up has edited; the test patch only adds a file."""

TOX = r"""#!/bin/sh
# Stands in for `tox --current-env`: runs the command of tox.ini with few of the variables.
while [ "$#" -gt 0 ] && [ "$1" != -- ]; do shift; done
shift
command=$(sed -n 's/^commands *= *//p' tox.ini | sed 's/ *{posargs}//')
echo "py: commands[0]> $command $*"
env -i PATH="$PATH" HOME="$HOME" LANG="$LANG" TOX_ENV_NAME=py sh -c "$command \"\$@\"" tox "$@"
status=$?
[ "$status" = 0 ] && echo "  congratulations :)" || echo "  evaluation failed :("
exit "$status"
"""

# SymPy's own runner

_AREA = '''\
"""Areas."""


def rectangle(width, height):
    """Area of a rectangle."""
    return width * height


def triangle(base, height):
    """Area of a triangle."""
    return base * height
'''
_AREA_FIXED = _AREA.replace("return base * height", "return base * height / 2")
_AREA_TESTS = """\
from sympy.shapes.area import rectangle, triangle
from sympy.testing.pytest import XFAIL, skip


def test_rectangle():
    assert rectangle(2, 3) == 6


@XFAIL
def test_circle():
    assert rectangle(1) == 3


def test_plotting():
    skip("no display")


def test_precision():
    assert rectangle(0.1, 3) == 0.3
"""
_MORE_AREA_TESTS = """

def test_triangle():
    assert triangle(2, 3) == 3


def test_half():
    assert triangle(1, 1) == 0.5


def test_flat_triangle():
    assert triangle(2, 0) == 0
"""
_SYMPY_PYTEST = '''\
"""What tests import, instead of pytest."""

import functools


class Skipped(Exception):
    pass


class XFail(Exception):
    pass


class XPass(Exception):
    pass


def skip(why):
    raise Skipped(why)


def XFAIL(function):
    def wrapper():
        try:
            function()
        except Exception:
            raise XFail(function.__name__)
        raise XPass(function.__name__)

    return functools.update_wrapper(wrapper, function)
'''
_SYMPY_RUNTESTS = '''\
"""A test runner of its own, with the classes and methods that SymPy's has."""

import inspect
import os
import random
import sys
import traceback

from sympy.testing.pytest import Skipped, XFail, XPass


def get_sympy_dir():
    return os.path.normcase(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))


def test(*paths, verbose=False, seed=None):
    reporter = PyTestReporter(verbose)
    runner = SymPyTests(reporter, seed=seed)
    runner._testfiles = [os.path.join(runner._root_dir, path) for path in paths]
    return runner.test()


class SymPyTests:
    def __init__(self, reporter, seed=None):
        self._root_dir = os.path.abspath(get_sympy_dir())
        self._reporter = reporter
        self._reporter.root_dir(self._root_dir)
        self._testfiles = []
        self._seed = seed if seed is not None else random.random()

    def test(self, sort=False, timeout=False):
        random.seed(self._seed)
        self._reporter.start(self._seed)
        for name in self._testfiles:
            self.test_file(name, sort, timeout)
        return self._reporter.finish()

    def test_file(self, filename, sort=True, timeout=False):
        reporter = self._reporter
        gl = {"__file__": filename}
        try:
            with open(filename, encoding="utf8") as file:
                source = file.read()
            exec(compile(source, filename, "exec", flags=0, dont_inherit=True), gl)
        except ImportError:
            reporter.import_error(filename, sys.exc_info())
            return
        except Exception:
            reporter.entering_filename(filename, 0)
            reporter.test_exception(sys.exc_info())
            return
        functions = [gl[name] for name in gl if name.startswith("test_") and inspect.isfunction(gl[name])]
        reporter.entering_filename(filename, len(functions))
        for function in functions:
            reporter.entering_test(function)
            try:
                function()
            except Exception:
                t, v, tr = sys.exc_info()
                if t is AssertionError:
                    reporter.test_fail((t, v, tr))
                elif t is Skipped:
                    reporter.test_skip(v)
                elif t is XFail:
                    reporter.test_xfail()
                elif t is XPass:
                    reporter.test_xpass(v)
                else:
                    reporter.test_exception((t, v, tr))
            else:
                reporter.test_pass()
        reporter.leaving_filename()


class PyTestReporter:
    def __init__(self, verbose=False):
        self._verbose = verbose
        self._passed = 0
        self._failed = []
        self._exceptions = []
        self._active_file = ""
        self._active_f = None

    def root_dir(self, folder):
        self._root_dir = folder

    def write(self, text):
        sys.stdout.write(text)
        sys.stdout.flush()

    def start(self, seed=None):
        self.write("test process starts".center(77, "=") + "\\n")
        self.write("random seed: %s\\n\\n" % seed)

    def entering_filename(self, filename, n):
        self._active_file = os.path.relpath(filename, self._root_dir)
        self._active_file_error = False
        self.write("%s[%d] " % (self._active_file, n))

    def leaving_filename(self):
        self.write("\\n[FAIL]\\n" if self._active_file_error else "\\n[OK]\\n")

    def entering_test(self, f):
        self._active_f = f
        if self._verbose:
            self.write("\\n" + f.__name__ + " ")

    def test_pass(self, char="."):
        self._passed += 1
        self.write("ok" if self._verbose else char)

    def test_fail(self, exc_info):
        self._failed.append((self._active_file, self._active_f, exc_info))
        self._active_file_error = True
        self.write("F")

    def test_exception(self, exc_info):
        self._exceptions.append((self._active_file, self._active_f, exc_info))
        self._active_file_error = True
        self.write("E")

    def test_skip(self, v):
        self.write("s")

    def test_xfail(self):
        self.write("f")

    def test_xpass(self, v):
        self.write("X")

    def import_error(self, filename, exc_info):
        self._exceptions.append((os.path.relpath(filename, self._root_dir), None, exc_info))
        self.write("%s[?]   Failed to import [FAIL]\\n" % os.path.relpath(filename, self._root_dir))

    def finish(self):
        for path, function, exc_info in self._failed + self._exceptions:
            name = path if function is None else "%s:%s" % (path, function.__name__)
            self.write("\\n" + "_" * 77 + "\\n" + (" %s " % name).center(77, "_") + "\\n")
            self.write("".join(traceback.format_exception(*exc_info)))
        bad = len(self._failed) + len(self._exceptions)
        words = "tests finished: %d passed, %d failed, %d exceptions" % (
            self._passed, len(self._failed), len(self._exceptions)
        )
        self.write("\\n" + (" %s " % words).center(77, "=") + "\\n")
        if bad:
            self.write("DO *NOT* COMMIT!\\n")
        return not bad
'''
_SYMPY_BIN = '''\
#!/usr/bin/env python
"""Runs the tests in the given files."""

import argparse
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

parser = argparse.ArgumentParser()
parser.add_argument("paths", nargs="*")
parser.add_argument("-C", "--no-cache", action="store_true")
parser.add_argument("-v", "--verbose", action="store_true")
options = parser.parse_args()

import sympy
from sympy.testing.runtests import test

sys.exit(0 if test(*options.paths, verbose=options.verbose) else 1)
'''
AREAS = Sources(
    name="areas",
    package="sympy",
    spec=_SPEC.format(
        name="areas",
        rest=(
            'runner = "sympy"\n'
            "test = \"PYTHONWARNINGS='ignore::UserWarning,ignore::SyntaxWarning' bin/test -C --verbose\""
        ),
    ),
    base={
        "setup.py": INSTALLER,
        "setup.cfg": _metadata("areas"),
        "bin/test": _SYMPY_BIN,
        "sympy/__init__.py": '"""Shapes."""\n\nfrom sympy.shapes.area import rectangle, triangle\n',
        "sympy/shapes/__init__.py": "",
        "sympy/shapes/area.py": _AREA,
        "sympy/shapes/tests/__init__.py": "",
        "sympy/shapes/tests/test_area.py": _AREA_TESTS,
        "sympy/testing/__init__.py": "",
        "sympy/testing/pytest.py": _SYMPY_PYTEST,
        "sympy/testing/runtests.py": _SYMPY_RUNTESTS,
    },
    executable=frozenset({"bin/test"}),
    fix={"sympy/shapes/area.py": _AREA_FIXED},
    tests={"sympy/shapes/tests/test_area.py": _AREA_TESTS + _MORE_AREA_TESTS},
    fail_to_pass=("test_half", "test_triangle"),
    pass_to_pass=("test_flat_triangle", "test_rectangle"),
    wrong={"sympy/shapes/area.py": _AREA.replace("return base * height\n", "return base * height * 2\n")},
    regression={"sympy/shapes/area.py": _AREA_FIXED.replace("return width * height", "return width + height")},
)
"""SymPy's ``bin/test``: a runner that is part of the repository."""

ALL = (BOXES, LEDGER, PAGES, AREAS)
"""One for each runner."""
