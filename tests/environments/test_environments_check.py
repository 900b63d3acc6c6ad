"""Proving an environment, and planning one."""

import dataclasses
import os
import sys
from pathlib import Path

import pytest
from made_environments import HOST_MINOR, MakeSpec, put_environment

from benchwright.core.errors import UsageError
from benchwright.environments import (
    CheckFinding,
    Environment,
    FindingKind,
    check,
    default_home,
    load_spec,
    open_built,
    open_environment,
    plan,
    spec_names,
)
from benchwright.environments.check import version_findings
from benchwright.environments.environment import BuiltData
from benchwright.environments.spec import SystemTool


def test_a_sound_environment_has_no_findings(tiny: Environment) -> None:
    """Everything the specification names imports."""
    assert check(tiny) == []


def test_a_module_that_does_not_import_is_a_serious_finding(tiny: Environment) -> None:
    """Each is named with the exception."""
    broken = dataclasses.replace(tiny, spec=dataclasses.replace(tiny.spec, smoke=("six", "no_such_module")))
    (finding,) = check(broken)
    assert (finding.kind, finding.subject, finding.serious) == (FindingKind.IMPORT, "no_such_module", True)
    assert "ModuleNotFoundError" in finding.detail


def test_versions_are_compared_by_normalised_name() -> None:
    """Spelling with dots, dashes or capitals makes no difference; a version or an absence does."""
    locked = ("Zope.Interface==7.0", "six==1.17.0", "gone==1")
    findings = version_findings(locked, {"zope-interface": "7.0", "six": "1.16.0"})
    assert [(one.subject, one.detail) for one in findings] == [
        ("six", "1.16.0 is installed instead of 1.17.0"),
        ("gone", "nothing is installed instead of 1"),
    ]


def test_missing_data_is_a_note_and_lost_data_is_serious(tiny: Environment) -> None:
    """What could not be had when building is known; what has gone since is damage."""
    never = BuiltData(name="words", path="corpora/words", present=False, origin="", digest="", note="no network")
    lost = BuiltData(name="punkt", path="tokenizers/punkt", present=True, origin="x", digest="d", note="")
    manifest = dataclasses.replace(tiny.manifest, data=(never, lost))
    found = {one.subject: (one.kind, one.serious) for one in check(dataclasses.replace(tiny, manifest=manifest))}
    assert found == {"words": (FindingKind.DATA, False), "punkt": (FindingKind.DATA, True)}


def test_a_missing_program_is_a_note(tiny: Environment) -> None:
    """Programs outside Python are not ours to install; their absence is said."""
    tool = SystemTool(command="no-such-program", debian_package="nsp", needed_by="task 1")
    with_tool = dataclasses.replace(tiny, spec=dataclasses.replace(tiny.spec, system_tools=(tool,)))
    detail = "task 1; Debian package nsp"
    assert check(with_tool) == [
        CheckFinding(kind=FindingKind.TOOL, subject="no-such-program", detail=detail, serious=False)
    ]


def test_a_plan_changes_nothing(make_spec: MakeSpec, tmp_path: Path) -> None:
    """It says what would be built, from which Python, and creates no folder."""
    found = plan(make_spec(), home=tmp_path / "home")
    assert not found.built
    assert found.packages == 1
    assert found.interpreter is not None
    assert found.interpreter.minor == HOST_MINOR
    assert found.problem == ""
    assert not (tmp_path / "home").exists()


def test_a_plan_knows_what_is_built(make_spec: MakeSpec, tmp_path: Path) -> None:
    """An environment of this very lock counts as built."""
    put_environment(make_spec(), tmp_path)
    assert plan(make_spec(), home=tmp_path).built
    assert not plan(make_spec(lock="a==1\n"), home=tmp_path).built


def test_a_plan_says_why_it_cannot_be_done(make_spec: MakeSpec, tmp_path: Path) -> None:
    """No Python of that version, or too little space, is told as a problem."""
    spec = make_spec()
    no_python = plan(dataclasses.replace(spec, python="3.8"), home=tmp_path, environ={"PATH": ""})
    assert no_python.interpreter is None
    assert "No Python 3.8" in no_python.problem
    assert "are free" in plan(dataclasses.replace(spec, size_mib=10**12), home=tmp_path).problem


def built(name: str) -> Environment:
    """The user's own environment of that name; skips when it is not built."""
    try:
        return open_environment(name, default_home(os.environ))
    except UsageError as error:
        pytest.skip(str(error))


def top_level_modules(environment: Environment) -> set[str]:
    """Names that can be imported from its packages, without private and standard ones."""
    (site,) = environment.prefix.glob("lib/python*/site-packages")
    names = set()
    for path in site.iterdir():
        name = path.name.split(".")[0]
        if path.suffix in (".dist-info", ".libs", ".pth") or not name.isidentifier() or name.startswith("_"):
            continue
        if path.suffix in (".py", ".so") or any(one.suffix in (".py", ".so") for one in path.rglob("*")):
            names.add(name)
    return names - sys.stdlib_module_names


def test_the_light_environment_knows_what_it_lacks() -> None:
    """``unavailable_modules`` is the difference of the two environments, when both are built here."""
    full, light = built("bigcodebench"), built("bigcodebench-light")
    assert set(light.unavailable_modules) == top_level_modules(full) - top_level_modules(light)


@pytest.mark.slow
@pytest.mark.parametrize("name", spec_names())
def test_the_environments_built_here_are_sound(name: str) -> None:
    """Every module of the specification and of its tiers imports in the user's own environment."""
    assert [one for one in check(built(name)) if one.serious] == []


def test_open_built_and_open_environment_agree(tmp_path: Path) -> None:
    """The name is only a way to the specification."""
    put_environment(load_spec("starter"), tmp_path)
    assert open_environment("starter", tmp_path) == open_built(load_spec("starter"), tmp_path)
