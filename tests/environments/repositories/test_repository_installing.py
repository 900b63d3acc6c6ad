"""Layers of packages: what decides them, in which order things are installed, what goes into the wheelhouse."""

import datetime
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from made_layers import ScriptedSandbox, ScriptedWorkspace, make_key, make_store, put_files

from benchwright.core.errors import MachineError, UsageError
from benchwright.environments.repositories.installing import (
    build_requirements,
    environment_key,
    environment_layer,
    extra_locales,
    normal_name,
    system_key,
    system_layer,
    uv_variables,
)
from benchwright.environments.repositories.layers import Layer, LayerKind, LayerStore, Made
from benchwright.environments.repositories.spec import RepositorySpec, Runner
from benchwright.environments.repositories.workbench import Workbench

SPEC = RepositorySpec(
    repo="acme/rockets",
    version="1",
    source="made up",
    python="3.9",
    test="pytest",
    runner=Runner.PYTEST,
    log_parser="pytest",
    base_packages=("pip",),
    packages=(("six==1.16.0",), ("pytest",)),
    build_requires_extra=("setuptools>=40", "setuptools==38.2.4", "numpy"),
    packages_until=datetime.date(2024, 8, 15),
    deviations=("it is made up",),
)


class Packages:
    """Plays uv and pip: notes what is installed, resolves each requirement to a fixed release."""

    def __init__(self, *, fails: str = "") -> None:
        self.installed: list[list[str]] = []
        self.by_pip: list[list[str]] = []
        self.wheels: list[str] = []
        self.environ: dict[str, str] = {}
        self._fails = fails

    def __call__(self, script: str, workspace: ScriptedWorkspace) -> tuple[int, str]:
        self.environ = workspace.environ
        if "uv pip install" in script:
            return self._install(_lines(workspace, "/tmp/group.txt"), self.installed)
        if "-m pip install" in script:
            return self._install(_lines(workspace, "/tmp/group.txt"), self.by_pip, by_pip=True)
        if "uv pip compile" in script:
            (requirement,) = _lines(workspace, "/tmp/build-requirement.txt")
            name = re.split("[<>=]", requirement)[0]
            version = requirement.partition("==")[2] or "72.0"
            return 0, f"{name}=={version}\nwheel==0.44.0\n"
        if "-m pip wheel" in script:
            pins = script.split("--wheel-dir /opt/wheelhouse ")[1].split()
            assert len({pin.partition("==")[0] for pin in pins}) == len(pins), "pip refuses two versions at once"
            self.wheels += [f"{pin.replace('==', '-')}-py3-none-any.whl" for pin in pins]
            return 0, ""
        if "inventory" in script:
            return 0, json.dumps({"installed": [["six", "1.16.0", ""]], "own": [], "wheels": self.wheels})
        return 0, ""

    def _install(self, group: list[str], into: list[list[str]], *, by_pip: bool = False) -> tuple[int, str]:
        if self._fails in group and not by_pip:
            return 1, f"Failed to build {self._fails}"
        into.append(group)
        return 0, ""


def _lines(workspace: ScriptedWorkspace, path: str) -> list[str]:
    return (workspace.get(path) or b"").decode().split()


@pytest.fixture
def store(tmp_path: Path) -> LayerStore:
    """An empty store."""
    return make_store(tmp_path / "home")


@pytest.fixture
def below(store: LayerStore) -> tuple[Layer, ...]:
    """A root file system and an interpreter."""
    rootfs = put_files(
        store,
        make_key("debian", kind=LayerKind.ROOTFS, digest="0"),
        {"etc/hosts": ""},
        made=Made(versions=(("git", "1"),)),
    )
    python = put_files(
        store, make_key("3.9.18", kind=LayerKind.PYTHON, digest="1"), {"opt/env/bin/x": ""}, lower=[rootfs]
    )
    return rootfs, python


def bench_of(store: LayerStore, sandbox: ScriptedSandbox, tmp_path: Path) -> Workbench:
    """A bench with something that says that it is uv."""
    uv = tmp_path / "uv"
    uv.write_text("#!/bin/sh\necho uv 1.0.0\n")
    uv.chmod(0o755)
    return Workbench(sandbox, store, environ={}, uv=uv)


def built(
    packages: Packages, store: LayerStore, below: Sequence[Layer], tmp_path: Path, spec: RepositorySpec = SPEC
) -> Layer:
    """The environment layer as those packages make it."""
    bench = bench_of(store, ScriptedSandbox(packages), tmp_path)
    return environment_layer(bench, store, spec, commit="c" * 40, requirements=("flake8", "sphinx"), below=below)


def test_groups_are_installed_in_order(store: LayerStore, below: tuple[Layer, ...], tmp_path: Path) -> None:
    """Base packages, then the repository's own list, then each group of the specification by itself."""
    packages = Packages()
    layer = built(packages, store, below, tmp_path)
    assert packages.installed == [["pip"], ["flake8", "sphinx"], ["six==1.16.0"], ["pytest"]]
    assert packages.environ["UV_EXCLUDE_NEWER"] == "2024-08-16T00:00:00Z"
    manifest = layer.manifest
    assert manifest.lower == tuple(one.key.digest for one in below)
    assert manifest.made.versions == (("six", "1.16.0"),)
    assert manifest.made.deviations == SPEC.deviations
    assert manifest.made.facts["python"] == "3.9.18"


def test_the_wheelhouse_holds_every_version_asked_for(
    store: LayerStore, below: tuple[Layer, ...], tmp_path: Path
) -> None:
    """Two build requirements may name one package; both are fetched, and nothing twice."""
    packages = Packages()
    built(packages, store, below, tmp_path)
    assert sorted(packages.wheels) == [
        "numpy-72.0-py3-none-any.whl",
        "setuptools-38.2.4-py3-none-any.whl",
        "setuptools-72.0-py3-none-any.whl",
        "wheel-0.44.0-py3-none-any.whl",
    ]


def test_what_uv_cannot_build_is_left_to_pip(store: LayerStore, below: tuple[Layer, ...], tmp_path: Path) -> None:
    """The group goes to pip, and the manifest says so among the deviations."""
    packages = Packages(fails="six==1.16.0")
    layer = built(packages, store, below, tmp_path)
    assert packages.by_pip == [["six==1.16.0"]]
    assert packages.installed == [["pip"], ["flake8", "sphinx"], ["pytest"]]
    assert any("six==1.16.0" in text and "pip" in text for text in layer.manifest.made.deviations)


def test_other_failures_of_uv_are_told(store: LayerStore, below: tuple[Layer, ...], tmp_path: Path) -> None:
    """A conflict of versions is nobody's to mend by trying on."""
    sandbox = ScriptedSandbox(lambda script, workspace: (1, "× No solution found when resolving dependencies"))
    with pytest.raises(MachineError, match="No solution found"):
        environment_layer(
            bench_of(store, sandbox, tmp_path), store, SPEC, commit="c" * 40, requirements=(), below=below
        )
    assert store.layers(LayerKind.ENVIRONMENT) == ()


def test_constraints_reach_uv_and_pip(store: LayerStore, below: tuple[Layer, ...], tmp_path: Path) -> None:
    """Both installers read the same file."""
    packages = Packages(fails="six==1.16.0")
    spec = replace(SPEC, constraints=("attrs<20",))
    sandbox = ScriptedSandbox(packages)
    environment_layer(bench_of(store, sandbox, tmp_path), store, spec, commit="c" * 40, requirements=(), below=below)
    assert packages.environ["UV_CONSTRAINT"] == "/tmp/constraints.txt"
    assert any("-m pip install" in one and "--constraint /tmp/constraints.txt" in one for one in sandbox.scripts)
    assert "UV_CONSTRAINT" not in uv_variables(SPEC)
    assert uv_variables(replace(SPEC, packages_until=None)) == {}


def test_the_key_holds_what_decides_the_packages(below: tuple[Layer, ...]) -> None:
    """Packages, constraints, dates and lower layers count; the version, its test command and its words do not."""
    key = environment_key(SPEC, "c" * 40, below)
    same = replace(SPEC, version="2", test="tox", install="pip install .", deviations=(), pre_install=("true",))
    assert environment_key(same, "d" * 40, below) == key
    others = (
        replace(SPEC, packages=(("six",),)),
        replace(SPEC, constraints=("a<1",)),
        replace(SPEC, packages_until=None),
        replace(SPEC, base_packages=()),
        replace(SPEC, build_requires_extra=()),
        replace(SPEC, conda_names={"a": "b"}),
    )
    keys = [environment_key(spec, "c" * 40, below) for spec in others]
    assert len({key, *keys, environment_key(SPEC, "c" * 40, below[:1])}) == len(others) + 2


def test_the_commit_counts_only_where_its_files_are_read(below: tuple[Layer, ...]) -> None:
    """With a requirement file, another commit may list other packages."""
    spec = replace(SPEC, requirement_files=("requirements.txt",))
    assert environment_key(spec, "c" * 40, below) != environment_key(spec, "d" * 40, below)


def test_system_packages_make_a_layer_of_their_own(store: LayerStore, below: tuple[Layer, ...], tmp_path: Path) -> None:
    """Specifications that ask for the same have one; those that ask for nothing have none."""
    rootfs = below[0]
    versions = "git 1\ngraphviz 2.42\n"
    sandbox = ScriptedSandbox(lambda script, workspace: (0, versions if "dpkg-query" in script else ""))
    bench = bench_of(store, sandbox, tmp_path)
    spec = replace(SPEC, system_packages=("graphviz",), locales=("en_US.UTF-8", "de_DE.ISO-8859-1"))
    layer = system_layer(bench, store, spec, rootfs)
    assert layer is not None
    assert layer.manifest.made.versions == (("graphviz", "2.42"),)
    assert any("install graphviz" in script for script in sandbox.scripts)
    assert any("de_DE.ISO-8859-1 ISO-8859-1" in script for script in sandbox.scripts)
    assert extra_locales(spec) == ("de_DE.ISO-8859-1",)
    assert system_layer(bench, store, replace(spec, version="2"), rootfs) == layer
    assert system_key(SPEC, rootfs) is None
    assert system_key(replace(SPEC, system_packages=("git",)), rootfs) is None
    assert system_layer(bench, store, SPEC, rootfs) is None
    assert system_key(replace(SPEC, locales=("en_US.UTF-8",)), rootfs) is None


def test_build_requirements_are_read_from_pyproject() -> None:
    """Those that are listed; none without the table or the file; a broken file is named."""
    text = '[build-system]\nrequires = ["flit_core<4", "wheel"]\n'
    assert build_requirements(text, name="x") == ("flit_core<4", "wheel")
    assert build_requirements("[tool.black]\n", name="x") == ()
    assert build_requirements(None, name="x") == ()
    with pytest.raises(UsageError, match="rockets"):
        build_requirements("[build-system\n", name="rockets")


@pytest.mark.parametrize("name", ["Setuptools_SCM", "setuptools-scm", "setuptools.scm", "setuptools--scm"])
def test_names_of_distributions_are_compared_in_one_spelling(name: str) -> None:
    """Case, dots, dashes and underscores make no difference."""
    assert normal_name(name) == "setuptools-scm"
