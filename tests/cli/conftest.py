"""Makes the helpers of tests/app importable here, and runs the program."""

import sys
from pathlib import Path

import pytest
from little_home import BuiltHome, built_home
from running_bw import Done, Run

from benchwright.cli.main import main

sys.path.append(str(Path(__file__).parents[1] / "app"))


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> BuiltHome:
    """A home in which the environments of a little repository are built."""
    return built_home(tmp_path_factory.mktemp("built"))


@pytest.fixture
def bw(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Calls the entry point of ``bw`` in the temporary folder, with a benchwright home below it."""

    def run(*arguments: object, **variables: str) -> Done:
        monkeypatch.chdir(tmp_path)
        for name, value in {"BENCHWRIGHT_HOME": str(tmp_path / "home"), "NO_COLOR": "1", **variables}.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(sys, "argv", ["bw", *map(str, arguments)])
        capfd.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        sys.stdout.flush()
        captured = capfd.readouterr()
        code = ended.value.code
        return Done(returncode=code if isinstance(code, int) else 0, stdout=captured.out, stderr=captured.err)

    return run
