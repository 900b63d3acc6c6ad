"""Specifications: the shipped ones are sound, and their digest names what matters."""

import dataclasses
import re

import pytest
from made_environments import MakeSpec

from benchwright.core.errors import UnknownNameError, UsageError
from benchwright.environments import Tier, load_spec, spec_names
from benchwright.environments.interpreters import minor_versions

DATA = """
[[data]]
name = "words"
path = "corpora/words"
digest = "d"
sources = ["package"]
[data.package]
name = "p"
version = "1"
sha256 = "s"
folder = "f"
"""


def test_the_shipped_environments_are_these() -> None:
    """Names are part of the command line."""
    assert spec_names() == ("bigcodebench", "bigcodebench-light", "starter")


@pytest.mark.parametrize("name", spec_names())
def test_every_lock_pins_with_hashes_and_names_no_place(name: str) -> None:
    """Each requirement has an exact version and a hash; no address or path of a machine is in the lock."""
    spec = load_spec(name)
    blocks = re.split(r"\n(?=\S)", spec.lock_text.strip())
    assert spec.name == name
    assert len(blocks) == len(spec.packages)
    assert all(re.match(r"[\w.-]+==[\w.]+", block) and "--hash=sha256:" in block for block in blocks)
    assert not re.search(r"://|/(root|home|tmp|opt)/|--index|--find-links", spec.lock_text)


@pytest.mark.parametrize("name", spec_names())
def test_every_specification_is_complete(name: str) -> None:
    """There is a lightest tier, a Python, smoke modules, and a reason for each deviation."""
    spec = load_spec(name)
    assert spec.tiers[0].name == "light"
    assert minor_versions(spec.python)
    assert spec.smoke
    assert all(one.reason and one.official and one.ours for one in spec.deviations)


def test_the_light_environment_has_the_versions_of_the_full_one() -> None:
    """A task that runs in both meets the same packages."""
    assert set(load_spec("bigcodebench-light").packages) < set(load_spec("bigcodebench").packages)


def test_the_full_environment_has_the_official_pins_but_one() -> None:
    """Packages that decide most tasks have the official versions, and the one that moved is named."""
    spec = load_spec("bigcodebench")
    official = {"numpy==1.21.2", "pandas==2.0.3", "scipy==1.7.2", "matplotlib==3.7.0", "tensorflow==2.11.0"}
    assert official | {"scikit-image==0.19.3"} <= set(spec.packages)
    assert ("scikit-image", "0.18.0", "0.19.3") in {(d.package, d.official, d.ours) for d in spec.deviations}


def test_an_unknown_name_is_answered_with_near_misses() -> None:
    """A typing error is told the right spelling."""
    with pytest.raises(UnknownNameError, match="did you mean bigcodebench"):
        load_spec("bigcodbench")


@pytest.mark.parametrize(
    "change",
    [
        {"lock_text": "six==1.16.0"},
        {"python": "3.12"},
        {"build_constraints": ("setuptools<70",)},
        {"variables": {"MPLBACKEND": "svg"}},
        {"data": ()},
    ],
    ids=lambda change: next(iter(change)),
)
def test_the_digest_changes_with_what_code_can_notice(make_spec: MakeSpec, change: dict[str, object]) -> None:
    """Lock, Python, build pins, variables and data each give another digest."""
    spec = make_spec(more=DATA)
    assert dataclasses.replace(spec, **change).digest != spec.digest


def test_the_digest_changes_with_a_data_digest(make_spec: MakeSpec) -> None:
    """Other contents of a data file are another environment."""
    assert make_spec(more=DATA).digest != make_spec(more=DATA.replace('"d"', '"e"')).digest


def test_the_digest_ignores_what_code_cannot_notice(make_spec: MakeSpec) -> None:
    """A better title, other tiers or another size estimate do not ask for a new build."""
    spec = make_spec()
    other = dataclasses.replace(spec, title="x", tiers=(Tier(name="light", preload=()),), size_mib=2, smoke=())
    assert other.digest == spec.digest


def test_markers_and_continuations_are_no_part_of_a_package(make_spec: MakeSpec) -> None:
    """``packages`` reads name and version out of a lock line, whatever follows."""
    lock = 'a==1 ; sys_platform == "win32" \\\n    --hash=sha256:00\nb==2\n# c==3\n'
    assert make_spec(lock=lock).packages == ("a==1", "b==2")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("[[[", "not valid TOML"),
        ("[[deviations]]\npackage = 'x'", "missing or wrong field"),
        ("[[system_tools]]\ncommand = 'x'\ncolour = 'red'", "missing or wrong field"),
        ("[[data]]\nname='x'\npath='p'\ndigest='d'\nsources=['web']", "'index' and 'package'"),
        ("[[data]]\nname='x'\npath='p'\ndigest='d'\nsources=['package']", "'index' and 'package'"),
    ],
)
def test_a_wrong_specification_is_named(make_spec: MakeSpec, more: str, message: str) -> None:
    """Broken TOML, missing and unknown fields and impossible sources are usage errors."""
    with pytest.raises(UsageError, match=message):
        make_spec(more=more)
