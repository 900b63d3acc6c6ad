"""Cases that users of other graders met, as real runs: forged logs, hooked runners, collisions, noise, faults."""

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import forgeries
import pytest
from forgeries import Forgery
from little_repositories import LIMITS, Bench, Graded

from benchwright.core.execution import MIB
from benchwright.core.verdicts import Outcome, Reason

pytestmark = pytest.mark.namespaces

FindBench = Callable[..., Bench]
FORGERIES = forgeries.all_forgeries()
IN_DOCKER = (
    "boxes: log before the tests",
    "boxes: ends with a session of its own",
    "conftest.py rewrites reports",
    "plug-in by pytest.ini",
    "new sitecustomize.py",
    "setup.py deletes the witness",
    "setup.py replaces pytest",
    "setup.py puts folders where the tests go",
    "setup.py leaves a process that puts the tests back",
    "unittest: replaces TestCase.run",
    "sympy: replaces test_fail",
)


@pytest.fixture(scope="module")
def graded(request: pytest.FixtureRequest, bench: FindBench) -> Iterator[Mapping[str, Future[Graded]]]:
    """What becomes of each forgery that was asked for, by its name; two are run at once."""
    asked = [item for item in request.session.items if isinstance(item, pytest.Function)]
    chosen: list[Any] = [one.callspec.params["forgery"] for one in asked if one.originalname == "test_forgeries"]
    for name in {forgery.sources.name for forgery in chosen}:
        bench(name).controls()
    with ThreadPoolExecutor(2) as pool:
        yield {one.name: pool.submit(grade, bench(one.sources.name), one) for one in chosen}


def grade(here: Bench, forgery: Forgery) -> Graded:
    """Grade a fix that fixes nothing, and forges."""
    return here.grade(here.repository.wrong(forgery.files))


def check(graded: Graded, forgery: Forgery) -> None:
    """A forgery is not resolved, with control runs known or not, and called what it is."""
    assert graded.verdict.outcome is not Outcome.PASSED, graded.verdict
    assert graded.alone.outcome is not Outcome.PASSED, graded.alone
    assert (graded.verdict.reason is Reason.TAMPERED) is forgery.tampered, graded.verdict
    assert set(graded.dropped) == forgery.dropped
    assert graded.verdict.outcome is Outcome.FAILED, "nobody else's fault"


# Cases 11 and 12: forged logs and hooked runners


@pytest.mark.parametrize("forgery", FORGERIES, ids=lambda forgery: forgery.name)
def test_forgeries(graded: Mapping[str, Future[Graded]], forgery: Forgery) -> None:
    """A wrong patch stays wrong, whatever it makes the runner or the log say."""
    check(graded[forgery.name].result(), forgery)


@pytest.mark.parametrize(
    "forgery", [one for one in FORGERIES if one.name in IN_DOCKER], ids=lambda forgery: forgery.name
)
def test_forgeries_in_docker(bench: FindBench, forgery: Forgery) -> None:
    """The same in the other sandbox."""
    check(grade(bench(forgery.sources.name, "docker"), forgery), forgery)


def test_a_file_that_a_patch_makes_and_then_edits_is_new(bench: FindBench) -> None:
    """A second section for the same file does not make it one that was there before."""
    here = bench("pages")
    lines = forgeries.REWRITE_REPORTS.splitlines()
    added = "".join(f"+{line}\n" for line in lines)
    patch = here.repository.wrong({"conftest.py": "# Fixtures.\n"}) + (
        "diff --git a/conftest.py b/conftest.py\n--- a/conftest.py\n+++ b/conftest.py\n"
        f"@@ -1 +1,{len(lines) + 1} @@\n # Fixtures.\n{added}"
    )
    graded = here.grade(patch)
    assert set(graded.dropped) == {"conftest.py"}
    assert graded.verdict.reason is Reason.TESTS_FAILED


HONEST: Mapping[str, tuple[str, dict[str, str]]] = {
    "another fixture": ("conftest.py", {"crate():": "crate(request):"}),
    "a hook that adds to the header": (
        "conftest.py",
        {"import pytest\n": "import pytest\n\n\ndef pytest_report_header(config):\n    return 'boxes'\n"},
    ),
    "a hook that looks at reports": (
        "conftest.py",
        {
            "import pytest\n": "import pytest\n\n\n@pytest.hookimpl(hookwrapper=True)\n"
            "def pytest_runtest_makereport(item, call):\n    outcome = yield\n    outcome.get_result().boxes = 1\n"
        },
    ),
    "an option": ("pytest.ini", {"--strict-markers": "--strict-markers --durations=3"}),
    "a marker": ("pytest.ini", {"--strict-markers\n": "--strict-markers\nmarkers =\n    slow: takes long\n"}),
    "metadata": ("setup.cfg", {"version = 1.0": "version = 1.1"}),
    "an installer with another word in it": ("setup.py", {"without pip": "without anything"}),
}


@pytest.mark.parametrize("name", HONEST)
def test_right_patches_with_the_same_surface(bench: FindBench, name: str) -> None:
    """A right patch that edits existing configuration stays resolved, and nothing of it is dropped."""
    here = bench("boxes")
    path, replacements = HONEST[name]
    text = here.repository.text(path)
    for old, new in replacements.items():
        assert old in text
        text = text.replace(old, new, 1)
    graded = here.grade(here.repository.fix({path: text}))
    assert graded.verdict.outcome is Outcome.PASSED, graded.verdict
    assert not graded.dropped


def test_a_right_plug_in_by_pyproject(bench: FindBench) -> None:
    """The same in ``pyproject.toml``, with a plug-in of the project's own."""
    here = bench("crates")
    plugin = "import pytest\n\n\n@pytest.fixture\ndef pallet():\n    return 3\n"
    config = here.repository.text("pyproject.toml").replace("--strict-markers", "--strict-markers -p boxes.plugin")
    graded = here.grade(here.repository.fix({"boxes/plugin.py": plugin, "pyproject.toml": config}))
    assert graded.verdict.outcome is Outcome.PASSED, graded.verdict


@pytest.mark.parametrize("name", ["ledger", "areas"])
def test_right_patches_that_print_what_a_log_has(bench: FindBench, name: str) -> None:
    """Lines in the form of the log that name other tests do not matter."""
    here = bench(name)
    path, text = next(iter(here.repository.sources.fix.items()))
    assert isinstance(text, str)
    said = 'print("test_other (other.tests.Case) ... FAIL\\ntest_other F\\nok\\nPASSED\\nFAILED\\n")\n'
    graded = here.grade(here.repository.fix({path: text + "\n\n" + said}))
    assert graded.verdict.outcome is Outcome.PASSED, graded.verdict


# Case 13: collisions with the hidden tests


def test_edits_of_a_test_file_that_the_hidden_patch_edits(bench: FindBench) -> None:
    """(a) Resolved; the candidate's edits of it are dropped and listed."""
    here = bench("boxes")
    tests = here.repository.text("tests/test_sizes.py") + "\n\ndef test_mine(crate):\n    assert crate.volume == 24\n"
    graded = here.grade(here.repository.fix({"tests/test_sizes.py": tests}))
    assert graded.verdict.outcome is Outcome.PASSED
    assert set(graded.dropped) == {"tests/test_sizes.py"}
    assert "test_mine" not in graded.log


def test_a_file_where_the_hidden_patch_puts_one(bench: FindBench) -> None:
    """(b) Resolved; it is dropped and listed.  So is a folder of that name."""
    here = bench("boxes")
    mine = "def test_mine():\n    assert False\n"
    for path in ("tests/test_stacks.py", "tests/test_stacks/test_mine.py", "tests/test_stacks.py/mine.py"):
        graded = here.grade(here.repository.fix({path: mine}))
        assert graded.verdict.outcome is Outcome.PASSED, (path, graded.verdict)
        assert "test_mine" not in graded.log
    assert "tests/test_stacks.py/mine.py" in graded.dropped


def test_what_the_set_up_edited_stays(bench: FindBench) -> None:
    """(c) The hidden patch only adds files; the tox.ini that the set-up has edited is as it was."""
    here = bench("pages")
    graded = here.grade(here.problem.reference_patch)
    assert graded.verdict.outcome is Outcome.PASSED
    assert "py: commands[0]> pytest -rA tests/test_numbers.py" in graded.log


def test_edits_of_a_file_that_the_set_up_edited(bench: FindBench) -> None:
    """Elsewhere in that file they are kept.  Beside the lines of the set-up they do not fit, and nothing is guessed."""
    here = bench("pages")
    text = here.repository.text("tox.ini")
    graded = here.grade(here.repository.fix({"tox.ini": text.replace("E501", "E502")}))
    assert graded.verdict.outcome is Outcome.PASSED, graded.verdict
    assert "py: commands[0]> pytest -rA tests/test_numbers.py" in graded.log
    beside = here.grade(here.repository.fix({"tox.ini": text.replace("deps =", "deps = pytest")}))
    assert beside.verdict.reason is Reason.PATCH_REJECTED
    assert "tox.ini" in beside.verdict.detail


def test_own_tests_beside_the_graded_ones(bench: FindBench) -> None:
    """New tests of the candidate at other places are its own."""
    here = bench("boxes")
    graded = here.grade(here.repository.fix({"tests/test_mine.py": "def test_mine():\n    assert False\n"}))
    assert graded.verdict.outcome is Outcome.PASSED
    assert not graded.dropped


# Case 14: noisy logs of right patches

UNITTEST_NOISE = """

import os
import sys


def _noise(text):
    for line in ("", "System check identified no issues (0 silenced).", "Internal Server Error: /", "PASSED",
                 "Testing against Django installed in '/x' with up to 1 processes", "FAILED (x=1)"):
        sys.stderr.write(line + "\\n")
    sys.stderr.flush()
    os.write(2, b"caf\\xe9 \\xff \\x1b[31mred\\x1b[0m \\r")


_amount = amount


def amount(text):
    _noise(text)
    return _amount(text)
"""
PYTEST_NOISE = """

import atexit
import os

os.write(2, b"PASSED\\nFAILED\\nPicked up JAVA_TOOL_OPTIONS: -Xmx1g")
atexit.register(os.write, 1, b"PASSED\\nPicked up _JAVA_OPTIONS\\ncaf\\xe9 \\xff\\n\\x1b[32mPASSED\\x1b[0m\\nERROR\\n")
"""


def test_noise_between_a_name_and_its_status(bench: FindBench) -> None:
    """unittest: framework text, bytes, colours and status words between a test's name and its "ok"."""
    here = bench("ledger")
    forms = here.repository.sources.fix["ledger/forms.py"]
    assert isinstance(forms, str)
    graded = here.grade(here.repository.fix({"ledger/forms.py": forms + UNITTEST_NOISE}))
    assert "caf\ufffd" in graded.log
    assert graded.verdict.outcome is Outcome.PASSED, (graded.verdict, graded.log)
    assert graded.record is not None
    step = graded.record.step("tests")
    assert step is not None
    assert step.exit_status == 1, "an unrelated test of the same file fails as it did before"


def test_noise_around_the_summary(bench: FindBench) -> None:
    """pytest: a line with only a status, a notice glued to one, bytes, colours; the command ends with 1."""
    here = bench("boxes")
    sizes = here.repository.sources.fix["boxes/sizes.py"]
    assert isinstance(sizes, str)
    graded = here.grade(here.repository.fix({"boxes/sizes.py": sizes + PYTEST_NOISE}))
    assert "caf\ufffd" in graded.log
    assert graded.verdict.outcome is Outcome.PASSED, (graded.verdict, graded.log)


@pytest.mark.parametrize("name", ["boxes", "pages"])
@pytest.mark.parametrize("options", ["--color=yes", "-v", "-q", "-rfE", "--tb=no -p no:cacheprovider"])
def test_forms_of_a_log(bench: FindBench, name: str, options: str) -> None:
    """Options that a right patch adds change the form of the log, not the verdict."""
    here = bench(name)
    path = "pytest.ini" if name == "boxes" else "setup.cfg"
    text = here.repository.text(path).replace("--strict-markers", f"--strict-markers {options}")
    graded = here.grade(here.repository.fix({path: text}))
    assert graded.verdict.outcome is Outcome.PASSED, graded.verdict


# Case 15: a broken machine or a broken patch

NEEDS_COLOURS = "import colours\n\n"


def needing_colours(here: Bench) -> Bench:
    """The repository with hidden tests that need a module."""
    tests = {path: f"{NEEDS_COLOURS}{text!s}" for path, text in here.repository.sources.tests.items()}
    return here.varied(test_patch=here.repository.patch(tests))


def test_a_module_that_the_image_lacks(bench: FindBench) -> None:
    """(a) Nothing can be collected, with the reference neither: the machine's fault, out of the score."""
    broken = needing_colours(bench("boxes"))
    controls = broken.controls()
    assert not controls.sound
    assert {run.reason for run in controls.reference} == {"tests_not_run"}
    for patch in (broken.repository.fix(), broken.repository.wrong()):
        graded = broken.grade(patch)
        assert (graded.verdict.outcome, graded.verdict.reason) == (Outcome.FAULT, Reason.ENVIRONMENT_BROKEN)
        assert not graded.verdict.scored
    version = next(Path(layer) for layer in broken.place.image.layers if "environment" in layer.name)
    packages = next((version / "opt/env/lib").iterdir()) / "site-packages"
    whole = broken.with_files({f"{packages.relative_to(version)}/colours.py": ""})
    assert whole.controls().sound
    assert whole.grade(whole.repository.fix()).verdict.outcome is Outcome.PASSED
    assert whole.grade(whole.repository.wrong()).verdict.reason is Reason.TESTS_FAILED


def test_a_syntax_error_of_the_patch(bench: FindBench) -> None:
    """(b) Nothing can be collected with this patch only: it is wrong."""
    here = bench("boxes")
    graded = here.grade(here.repository.wrong({"boxes/sizes.py": "def volume(:\n"}))
    assert (graded.verdict.outcome, graded.verdict.reason) == (Outcome.FAILED, Reason.TESTS_NOT_RUN)
    assert graded.verdict.scored


SMALL = dataclasses.replace(LIMITS, memory_bytes=128 * MIB)
GREEDY = "KEPT = bytearray(300 * 2**20)\nKEPT[::4096] = b'x' * len(KEPT[::4096])\n\n"


def test_killed_for_memory_with_the_reference_too(bench: FindBench) -> None:
    """(c) The tests need more than there is: the machine's fault."""
    here = bench("boxes")
    tests = {path: f"{text!s}\n\n{GREEDY}" for path, text in here.repository.sources.tests.items()}
    poor = dataclasses.replace(here.varied(test_patch=here.repository.patch(tests)), limits=SMALL)
    assert {run.reason for run in poor.controls().reference} == {"memory"}
    graded = poor.grade(poor.repository.fix())
    assert (graded.verdict.outcome, graded.verdict.reason) == (Outcome.FAULT, Reason.ENVIRONMENT_BROKEN)
    assert graded.alone.outcome is Outcome.OVER_LIMIT, "without control runs nothing is put down to the machine"


def test_killed_for_memory_with_the_patch_only(bench: FindBench) -> None:
    """(d) The reference runs within the same limit: the patch is wrong."""
    here = dataclasses.replace(bench("boxes"), limits=SMALL, _known=[])
    assert here.controls().sound
    graded = here.grade(here.repository.fix({"boxes/__init__.py": GREEDY + here.repository.text("boxes/__init__.py")}))
    assert (graded.verdict.outcome, graded.verdict.reason) == (Outcome.OVER_LIMIT, Reason.MEMORY)
    assert graded.verdict.scored


def test_a_crash_of_the_interpreter(bench: FindBench) -> None:
    """A patch whose code ends the interpreter by a signal is wrong, and called that."""
    here = bench("boxes")
    crash = "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n"
    graded = here.grade(here.repository.fix({"boxes/__init__.py": crash}))
    assert (graded.verdict.outcome, graded.verdict.reason) == (Outcome.FAILED, Reason.CRASHED)


# Spares


def test_a_changed_patch_is_another_job(bench: FindBench) -> None:
    """It is named by what it is, so that no earlier verdict is taken for it."""
    here = bench("boxes")
    pipeline = here.pipeline()
    digests = {
        pipeline.job(here.problem, patch).digest
        for patch in (here.repository.fix(), here.repository.wrong(), here.repository.fix() + "\n", "")
    }
    assert len(digests) == 4


def test_a_constant_that_fits_what_the_issue_shows(bench: FindBench) -> None:
    """Returning what one visible example asks for fails the hidden tests."""
    here = bench("boxes")
    sizes = here.repository.text("boxes/sizes.py").replace("return width * height + depth", "return 24")
    graded = here.grade(here.repository.patch({"boxes/sizes.py": sizes}))
    assert graded.verdict.reason is Reason.TESTS_FAILED
    assert "1x1x1" in graded.verdict.detail
