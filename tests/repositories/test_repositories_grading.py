"""Patches of real repositories from text to verdict, in both sandboxes."""

import dataclasses
import re
import threading
from collections.abc import Callable, Iterator

import pytest
from little_repositories import LIMITS, LINK, Bench, Graded
from little_sources import ALL, Sources

from benchwright.core.errors import SandboxFault
from benchwright.core.execution import MIB, ExitCause
from benchwright.core.repositories import WORK, RepositoryJob, RepositoryRecord
from benchwright.core.verdicts import Outcome, Reason
from benchwright.grading.repositories import run_in_threads
from benchwright.judging import repository as judging
from benchwright.sandboxes.base import RunLimits, RunResult, Workspace

pytestmark = pytest.mark.namespaces

FindBench = Callable[..., Bench]
BOTH = pytest.mark.parametrize("sandbox", ["namespace", "docker"])
RUNNERS = pytest.mark.parametrize("sources", ALL, ids=lambda sources: sources.name)
REPEATS = 3


@pytest.fixture
def boxes(bench: FindBench) -> Bench:
    """The repository whose tests pytest runs."""
    return bench("boxes")


def resolved(graded: Graded) -> bool:
    """Whether the patch resolved its issue, by the verdict with and without control runs."""
    assert graded.verdict.outcome is graded.alone.outcome, (graded.verdict, graded.alone)
    return graded.verdict.outcome is Outcome.PASSED


# Every runner in every sandbox


@BOTH
@RUNNERS
def test_the_reference_resolves_and_nothing_does_not(bench: FindBench, sources: Sources, sandbox: str) -> None:
    """Three times each, without a difference; the sabotaged twin turns every required test that runs to failing."""
    controls = bench(sources.name, sandbox).controls(REPEATS)
    assert (len(controls.reference), len(controls.empty)) == (REPEATS, REPEATS)
    assert controls.sound, controls
    assert controls.stable, controls
    for run in controls.reference:
        assert set(run.inverted) == {*sources.fail_to_pass, *sources.pass_to_pass}.difference(run.accepted)
        assert not run.unreported
    assert {run.reason for run in controls.empty} == {"tests_failed"}
    assert all(run.not_passed == tuple(sorted(sources.fail_to_pass)) for run in controls.empty)


@RUNNERS
def test_lists_are_what_the_runs_show(bench: FindBench, sources: Sources) -> None:
    """The lists of these rows name what a log parser finds to pass with the reference, and nothing else."""
    here = bench(sources.name)
    graded = here.grade(here.problem.reference_patch)
    assert graded.record is not None
    seen = judging.tests_seen(graded.record, here.setup.parser)
    passed = {test for test, passes in seen.items() if passes}
    expected = set(here.controls().reference[0].accepted)
    assert passed | expected == {*sources.fail_to_pass, *sources.pass_to_pass}


@BOTH
@RUNNERS
def test_a_wrong_patch_names_what_it_did_not_fix(bench: FindBench, sources: Sources, sandbox: str) -> None:
    """The verdict says how many tests did not pass, and the first of them."""
    here = bench(sources.name, sandbox)
    graded = here.grade(here.repository.wrong())
    assert not resolved(graded)
    assert graded.verdict.reason is Reason.TESTS_FAILED
    assert any(test in graded.verdict.detail for test in sources.fail_to_pass)
    assert graded.record is not None
    assert graded.record.inversion is None, "what is wrong need not be run twice"


@BOTH
@RUNNERS
def test_a_regression_is_told_apart(bench: FindBench, sources: Sources, sandbox: str) -> None:
    """A fix that breaks what worked is called that."""
    here = bench(sources.name, sandbox)
    graded = here.grade(here.repository.patch(sources.regression))
    assert not resolved(graded)
    assert graded.verdict.reason is Reason.REGRESSION
    assert any(test in graded.verdict.detail for test in sources.pass_to_pass)


@BOTH
@RUNNERS
def test_a_syntax_error_is_not_put_down_to_the_machine(bench: FindBench, sources: Sources, sandbox: str) -> None:
    """The tests cannot be collected; the control runs show that they can be with the reference."""
    here = bench(sources.name, sandbox)
    graded = here.grade(here.repository.patch({f"{sources.package}/__init__.py": "def broken(:\n"}))
    assert not resolved(graded)
    assert graded.verdict.outcome is Outcome.FAILED
    assert graded.verdict.reason in (Reason.TESTS_NOT_RUN, Reason.TESTS_FAILED)
    assert graded.verdict.passed == 0


# How patches are written


def crlf(patch: str) -> str:
    """A patch as an editor elsewhere saves it."""
    return patch.replace("\n", "\r\n")


def without_final_newline(patch: str) -> str:
    """A patch as many programs hand it on."""
    return patch.rstrip("\n")


def fenced(patch: str) -> str:
    """A patch as a chat model writes it."""
    return f"Here is the fix:\n\n```diff\n{patch}```\n"


def miscounted(patch: str) -> str:
    """A patch whose hunks' counts are wrong."""
    rewritten = re.sub(r"(@@ -\d+),7 (\+\d+),7 @@", r"\1,9 \2,8 @@", patch)
    assert rewritten != patch
    return rewritten


@pytest.mark.parametrize("rewrite", [crlf, without_final_newline, fenced, miscounted], ids=lambda one: one.__name__)
def test_a_right_patch_however_it_is_written(boxes: Bench, rewrite: Callable[[str], str]) -> None:
    """What can be put right without guessing is, and what was put right is said."""
    graded = boxes.grade(rewrite(boxes.repository.fix()))
    assert resolved(graded), graded.verdict
    assert graded.row.notes


def test_crlf_in_docker(bench: FindBench) -> None:
    """The same in the other sandbox."""
    here = bench("boxes", "docker")
    assert resolved(here.grade(crlf(here.repository.fix())))


def test_a_file_with_crlf_is_edited(boxes: Bench) -> None:
    """Line ends of a file that has CRLF stay, whether the patch has them everywhere or in the content alone."""
    edited = boxes.repository.text("boxes/dos.py").replace("LIMIT = 1", "LIMIT = 2")
    volume = boxes.repository.sources.fix["boxes/sizes.py"]
    assert isinstance(volume, str)
    checked = volume.replace("import re\n", "import re\n\nfrom boxes import dos\n\nassert dos.limit() == 2\n")
    patch = boxes.repository.fix({"boxes/dos.py": edited, "boxes/sizes.py": checked})
    assert "+LIMIT = 2\r\n" in patch
    assert resolved(boxes.grade(patch))
    alone = boxes.repository.patch({"boxes/dos.py": edited})
    graded = boxes.grade(crlf(alone.replace("\r\n", "\n")))
    assert graded.record is not None
    assert graded.record.patch_applied, graded.record.patch_message


KINDS: dict[str, tuple[dict[str, str | bytes | None], dict[str, int]]] = {
    "binary file": ({"boxes/logo.bin": bytes(reversed(range(256))) * 4}, {}),
    "new binary file": ({"boxes/new.bin": b"\0\1\2" * 1000}, {}),
    "mode": ({"boxes/pack.sh": "#!/bin/sh\necho packed\n"}, {"boxes/pack.sh": 0o100755}),
    "link": ({"boxes/latest": "sizes.py"}, {"boxes/latest": LINK}),
    "far from bytes that are not UTF-8": ({"boxes/names.txt": b"1st\n" + b"line\n" * 20 + b"caf\xe9\n"}, {}),
    "deletion": ({"boxes/names.txt.orig": None, "docs/notes.txt": None}, {}),
    "empty file": ({"boxes/py.typed": ""}, {}),
    "name with a space and a letter that is not ASCII": ({"docs/größe der box.txt": "groß\n"}, {}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_edits(boxes: Bench, kind: str) -> None:
    """They are applied along with the fix."""
    changes, modes = KINDS[kind]
    changes = {name: content for name, content in changes.items() if not name.endswith(".orig")}
    assert resolved(boxes.grade(boxes.repository.fix(changes, modes=modes)))


def test_a_rename(boxes: Bench) -> None:
    """The module that has the fix goes to another place, by a section that renames it."""
    sizes = boxes.repository.sources.fix["boxes/sizes.py"]
    patch = boxes.repository.fix({"boxes/measures.py": sizes, "boxes/sizes.py": None})
    assert "rename to boxes/measures.py" in patch
    broken = boxes.grade(patch)
    assert broken.verdict.outcome is Outcome.FAILED, "the tests import the old name"
    names = {
        "boxes/__init__.py": "from boxes.measures import Size, parse\n",
        "conftest.py": boxes.repository.text("conftest.py").replace("boxes.sizes", "boxes.measures"),
        "boxes/shapes/sizes.py": sizes,
    }
    moved = boxes.repository.fix({"docs/notes.txt": None, "docs/old/notes.txt": "Volume is right.\n"})
    assert resolved(boxes.grade(moved))
    assert boxes.grade(boxes.repository.fix({**names, "boxes/measures.py": sizes})).record is not None


def test_files_that_are_only_added(boxes: Bench) -> None:
    """A fix that lies in a new file: what an agent leaves untracked has to be in its patch, and then counts."""
    volume = "def volume(sides):\n    width, height, depth = sides\n    return width * height * depth\n"
    size = boxes.repository.text("boxes/sizes.py").replace(
        "        width, height, depth = self.sides\n        return width * height + depth\n",
        "        from boxes.volume import volume\n\n        return volume(self.sides)\n",
    )
    whole = {"boxes/sizes.py": size, "boxes/stacks.py": boxes.repository.sources.fix["boxes/stacks.py"]}
    assert resolved(boxes.grade(boxes.repository.patch({**whole, "boxes/volume.py": volume})))
    assert not resolved(boxes.grade(boxes.repository.patch(whole)))


def test_a_patch_that_only_adds_a_file_changes_nothing(boxes: Bench) -> None:
    """It applies, and the tests fail as before."""
    graded = boxes.grade(boxes.repository.patch({"boxes/unused.py": "UNUSED = 1\n"}))
    assert graded.verdict.reason is Reason.TESTS_FAILED


def test_a_huge_patch(boxes: Bench) -> None:
    """A new file of five megabytes is applied."""
    table = "".join(f"{number:07d}\n" for number in range(650_000))
    assert resolved(boxes.grade(boxes.repository.fix({"boxes/table.txt": table})))


def test_bytes_in_another_encoding_in_a_patch(boxes: Bench) -> None:
    """A file's bytes that are no UTF-8, as Python carries them in text, are applied as they are."""
    changed = b"first\n" + b"line\n" * 20 + b"th\xe9\n"
    sizes = boxes.repository.sources.fix["boxes/sizes.py"]
    checked = (
        f"{sizes!s}\n\nwith open('/testbed/boxes/names.txt', 'rb') as file:\n    assert file.read() == {changed!r}\n"
    )
    graded = boxes.grade(boxes.repository.fix({"boxes/names.txt": changed, "boxes/sizes.py": checked}))
    assert resolved(graded), graded.verdict


@pytest.mark.parametrize("character", ["\0", "\ud800"], ids=["NUL", "lone surrogate"])
def test_what_is_no_text_in_a_patch(boxes: Bench, character: str) -> None:
    """It makes a prediction unusable instead of breaking something."""
    graded = boxes.grade(boxes.repository.fix().replace("Volume is right", f"Volume is{character}right"))
    assert (graded.verdict.outcome, graded.verdict.reason) == (Outcome.UNUSABLE, Reason.NOT_TEXT)


def test_output_that_is_not_utf8(boxes: Bench) -> None:
    """A test that prints such bytes does no harm."""
    sizes = boxes.repository.sources.fix["boxes/sizes.py"]
    assert isinstance(sizes, str)
    loud = sizes + '\n\nimport atexit, os\natexit.register(os.write, 1, b"caf\\xe9 \\xff\\n")\n'
    graded = boxes.grade(boxes.repository.fix({"boxes/sizes.py": loud}))
    assert resolved(graded)
    assert "caf\ufffd" in graded.log


def test_a_hunk_that_does_not_fit(boxes: Bench) -> None:
    """Nothing is guessed: the patch is refused whole, with the hunk that does not fit."""
    patch = boxes.repository.fix().replace(" width, height, depth = self.sides", " w, h, d = self.sides", 1)
    graded = boxes.grade(patch)
    assert graded.verdict.reason is Reason.PATCH_REJECTED
    assert "boxes/sizes.py" in graded.verdict.detail
    assert graded.record is not None
    assert not graded.record.steps, "nothing is run of it"


REFUSED = {
    "climbs out": ("boxes/unused.py", "../unused.py"),
    "absolute": ("boxes/unused.py", "/etc/unused.py"),
    "into .git": ("boxes/unused.py", ".git/hooks/post-checkout"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_patch_that_reaches_outside(boxes: Bench, name: str) -> None:
    """It is refused before anything is run."""
    old, new = REFUSED[name]
    patch = boxes.repository.fix({old: "UNUSED = 1\n"}).replace(old, new)
    graded = boxes.grade(patch)
    assert graded.verdict.reason is Reason.PATCH_REJECTED
    assert graded.record is None


def test_a_link_out_of_the_repository(boxes: Bench) -> None:
    """As is a link that leads out of it."""
    patch = boxes.repository.fix({"boxes/out": "../../etc"}, modes={"boxes/out": LINK})
    assert boxes.grade(patch).verdict.reason is Reason.PATCH_REJECTED


@pytest.mark.parametrize("text", ["", " \n", "I could not find the bug.\n"])
def test_no_patch(boxes: Bench, text: str) -> None:
    """Nothing is run."""
    graded = boxes.grade(text)
    assert graded.record is None
    assert graded.verdict.reason is (Reason.NOT_A_PATCH if text.strip() else Reason.EMPTY)


# Tests and configuration


def test_edits_of_graded_tests_are_dropped_and_listed(boxes: Bench) -> None:
    """The hidden tests decide, whatever the candidate did to theirs or put where they go."""
    edits = {
        "tests/test_sizes.py": "def test_nothing():\n    pass\n",
        "tests/test_stacks.py": "def test_two():\n    assert False\n",
    }
    right, wrong = boxes.grade(boxes.repository.fix(edits)), boxes.grade(boxes.repository.wrong(edits))
    assert resolved(right)
    assert set(right.dropped) == set(edits)
    assert {note.partition(" ")[0] for note in right.row.notes} == set(edits)
    assert wrong.verdict.reason is Reason.TESTS_FAILED


def test_deleted_tests_are_back(boxes: Bench) -> None:
    """Deleting graded tests, or moving them away, is not kept either."""
    tests = boxes.repository.text("tests/test_sizes.py")
    gone = boxes.grade(boxes.repository.fix({"tests/test_sizes.py": None}))
    moved = boxes.grade(boxes.repository.fix({"tests/test_sizes.py": None, "tests/test_old_sizes.py": tests}))
    assert resolved(gone)
    assert resolved(moved)
    assert "tests/test_sizes.py" in gone.dropped
    assert "tests/test_sizes.py" in moved.dropped


def test_edits_of_existing_configuration_are_kept(boxes: Bench) -> None:
    """A right patch may need another option or fixture: those edits count, and the fix relies on them here."""
    conftest = boxes.repository.text("conftest.py").replace("Size(2, 3, 4)", "Size(2, 3, 4, scale=1)")
    sizes = boxes.repository.sources.fix["boxes/sizes.py"]
    assert isinstance(sizes, str)
    scaled = sizes.replace("(self, width, height, depth)", "(self, width, height, depth, scale=1)")
    ini = "[pytest]\naddopts = --strict-markers -q\nfilterwarnings =\n    error\n"
    graded = boxes.grade(boxes.repository.fix({"conftest.py": conftest, "boxes/sizes.py": scaled, "pytest.ini": ini}))
    assert resolved(graded), graded.verdict
    assert not graded.dropped
    assert "test session starts" not in graded.log, "-q of the new pytest.ini"


def test_the_fix_is_installed_again_where_it_must_be(boxes: Bench) -> None:
    """A change of what describes the installation runs the install command, other changes do not."""
    config = boxes.repository.text("setup.cfg").replace("1.0", "1.1")
    again = boxes.grade(boxes.repository.fix({"setup.cfg": config}))
    plain = boxes.grade(boxes.repository.fix())
    assert resolved(again)
    assert resolved(plain)
    assert again.record is not None
    assert plain.record is not None
    assert [step.name for step in again.record.steps] == ["install", "tests"]
    assert [step.name for step in plain.record.steps] == ["tests"]


def test_an_installation_that_fails(boxes: Bench) -> None:
    """It is the candidate's: the tests are run all the same, and decide."""
    config = "[metadata\n"
    graded = boxes.grade(boxes.repository.fix({"setup.cfg": config}))
    assert graded.record is not None
    install = graded.record.step("install")
    assert install is not None
    assert install.exit_cause is ExitCause.EXITED
    assert graded.verdict.outcome in (Outcome.PASSED, Outcome.FAILED)


# Limits

SLOW = "import time\ntime.sleep(600)\n"
GREEDY = "KEPT = [bytearray(8 * 2**20) for _ in range(200)]\nfor block in KEPT:\n    block[::4096] = b'x' * 2048\n"
LOUD = "import os\nwhile True:\n    os.write(1, b'x' * 65536 + b'\\n')\n"
FULL = {
    "slow": (SLOW, Reason.WALL_TIME),
    "greedy": (GREEDY, Reason.MEMORY),
    "loud": (LOUD, Reason.OUTPUT),
}


@BOTH
@pytest.mark.parametrize("name", FULL)
def test_limits(bench: FindBench, name: str, sandbox: str) -> None:
    """Whoever reaches a limit has not resolved anything, and is told which limit it was."""
    here = bench("boxes", sandbox)
    program, reason = FULL[name]
    wall = 2.0 if name == "slow" else LIMITS.wall_seconds
    limits = dataclasses.replace(LIMITS, wall_seconds=wall, output_bytes=MIB)
    sizes = here.repository.sources.fix["boxes/sizes.py"]
    assert isinstance(sizes, str)
    graded = here.grade(here.repository.fix({"boxes/sizes.py": program + sizes}), limits=limits)
    assert not resolved(graded)
    assert (graded.verdict.outcome, graded.verdict.reason) == (Outcome.OVER_LIMIT, reason), graded.verdict


def test_a_limit_while_installing(boxes: Bench) -> None:
    """The tests are not reached, and the verdict says so."""
    limits = dataclasses.replace(LIMITS, wall_seconds=2.0)
    graded = boxes.grade(boxes.repository.fix({"setup.py": SLOW}), limits=limits)
    assert graded.verdict.reason is Reason.WALL_TIME
    assert "install" in graded.verdict.detail


# Workspaces


def test_two_workspaces_at_once(bench: FindBench) -> None:
    """Patches that write to the same places while the other runs do not see each other."""
    here = bench("boxes")
    spy = (
        "import os, time\n"
        "assert not os.path.exists('/tmp/mark') and not os.path.exists('/testbed/mark')\n"
        "open('/tmp/mark', 'w').close(); open('/testbed/mark', 'w').close()\n"
        "time.sleep(0.5)\n"
    )
    sizes = here.repository.sources.fix["boxes/sizes.py"]
    assert isinstance(sizes, str)
    patches = [here.repository.fix({"boxes/sizes.py": f"NUMBER = {number}\n{spy}{sizes}"}) for number in range(4)]
    pipeline = here.pipeline()
    running, most = 0, 0
    lock = threading.Lock()

    def run(job: RepositoryJob) -> RepositoryRecord:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        try:
            return pipeline.run(job)
        finally:
            with lock:
                running -= 1

    jobs = [pipeline.job(here.problem, patch) for patch in patches]
    records = dict(run_in_threads(jobs, run, 2))
    assert most == 2
    verdicts = [pipeline.judge(here.problem, records[job], here.controls()) for job in jobs]
    assert {verdict.outcome for verdict in verdicts} == {Outcome.PASSED}


@BOTH
def test_the_workspace_has_no_future(bench: FindBench, sandbox: str) -> None:
    """Neither the fix nor what came after it can be read in the repository that the candidate's code sees."""
    here = bench("boxes", sandbox)
    repository = here.repository
    with here.open() as workspace:
        for commit in (repository.fixed, repository.future):
            assert shell(workspace, f"git cat-file -e {commit}").exit_cause is not ExitCause.FINISHED
        assert shell(workspace, f"git cat-file -e {repository.base}").exit_cause is ExitCause.FINISHED
        said = shell(workspace, "git tag; git log --format=%s --all; git status --porcelain").output.decode()
    assert said.split("\n")[:2] == ["v1.0", "merge feature"]
    assert not {"fix", "test the fix", "go on", "v2.0"}.intersection(said.split("\n"))


def shell(workspace: Workspace, script: str) -> RunResult:
    """Run a script in a workspace."""
    return workspace.run(["bash", "-c", script], limits=RunLimits(wall_seconds=60.0))


SEARCH = """\
import os, subprocess, sys
found = []
for folder, folders, files in os.walk("/"):
    left_out = ("/proc", "/sys", "/dev", "/opt/python")
    folders[:] = [name for name in folders if os.path.join(folder, name) not in left_out]
    for name in files:
        try:
            with open(os.path.join(folder, name), "rb") as file:
                text = file.read()
        except OSError:
            continue
        for secret in SECRETS:
            if secret in text:
                found.append((folder, name, secret))
for number in filter(str.isdigit, os.listdir("/proc")):
    for name in ("cmdline", "environ"):
        try:
            with open("/proc/%s/%s" % (number, name), "rb") as file:
                text = file.read()
        except OSError:
            continue
        found += [(number, name, secret) for secret in SECRETS if secret in text]
print("SEARCHED", found)
"""


@BOTH
def test_hidden_tests_and_reference_are_not_there_during_the_installation(bench: FindBench, sandbox: str) -> None:
    """The candidate's own setup.py looks through every file and process: they come after it, from outside."""
    here = bench("boxes", sandbox)
    program = 'SECRETS = [b"height *" + b" depth", b"test_volume" + b"_of_a_crate", b"def test" + b"_two()"]\n' + SEARCH
    here.grade(here.repository.fix())  # the hidden files are known from here on
    graded = here.grade(here.repository.wrong({"setup.py": program}))
    assert graded.record is not None
    install = graded.record.step("install")
    assert install is not None
    assert "SEARCHED []" in install.output, install.output
    assert graded.verdict.reason is Reason.TESTS_FAILED, "and afterwards they are"


def test_a_sandbox_that_breaks_is_tried_again(bench: FindBench) -> None:
    """Three times; then the record says that the evidence is lost, and the verdict is nobody's fault but ours."""
    here = bench("boxes")
    calls: Iterator[int] = iter(range(100))

    class Breaking:
        name = "namespace"

        def open(self, *args: object, **options: object) -> Workspace:
            if next(calls) < breaks:
                raise SandboxFault("it broke")
            return here.place.sandbox.open(*args, **options)  # type: ignore[arg-type]

    place = dataclasses.replace(here.place, sandbox=Breaking())
    broken = dataclasses.replace(here, place=place, _known=[])
    breaks = 2
    again = broken.grade(here.repository.fix(), controls=here.controls())
    assert again.verdict.outcome is Outcome.PASSED
    breaks = 100
    lost = broken.grade(here.repository.fix(), controls=here.controls())
    assert (lost.verdict.outcome, lost.verdict.reason) == (Outcome.FAULT, Reason.SANDBOX_LOST)


def test_the_tree_is_the_repositorys(bench: FindBench) -> None:
    """What the set-up of tox edited without a commit is there when the tests run."""
    pages = bench("pages")
    with pages.open() as workspace:
        found = workspace.get(f"{WORK}/tox.ini")
    assert found is not None
    assert found.decode() == pages.repository.sources.built["tox.ini"]
