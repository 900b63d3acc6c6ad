"""A made-up specification, and one real, tiny build that several tests share."""

import os
import subprocess
from pathlib import Path

import pytest
from made_environments import HOST_MINOR, TINY, MakeSpec

from benchwright.environments import Environment, EnvSpec, build, parse_spec
from benchwright.environments.interpreters import find_uv


@pytest.fixture
def make_spec() -> MakeSpec:
    """Parse the made-up specification with another lock or with more TOML at its end."""

    def make(*, more: str = "", lock: str = "six==1.17.0 --hash=sha256:00\n") -> EnvSpec:
        return parse_spec(TINY + more, lambda name: lock)

    return make


@pytest.fixture(scope="session")
def six_lock() -> str:
    """A lock of one small wheel with its hashes, resolved now; skips when the registry cannot be reached."""
    uv = find_uv(os.environ)
    assert uv is not None
    options = ["--generate-hashes", "--no-header", "--no-annotate", "--quiet", "--python-version", HOST_MINOR]
    done = subprocess.run([uv, "pip", "compile", *options, "-"], input="six==1.17.0\n", capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip("the package registry cannot be reached")
    return done.stdout


@pytest.fixture(scope="session")
def tiny_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home folder of the shared build."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="session")
def tiny(six_lock: str, tiny_home: Path) -> Environment:
    """A real environment with one package, built once; tests must not change it."""
    return build(parse_spec(TINY, lambda name: six_lock), home=tiny_home, report=lambda line: None)
