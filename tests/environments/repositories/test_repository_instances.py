"""Environments of problems: their steps with a scripted sandbox, and one real build from clone to tests."""

import json
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from made_histories import run_git
from made_layers import ScriptedSandbox, ScriptedWorkspace, make_key, make_problem, put_files
from made_root import archive_of_this_machine

from benchwright.core.errors import MachineError, UsageError
from benchwright.core.repositories import RepositoryProblem
from benchwright.environments.interpreters import find_uv
from benchwright.environments.repositories.installing import Inventory
from benchwright.environments.repositories.instances import (
    Built,
    RepositoryEnvironments,
    check_no_other_release,
    offline_environ,
)
from benchwright.environments.repositories.layers import LayerKind
from benchwright.environments.repositories.pythons import UnavailableError
from benchwright.environments.repositories.rootfs import RootfsChoice
from benchwright.environments.repositories.spec import RepositorySpec, Runner
from benchwright.sandboxes.base import RunLimits, WorkspaceLimits
from benchwright.sandboxes.namespace import NamespaceSandbox

MINOR = ".".join(map(str, sys.version_info[:2]))

SPEC = RepositorySpec(
    repo="acme/rockets",
    version="1",
    source="made up",
    python="3.9",
    test="pytest",
    runner=Runner.PYTEST,
    log_parser="pytest",
    packages=(("six",),),
    requirement_files=("requirements.txt",),
    pre_install=("sed -i s/a/b/ setup.py",),
    install="python -m pip install -e .",
    requirement=".[test]",
)

ROW = {"installed": [["rockets", "1.0", "file:///testbed"], ["six", "1.16.0", ""]], "own": [["rockets", "1.0"]]}


class Answers:
    """Plays every program of a build; what it was asked is in the sandbox's list of scripts."""

    def __init__(self) -> None:
        self.inventory: Mapping[str, object] = ROW
        self.lacking = ["hatchling"]
        self.fails: dict[str, str] = {}
        self.resolved = "rockets @ file:///testbed\nsix==1.16.0\n-e .\nattrs[x]==23.1.0 ; python_version > '3'\n"
        self.installed: list[str] = []
        self.build_requirements: list[str] = []
        self.offline: list[str] = []

    def __call__(self, script: str, workspace: ScriptedWorkspace) -> tuple[int, str]:
        for part, output in self.fails.items():
            if part in script:
                return 1, output
        if "pip install -e" in script:
            return self._install(workspace)
        if "pip compile" in script and "lock.txt" in script:
            workspace.put("/tmp/lock.txt", self.resolved.encode())
        elif "pip compile" in script:
            self.build_requirements.append((workspace.get("/tmp/build-requirement.txt") or b"").decode().strip())
        elif "--no-deps --python" in script:
            self.installed += (workspace.get("/tmp/lock.txt") or b"").decode().splitlines()
            workspace.put("/opt/env/lib/attrs.py", b"attrs")
        elif "inventory" in script:
            return 0, json.dumps({**self.inventory, "wheels": ["setuptools-72.0-py3-none-any.whl"]})
        elif "sed" in script:
            workspace.put("/testbed/setup.py", b"edited")
        return 0, " M setup.py\n" if "status" in script else ""

    def _install(self, workspace: ScriptedWorkspace) -> tuple[int, str]:
        self.offline.append(workspace.environ.get("PIP_NO_INDEX", ""))
        if self.lacking:
            return 1, f"ERROR: No matching distribution found for {self.lacking.pop(0)}\n"
        workspace.put("/testbed/rockets.egg-info/PKG-INFO", b"Name: rockets\n")
        return 0, ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A home with a root file system and an interpreter, a clone, and problems of it."""

    environments: RepositoryEnvironments
    sandbox: ScriptedSandbox
    answers: Answers
    problem: RepositoryProblem
    later: RepositoryProblem
    clone: Path
    lines: list[str]

    def build(self, *problems: RepositoryProblem, size_cap: int | None = None) -> list[tuple[Built, str]]:
        """What a build comes to."""
        report = self.environments.build(problems, report=self.lines.append, size_cap=size_cap)
        return [(outcome.built, outcome.message) for outcome in report.outcomes]


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    """Two commits of a repository, the second of which the first must not know."""
    clone = tmp_path / "clone"
    clone.mkdir()
    run_git(clone, "init", "--quiet", "--initial-branch", "main")
    for text in ("first", "second"):
        (clone / "setup.py").write_text(f"# {text}\n")
        (clone / "requirements.txt").write_text("flake8\n")
        (clone / "pyproject.toml").write_text('[build-system]\nrequires = ["setuptools>=60"]\n')
        run_git(clone, "add", ".")
        run_git(clone, "commit", "--quiet", "-m", text)
    first, second = run_git(clone, "rev-list", "--reverse", "HEAD").split()
    answers = Answers()
    sandbox = ScriptedSandbox(answers)
    environments = RepositoryEnvironments(
        tmp_path / "home",
        sandbox,
        sources={"acme/rockets": clone},
        specs={("acme/rockets", "1"): SPEC, ("acme/rockets", "old"): replace(SPEC, version="old", python="3.5")},
        environ={"PATH": "/usr/bin:/bin"},
    )
    store = environments.store
    rootfs = put_files(store, RootfsChoice().key(), {"usr/bin/bash": ""})
    python = make_key("3.9.18", kind=LayerKind.PYTHON)
    put_files(store, python, {"opt/env/bin/python3": ""}, lower=[rootfs])
    problem = make_problem(base_commit=first, environment_commit=first)
    later = make_problem(id="acme__rockets-2", base_commit=second, environment_commit=first)
    return Scene(
        environments=environments,
        sandbox=sandbox,
        answers=answers,
        problem=problem,
        later=later,
        clone=clone,
        lines=[],
    )


def test_a_build_gives_an_image(scene: Scene) -> None:
    """The stack is complete, the checkout is edited and installed, and what was downloaded is in the layer."""
    assert scene.environments.image(scene.problem) is None
    assert scene.build(scene.problem) == [(Built.BUILT, "")]
    image = scene.environments.image(scene.problem)
    layers = scene.environments.stack(scene.problem)
    assert image is not None
    assert layers is not None
    assert [layer.key.kind.value for layer in layers] == ["rootfs", "python", "environment", "instance"]
    assert image.layers == tuple(layer.path for layer in layers)
    top = image.layers[-1]
    assert (top / "testbed/setup.py").read_text() == "edited"
    assert (top / "testbed/rockets.egg-info/PKG-INFO").is_file()
    assert (top / "opt/env/lib/attrs.py").read_text() == "attrs"
    assert image.environ["PIP_NO_INDEX"] == "1"
    assert image.workdir == "/testbed"
    assert scene.environments.build([scene.problem], report=scene.lines.append).counted(Built.KEPT) == 1
    assert not list((scene.environments.store.root / "layers").glob(".*"))


def test_the_projects_requirements_are_installed_without_the_project(scene: Scene) -> None:
    """Of what was resolved, releases are installed; paths, which are the project itself, are not."""
    scene.build(scene.problem)
    assert scene.answers.installed == ["six==1.16.0", "attrs[x]==23.1.0 ; python_version > '3'"]


def test_the_installation_has_no_network(scene: Scene) -> None:
    """The official command runs offline, and a build requirement that it lacks is fetched before it runs again."""
    scene.build(scene.problem)
    assert scene.answers.offline == ["1", "1"]
    assert scene.answers.build_requirements[-2:] == ["setuptools>=60", "hatchling"]
    assert [network for _, _, network in scene.sandbox.opened] == [True, True, False, True, False]
    manifest = _instance(scene, scene.problem)
    assert manifest.made.facts["build_requirements_found"] == ["hatchling"]


def test_a_requirement_that_stays_lacking_ends_the_build(scene: Scene) -> None:
    """It is not fetched for ever; the last message is told."""
    scene.answers.lacking = ["hatchling"] * 100
    ((built, message),) = scene.build(scene.problem)
    assert built is Built.FAILED
    assert "python -m pip install -e ." in message
    assert "No matching distribution found for hatchling" in message
    assert 90 < len(scene.answers.lacking) < 100


def test_the_manifest_tells_what_was_built(scene: Scene) -> None:
    """Commit, edited files, versions, the proof of the history, and the commands in order."""
    scene.build(scene.problem)
    made = _instance(scene, scene.problem).made
    assert made.facts["base_commit"] == scene.problem.base_commit
    assert made.facts["edited"] == [" M setup.py"]
    assert made.facts["history"]["commits"] == 1
    assert made.versions == (("rockets", "1.0"), ("six", "1.16.0"))
    assert made.commands.index("sed -i s/a/b/ setup.py") < made.commands.index("python -m pip install -e .")
    environment = scene.environments.stack(scene.problem)
    assert environment is not None
    assert environment[2].manifest.made.facts["requirements"] == ["flake8"]


def test_a_failing_instance_does_not_stop_the_others(scene: Scene) -> None:
    """A commit that the clone lacks, a version without specification, and a good one in one call."""
    lost = make_problem(id="acme__rockets-9", base_commit="9" * 40, environment_commit=scene.problem.base_commit)
    unknown = make_problem(id="acme__rockets-8", version="8")
    outcomes = scene.build(lost, unknown, scene.problem, scene.later)
    assert [built for built, _ in outcomes] == [Built.FAILED, Built.FAILED, Built.BUILT, Built.BUILT]
    assert f"lacks the commit {'9' * 40}" in outcomes[0][1]
    assert "no environment specification" in outcomes[1][1]
    report = scene.environments.build([lost], report=scene.lines.append)
    assert len(report.failures) == 1


def test_without_an_interpreter_an_instance_is_unavailable(scene: Scene) -> None:
    """Building lists it so, asking for the image says so, and planning counts it; none of it is a failure."""
    old = make_problem(id="acme__rockets-5", version="old")
    ((built, message),) = scene.build(old)
    assert built is Built.UNAVAILABLE
    assert "No Python 3.5" in message
    with pytest.raises(UnavailableError, match=r"acme__rockets-5 needs Python 3\.5"):
        scene.environments.image(old)
    plan = scene.environments.plan([old, scene.problem])
    assert plan.unavailable == 1
    assert [one.interpreter for one in plan.environments] == ["built", ""]


def test_a_plan_sees_what_is_built(scene: Scene) -> None:
    """Before, between and after."""
    both = [scene.problem, scene.later]
    assert scene.environments.plan(both).built == 0
    scene.build(scene.problem)
    plan = scene.environments.plan(both)
    assert plan.built == 1
    assert plan.environments[0].missing == (scene.later.id,)
    assert plan.cost.bytes > 0
    scene.build(scene.later)
    assert scene.environments.plan(both).cost.bytes == 0


def test_the_size_cap_leaves_out_what_comes_later(scene: Scene) -> None:
    """What is built already counts as kept even then."""
    scene.build(scene.problem)
    outcomes = scene.build(scene.problem, scene.later, size_cap=1)
    assert [built for built, _ in outcomes] == [Built.KEPT, Built.LEFT_OUT]
    assert "size cap" in outcomes[1][1]


def test_instances_share_all_but_what_differs(scene: Scene) -> None:
    """Equal files of two checkouts are one file on disk."""
    scene.build(scene.problem, scene.later)
    one, two = (scene.environments.image(problem) for problem in (scene.problem, scene.later))
    assert one is not None
    assert two is not None
    paths = [image.layers[-1] / "testbed/requirements.txt" for image in (one, two)]
    assert len({path.stat().st_ino for path in paths}) == 1
    assert one.digest != two.digest


def test_a_large_checkout_stands_on_an_older_one(scene: Scene, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Its own layer has only what differs; the older files are a layer below it, which a bundle takes along."""
    monkeypatch.setattr("benchwright.environments.repositories.instances.MANY_FOLDERS", 0)
    run_git(scene.clone, "checkout", "--quiet", "--orphan", "large")
    for date, text in (("2020-01-31", "old"), ("2020-03-31", "older half"), ("2020-06-30", "new")):
        (scene.clone / "setup.py").write_text(f"# {text}\n")
        (scene.clone / "docs").mkdir(exist_ok=True)
        (scene.clone / "docs" / "same").write_text("same\n")
        run_git(scene.clone, "add", ".")
        when = {"GIT_COMMITTER_DATE": f"{date}T12:00:00Z", "GIT_AUTHOR_DATE": f"{date}T12:00:00Z"}
        run_git(scene.clone, "commit", "--quiet", "-m", text, environ=when)
    first, second, third = run_git(scene.clone, "rev-list", "--reverse", "HEAD").split()
    newest = make_problem(id="acme__rockets-7", base_commit=third, environment_commit=scene.problem.base_commit)
    oldest = make_problem(id="acme__rockets-6", base_commit=first, environment_commit=scene.problem.base_commit)
    assert [built for built, _ in scene.build(newest, oldest)] == [Built.BUILT, Built.BUILT]
    layers = scene.environments.stack(newest)
    assert layers is not None
    tree, own = layers[-2:]
    assert tree.key.kind is LayerKind.TREE
    assert tree.manifest.made.facts["commit"] == second
    assert (tree.path / "testbed/setup.py").read_text() == "# older half\n"
    assert not (tree.path / "testbed/.git").exists()
    assert (own.path / "testbed/setup.py").read_text() == "edited"
    assert not (own.path / "testbed/docs").exists()
    assert own.manifest.made.facts["history"]["commits"] == 3
    alone = scene.environments.stack(oldest)
    assert alone is not None
    assert LayerKind.TREE not in {layer.key.kind for layer in alone}
    scene.environments.pack([newest], tmp_path / "bundle")
    other = RepositoryEnvironments(tmp_path / "other", scene.sandbox, specs={("acme/rockets", "1"): SPEC}, environ={})
    other.unpack(tmp_path / "bundle")
    there = other.stack(newest)
    assert there is not None
    assert [layer.key for layer in there] == [layer.key for layer in layers]


def test_where_uv_cannot_build_the_project_pip_installs_its_requirements(scene: Scene) -> None:
    """As in the official installation; the manifest has it among the deviations."""
    scene.answers.fails = {"pip freeze": "Failed to build rockets"}
    scene.answers.lacking = []
    assert scene.build(scene.problem) == [(Built.BUILT, "")]
    assert scene.answers.offline == ["", "1"]
    assert any("requirements of .[test]" in text for text in _instance(scene, scene.problem).made.deviations)


def test_a_step_that_fails_is_told(scene: Scene) -> None:
    """The message has the command and its last lines, and the next build goes on from the finished layers."""
    scene.answers.fails = {"sed": "sed: can't read setup.py"}
    ((built, message),) = scene.build(scene.problem)
    assert built is Built.FAILED
    assert "sed -i s/a/b/ setup.py" in message
    assert "can't read" in message
    assert len(scene.environments.store.layers(LayerKind.ENVIRONMENT)) == 1
    scene.answers.fails = {}
    before = len(scene.sandbox.scripts)
    assert scene.build(scene.problem) == [(Built.BUILT, "")]
    assert not any("group.txt" in script for script in scene.sandbox.scripts[before:])


def test_removing_takes_the_instance_and_collecting_the_rest(scene: Scene) -> None:
    """Removing frees the problem's own layer; collecting to nothing empties the store."""
    scene.build(scene.problem)
    assert scene.environments.remove([scene.problem, scene.later]) > 0
    assert scene.environments.image(scene.problem) is None
    assert len(scene.environments.store.layers()) == 3
    assert len(scene.environments.collect(0).removed) == 3


def test_a_bundle_brings_instances_to_another_home(scene: Scene, tmp_path: Path) -> None:
    """There they open without clone, uv or interpreter; what is not built cannot be packed."""
    with pytest.raises(UsageError, match="acme__rockets-1"):
        scene.environments.pack([scene.problem], tmp_path / "bundle")
    scene.build(scene.problem)
    scene.environments.pack([scene.problem], tmp_path / "bundle")
    other = RepositoryEnvironments(
        tmp_path / "other", scene.sandbox, specs={("acme/rockets", "1"): SPEC}, environ={"PATH": ""}
    )
    assert other.unpack(tmp_path / "bundle").instances == (scene.problem.id,)
    here, there = scene.environments.image(scene.problem), other.image(scene.problem)
    assert here is not None
    assert there is not None
    assert there.digest == here.digest


def test_without_uv_nothing_can_be_built(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says how to get it."""
    monkeypatch.setattr("benchwright.environments.repositories.instances.find_uv", lambda environ: None)
    with pytest.raises(MachineError, match="pip install uv"):
        scene.build(scene.problem)


def _found(
    *installed: tuple[str, str, str], own: tuple[tuple[str, str], ...] = (), wheels: tuple[str, ...] = ()
) -> Inventory:
    return Inventory(installed=installed, own=own, wheels=wheels)


@pytest.mark.parametrize(
    "found",
    [
        _found(("Sphinx", "7.0", ""), own=(("sphinx", "3.3.0"),)),
        _found(("rockets", "1.0", "file:///testbed"), ("Rockets", "2.0", "")),
        _found(("rockets", "1.0", "file:///testbed"), wheels=("rockets-2.0-py3-none-any.whl",)),
        _found(own=(("rocket.s", "1"),), wheels=("rocket_s-1-py3-none-any.whl",)),
    ],
    ids=["installed", "twice", "wheel", "spelling"],
)
def test_another_release_of_the_project_is_refused(found: Inventory) -> None:
    """Installed or as a wheel, it may hold the solution."""
    with pytest.raises(MachineError, match=r"(?i)rocket|sphinx"):
        check_no_other_release(found, "acme/rockets")


def test_the_project_itself_is_no_other_release() -> None:
    """Linked to the checkout, or copied at the version that the checkout has."""
    check_no_other_release(
        _found(("rockets", "1.0", "file:///testbed"), ("six", "1.16.0", ""), wheels=("wheel-1-py3-none-any.whl",)), "x"
    )
    check_no_other_release(_found(("rockets", "1.0", ""), own=(("Rockets", "1.0"),)), "x")


def test_commands_get_the_specifications_variables_too() -> None:
    """Those of the specification win."""
    variables = offline_environ(replace(SPEC, environ={"LANG": "en_US.UTF-8", "PIP_FIND_LINKS": "/x"}))
    assert (variables["LANG"], variables["PIP_NO_INDEX"], variables["PIP_FIND_LINKS"]) == ("en_US.UTF-8", "1", "/x")


def _instance(scene: Scene, problem: RepositoryProblem):  # type: ignore[no-untyped-def]
    layers = scene.environments.stack(problem)
    assert layers is not None
    return layers[-1].manifest


PROJECT = {
    "setup.py": "from setuptools import setup\nsetup(name='rockets', version='1.0', py_modules=['rockets'],"
    " install_requires=['six==1.16.0'])\n",
    "pyproject.toml": "[build-system]\nrequires = ['setuptools>=64']\nbuild-backend = 'setuptools.build_meta'\n",
    "rockets.py": "import six\nSTAGES = 2\n",
    "test_rockets.py": "import unittest, rockets\n\n\nclass T(unittest.TestCase):\n"
    "    def test_stages(self):\n        self.assertEqual(rockets.STAGES, 3)\n",
}


@pytest.mark.slow
@pytest.mark.namespaces
def test_a_real_build_runs_its_tests(tmp_path: Path) -> None:
    """From a clone with a future to a workspace without network in which the project is installed and can be again."""
    clone = tmp_path / "clone"
    clone.mkdir()
    run_git(clone, "init", "--quiet")
    for stages in (2, 3):
        for name, text in PROJECT.items():
            (clone / name).write_text(text.replace("STAGES = 2", f"STAGES = {stages}"))
        run_git(clone, "add", ".")
        run_git(clone, "commit", "--quiet", "-m", f"{stages} stages")
    base, future = run_git(clone, "rev-list", "--reverse", "HEAD").split()
    uv = find_uv(os.environ)
    assert uv is not None
    archive = archive_of_this_machine(tmp_path, uv)
    if archive is None:
        pytest.skip("this machine lacks one of the programs that the root file system is made of")
    spec = replace(
        SPEC,
        python=MINOR,
        packages=(),
        requirement_files=(),
        build_requires_extra=("setuptools>=64", "wheel"),
        requirement=".",
        pre_install=("sed -i 's/^STAGES = 2/STAGES = 4/' rockets.py",),
        editable=True,
    )
    sandbox = NamespaceSandbox()
    environments = RepositoryEnvironments(
        tmp_path / "home",
        sandbox,
        sources={"acme/rockets": clone},
        specs={("acme/rockets", "1"): spec},
        rootfs=RootfsChoice(tarball=archive),
        environ={**os.environ, "PATH": f"{Path(sys.base_prefix, 'bin')}:{os.environ['PATH']}"},
    )
    problem = make_problem(base_commit=base, environment_commit=base)
    (outcome,) = environments.build([problem], report=lambda line: None).outcomes
    if outcome.built is Built.UNAVAILABLE or re.search(
        "Failed to fetch|error sending request|dns error", outcome.message
    ):
        pytest.skip(f"this machine cannot build it: {outcome.message}")
    assert outcome.built is Built.BUILT, outcome.message
    image = environments.image(problem)
    assert image is not None
    limits = WorkspaceLimits(memory_bytes=2**30, processes=100, scratch_bytes=2**30)
    with sandbox.open(image, limits) as workspace:

        def run(script: str) -> tuple[int | None, str]:
            done = workspace.run(["bash", "-c", script], limits=RunLimits(wall_seconds=300.0))
            return done.exit_status, done.output.decode()

        assert run("python -m unittest test_rockets")[0] == 1
        assert run("git status --porcelain --untracked-files=no") == (0, " M rockets.py\n")
        assert run("git rev-list --count --all") == (0, "1\n")
        assert run(f"git cat-file -e {future}")[0] != 0
        workspace.put("/testbed/rockets.py", b"STAGES = 3\n")
        assert run("python -m unittest test_rockets")[0] == 0
        status, output = run("python -m pip install -e .")
        assert status == 0, output
        assert run("python -m unittest test_rockets")[0] == 0
        assert run("cat /opt/env/lib/python*/site-packages/__pycache__/six.*.pyc > /dev/null")[0] == 0
