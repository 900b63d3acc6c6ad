"""Fixtures of the use cases: a home of one's own, and schedulers that execute nothing."""

import shutil
from pathlib import Path

import pytest
from agent_pieces import PRICES, AgentRuns
from app_pieces import ScriptedFactory, private_home
from verify_pieces import functions_bundle, patches_bundle


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A benchwright home with built environments and no records."""
    return private_home(tmp_path / "home")


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> ScriptedFactory:
    """Gradings and control runs execute nothing; every job passes unless the script is changed."""
    factory = ScriptedFactory()
    monkeypatch.setattr("benchwright.app.grading.LocalScheduler", factory)
    monkeypatch.setattr("benchwright.app.controls.LocalScheduler", factory)
    return factory


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AgentRuns:
    """Runs in which nothing has to be built."""
    return AgentRuns(tmp_path, monkeypatch).nothing_is_built()


@pytest.fixture
def prices(tmp_path: Path) -> Path:
    """A price for the scripted model."""
    path = tmp_path / "prices.toml"
    path.write_text(PRICES, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def bundle_of_functions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundle of functions, made once; not to be changed."""
    return functions_bundle(tmp_path_factory.mktemp("functions"))


@pytest.fixture
def bundle(bundle_of_functions: Path, tmp_path: Path) -> Path:
    """A copy of the bundle of functions."""
    return shutil.copy(bundle_of_functions, tmp_path / "a.bw.zip")


@pytest.fixture(scope="session")
def bundle_of_patches(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundle of patches, made once; not to be changed."""
    return patches_bundle(tmp_path_factory.mktemp("patches"))


@pytest.fixture
def patches(bundle_of_patches: Path, tmp_path: Path) -> Path:
    """A copy of the bundle of patches."""
    return shutil.copy(bundle_of_patches, tmp_path / "p.bw.zip")
