"""Facts about reading test plans."""

import sys
import types
import unittest
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwright.answers.plans import read_plan
from benchwright.core.errors import UsageError


def loaded_by_unittest(source: str, class_name: str = "TestCases") -> list[str]:
    """The ids that unittest's own loader finds when the source really runs."""
    module = types.ModuleType("plan_under_test")
    sys.modules[module.__name__] = module
    try:
        exec(compile(source, "plan_under_test.py", "exec"), module.__dict__)
        test_class = getattr(module, class_name)
        names = unittest.TestLoader().getTestCaseNames(test_class)
    finally:
        del sys.modules[module.__name__]
    return [f"{class_name}.{name}" for name in names]


def planned(source: str) -> list[str]:
    return [test.id for test in read_plan(source).tests]


NAMES = st.sampled_from(["test_a", "test_b", "test_B", "test", "test_10", "test_9", "testC", "helper", "setUp"])
MEMBERS = st.one_of(
    st.builds("    def {}(self):\n        pass\n".format, NAMES),
    st.builds("    async def {}(self):\n        pass\n".format, NAMES),
    st.builds("    @staticmethod\n    def {}():\n        pass\n".format, NAMES),
    st.builds("    @property\n    def {}(self):\n        return 1\n".format, NAMES),
    st.builds("    {} = 3\n".format, NAMES),
    st.builds("    {} = None\n".format, NAMES),
    st.builds("    {} = lambda self: None\n".format, NAMES),
    st.builds("    class {}:\n        pass\n".format, NAMES),
)
BODIES = st.lists(MEMBERS, max_size=6).map(lambda members: "".join(members) or "    pass\n")


@given(BODIES, BODIES, BODIES)
@settings(deadline=None)
def test_plan_equals_what_unittest_loads(mixin: str, base: str, final: str) -> None:
    """Ids and order are those of unittest's loader, for any class with inherited and overridden members."""
    source = (
        "import unittest\n"
        f"class Mixin:\n{mixin}"
        f"class Base(unittest.TestCase):\n{base}"
        f"class Sibling(Base):\n    pass\n"
        f"class TestCases(Mixin, Sibling, Base):\n{final}"
    )
    expected = loaded_by_unittest(source)
    if expected:
        assert planned(source) == expected
    else:
        with pytest.raises(UsageError, match="no method whose name starts with 'test'"):
            read_plan(source)


def test_order_is_by_name_not_by_position() -> None:
    """Tests stand in the order in which unittest runs them, which is that of their names as text."""
    source = "import unittest\nclass TestCases(unittest.TestCase):\n" + "".join(
        f"    def test_{name}(self): pass\n" for name in ("9", "10", "a", "B")
    )
    assert planned(source) == [
        "TestCases.test_10",
        "TestCases.test_9",
        "TestCases.test_B",
        "TestCases.test_a",
    ]


def test_without_testcases_the_last_testcase_class_is_taken() -> None:
    """A source without a class TestCases is read by its last class that derives from a TestCase."""
    source = (
        "from unittest import IsolatedAsyncioTestCase, TestCase\n"
        "class First(TestCase):\n    def test_1(self): pass\n"
        "class Base(IsolatedAsyncioTestCase):\n    async def test_base(self): pass\n"
        "class Second(Base):\n    def test_2(self): pass\n"
        "class Helper:\n    def test_3(self): pass\n"
    )
    assert planned(source) == ["Second.test_2", "Second.test_base"]


def test_testcases_is_taken_even_if_another_class_follows() -> None:
    """The official harness loads the name TestCases and nothing else, so the plan does the same."""
    source = (
        "import unittest\n"
        "class TestCases(unittest.TestCase):\n    def test_1(self): pass\n"
        "class CorrectedTestCases(unittest.TestCase):\n    def test_2(self): pass\n"
    )
    assert planned(source) == ["TestCases.test_1"]


def test_a_class_defined_twice_counts_once_in_its_last_form() -> None:
    """As in Python, the later class of the same name replaces the earlier one."""
    source = (
        "import unittest\n"
        "class TestCases(unittest.TestCase):\n    def test_old(self): pass\n"
        "if True:\n"
        "    class TestCases(unittest.TestCase):\n        def test_new(self): pass\n"
    )
    assert planned(source) == ["TestCases.test_new"]


def test_decorators_are_kept_as_written_outermost_first() -> None:
    """A planned test carries the source of the decorators of its class and of its method."""
    source = (
        "import unittest\n"
        "@unittest.skipUnless(True,  'two  spaces')\n"
        "class TestCases(unittest.TestCase):\n"
        "    @patch('a.b')\n    @patch.object(x, 'é', new=1)\n    def test_1(self, *mocks): pass\n"
    )
    (test,) = read_plan(source).tests
    assert test.decorators == (
        "unittest.skipUnless(True,  'two  spaces')",
        "patch('a.b')",
        "patch.object(x, 'é', new=1)",
    )
    assert test.may_skip


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("", "no class TestCases"),
        ("def test_1(): pass\n", "no class TestCases"),
        ("class Helper:\n    def test_1(self): pass\n", "no class TestCases"),
        ("class Loop(Loop):\n    def test_1(self): pass\n", "no class TestCases"),
        ("class TestCases(unittest.TestCase):\n    def check(self): pass\n", "no method"),
        ("class TestCases(:\n", "not valid Python"),
        ("x = '\0'\n", "not valid Python"),
        ("class A: pass\nclass TestCases(A, A):\n    def test_1(self): pass\n", "contradict"),
    ],
)
def test_a_source_without_tests_is_a_usage_error(source: str, message: str) -> None:
    """A test source from which no test can be read is refused, with the reason."""
    with pytest.raises(UsageError, match=message):
        read_plan(source)


def test_reading_a_plan_lets_no_warning_through() -> None:
    """Invalid escapes in a test source are not reported on the host."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plan = read_plan("class TestCases(TestCase):\n    def test_1(self):\n        '\\d'\n")
    assert plan.class_name == "TestCases"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("    def test_1(self): pass\n    test_2 = test_1\n", ["test_1", "test_2"]),
        ("    def test_1(self): pass\n    def test_2(self): pass\n    del test_1\n", ["test_2"]),
        ("    def check(self): pass\n    test_alias = check\n", ["test_alias"]),
        ("    test_data = [1]\n    def test_1(self): pass\n", ["test_1"]),
    ],
)
def test_names_bound_in_the_class_body_count_as_python_binds_them(body: str, expected: list[str]) -> None:
    """Aliases of methods are tests, deleted names and data are not."""
    source = "import unittest\nclass TestCases(unittest.TestCase):\n" + body
    assert planned(source) == loaded_by_unittest(source) == [f"TestCases.{name}" for name in expected]


def test_the_assertions_a_source_calls_are_listed() -> None:
    """assert methods and fail are named once each, sorted, whatever they are called on."""
    source = (
        "class TestCases(TestCase):\n    def test_1(self):\n"
        "        self.assertTrue(1)\n        mock.assert_called()\n        self.assertTrue(2)\n"
        "        self.fail()\n        self.assertEqual\n        other()\n"
    )
    assert read_plan(source).assertions == ("assertTrue", "assert_called", "fail")
