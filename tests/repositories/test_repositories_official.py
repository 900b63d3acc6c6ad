"""The official rules' known faults: what they make of a patch, and what ours say of the same one."""

from collections.abc import Callable

import forgeries
import pytest
from little_repositories import Bench, Graded
from little_sources import ALL, INSTALLER, Sources

from benchwright.core.repositories import Rules
from benchwright.core.verdicts import Outcome, Reason

pytestmark = pytest.mark.namespaces

FindBench = Callable[..., Bench]


def both(here: Bench, patch: str) -> tuple[Graded, Graded]:
    """A patch graded by the official rules, and by ours."""
    return here.grade(patch, rules=Rules.OFFICIAL), here.grade(patch)


def passes(graded: Graded) -> bool:
    """Whether it resolved its issue."""
    return graded.verdict.outcome is Outcome.PASSED


@pytest.mark.parametrize("sources", ALL, ids=lambda sources: sources.name)
def test_where_nothing_is_special_both_agree(bench: FindBench, sources: Sources) -> None:
    """The reference is resolved; a wrong patch and one that breaks something are not, for the same reason."""
    here = bench(sources.name)
    for patch in (here.problem.reference_patch, here.repository.wrong(), here.repository.patch(sources.regression)):
        official, ours = both(here, patch)
        assert official.verdict.outcome is ours.verdict.outcome
        assert official.verdict.reason is ours.verdict.reason
    assert official.record is not None
    assert not official.record.sessions, "no witness takes part"


def test_the_official_rules_in_docker(bench: FindBench) -> None:
    """The same in the other sandbox."""
    here = bench("boxes", "docker")
    assert passes(here.grade(here.problem.reference_patch, rules=Rules.OFFICIAL))
    assert not passes(here.grade(here.repository.wrong(), rules=Rules.OFFICIAL))


CONFTEST = "\n\nimport atexit\nimport os\n\natexit.register(os.write, 1, {log!r})\n"


def test_a_log_that_a_conftest_prints_at_exit(bench: FindBench) -> None:
    """Officially resolved without a fix; here it is a contradiction between log and witness."""
    here = bench("boxes")
    lines = "".join(f"PASSED {test}\n" for test in (*here.problem.fail_to_pass, *here.problem.pass_to_pass))
    conftest = here.repository.text("conftest.py") + CONFTEST.format(log=lines.encode())
    official, ours = both(here, here.repository.patch({"conftest.py": conftest}))
    assert passes(official)
    assert ours.verdict.reason is Reason.TAMPERED


def test_a_conftest_that_is_new(bench: FindBench) -> None:
    """Officially it counts, here it is dropped."""
    here = bench("pages")
    lines = "".join(f"PASSED {test}\n" for test in (*here.problem.fail_to_pass, *here.problem.pass_to_pass))
    official, ours = both(here, here.repository.wrong({"conftest.py": CONFTEST.format(log=lines.encode())}))
    assert passes(official)
    assert ours.verdict.reason is Reason.TESTS_FAILED
    assert "conftest.py" in ours.dropped


def test_forged_marks_around_a_forged_log(bench: FindBench) -> None:
    """Officially what stands between the first marks counts, and the real run after them does not."""
    here = bench("ledger")
    log = forgeries.forged_log(here.repository.sources).replace(">" * 5, "@@")
    program = f"\nprint({log!r}.replace('@@', '>' * 5), flush=True)\n"  # the log holds the diff, too
    official, ours = both(here, here.repository.wrong({"setup.py": INSTALLER + program}))
    assert passes(official)
    assert ours.verdict.reason is Reason.TESTS_FAILED, "what an installation prints is no log of tests"


def test_expected_failures(bench: FindBench) -> None:
    """Officially an expected failure is a success; here a failing statement in the tests shows that it is no test."""
    here = bench("boxes")
    conftest = here.repository.text("conftest.py") + forgeries.EXPECT_FAILURES
    official, ours = both(here, here.repository.wrong({"conftest.py": conftest}))
    assert passes(official), official.verdict
    assert ours.verdict.reason is Reason.TAMPERED


def test_skipped_tests(bench: FindBench) -> None:
    """Officially a skip is no failure, so that skipping everything resolves anything."""
    here = bench("ledger")
    package = here.repository.text("ledger/__init__.py") + forgeries.UNITTEST["SkipTest"]
    official, ours = both(here, here.repository.wrong({"ledger/__init__.py": package}))
    assert passes(official), official.verdict
    assert ours.verdict.reason is Reason.TESTS_FAILED


def test_two_tests_of_one_name(bench: FindBench) -> None:
    """SymPy's log lists bare names: officially the later "ok" hides the failure, here the failure stays."""
    here = bench("areas")
    other = "def test_triangle():\n    pass\n\n\ndef test_half():\n    pass\n"
    tests = {**here.repository.sources.tests, "sympy/shapes/tests/test_zones.py": other}
    twice = here.varied(test_patch=here.repository.patch(tests))
    official, ours = both(twice, here.repository.wrong())
    assert passes(official)
    assert ours.verdict.reason is Reason.TESTS_FAILED
    right_official, right = both(twice, here.repository.fix())
    assert passes(right_official)
    assert passes(right)


def fuzzy(here: Bench) -> str:
    """The fix with one context line that is not quite the file's."""
    patch = here.repository.fix()
    assert patch.count(" def stacked(boxes):\n") == 1
    return patch.replace(" def stacked(boxes):\n", " def stacked(boxes, *others):\n")


def test_one_fuzzy_hunk_undoes_the_others(bench: FindBench) -> None:
    """Officially the hunk is applied by patch, which takes back what ``git apply --reject`` had applied before.

    So a fix of two files becomes a fix of one, without a word.  Here the patch is refused, with the hunk named.
    """
    here = bench("boxes")
    official, ours = both(here, fuzzy(here))
    assert official.record is not None
    assert official.record.patch_applied
    assert "fuzz" in official.record.patch_message
    assert official.verdict.reason is Reason.TESTS_FAILED
    assert "test_sizes.py" in official.verdict.detail
    assert "test_stacks.py::test_two" not in official.verdict.detail
    assert ours.verdict.reason is Reason.PATCH_REJECTED
    assert "boxes/stacks.py" in ours.verdict.detail


def test_a_file_that_the_test_patch_adds_too(bench: FindBench) -> None:
    """Officially the test patch then fails as a whole, so that no fix can be seen; here it is put in place."""
    here = bench("boxes")
    official, ours = both(here, here.repository.fix({"tests/test_stacks.py": "def test_one():\n    pass\n"}))
    assert not passes(official)
    assert passes(ours)
    assert set(ours.dropped) == {"tests/test_stacks.py"}


def test_a_reference_that_adds_a_file_of_the_test_patch(bench: FindBench) -> None:
    """The same with the row's own reference: by the official rules such a row cannot be resolved."""
    here = bench("boxes")
    reference = here.repository.fix({"tests/test_stacks.py": here.repository.sources.tests["tests/test_stacks.py"]})
    row = here.varied(reference_patch=reference)
    official, ours = both(row, reference)
    assert not passes(official)
    assert passes(ours)


def test_a_mark_in_the_patch_itself(bench: FindBench) -> None:
    """The official log holds the candidate's diff; a mark in it voids the run."""
    here = bench("boxes")
    sizes = here.repository.sources.fix["boxes/sizes.py"]
    assert isinstance(sizes, str)
    official, ours = both(here, here.repository.fix({"boxes/sizes.py": f"{sizes}\n# >>>>> Tests Timed Out\n"}))
    assert official.verdict.reason is Reason.WALL_TIME
    assert passes(ours)


def test_colours_in_a_log(bench: FindBench) -> None:
    """The official reading of a plain pytest log does not see through them."""
    here = bench("boxes")
    ini = here.repository.text("pytest.ini").replace("--strict-markers", "--strict-markers --color=yes")
    official, ours = both(here, here.repository.fix({"pytest.ini": ini}))
    assert not passes(official)
    assert passes(ours)


def test_a_patch_with_crlf(bench: FindBench) -> None:
    """What git refuses, patch takes: both come to the same verdict, by different ways."""
    here = bench("boxes")
    official, ours = both(here, here.repository.fix().replace("\n", "\r\n"))
    assert passes(official), official.verdict
    assert passes(ours)


def test_a_patch_without_a_final_newline(bench: FindBench) -> None:
    """Officially a right patch is refused for it, by patch too where its last line is not a context line."""
    here = bench("boxes")
    official, ours = both(here, here.repository.fix().rstrip("\n"))
    assert official.verdict.reason is Reason.PATCH_REJECTED
    assert passes(ours)


def test_a_patch_that_reaches_outside(bench: FindBench) -> None:
    """Git and patch refuse it officially too; here nothing is tried."""
    here = bench("boxes")
    patch = here.repository.patch({"boxes/unused.py": "UNUSED = 1\n"}).replace("boxes/unused.py", "../unused.py")
    official, ours = both(here, patch)
    assert official.verdict.reason is Reason.PATCH_REJECTED
    assert ours.verdict.reason is Reason.PATCH_REJECTED
    assert ours.record is None
