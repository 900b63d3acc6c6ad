"""``bw env settings``."""

import json
from pathlib import Path

import pytest
from little_home import SOUND, BuiltHome
from running_bw import Run, start_bw

from benchwright.core.errors import IsolationRefusedError
from benchwright.sandboxes.docker import DockerSandbox


def test_benchmarks_without_repositories_have_none(bw: Run) -> None:
    """They are refused."""
    done = bw("env", "settings", "starter", "--for", "docker", "--out", "out")
    assert done.returncode == 2
    assert done.stderr == "bw: Only benchmarks of repositories have settings for sandboxes, and starter is none.\n"


@pytest.mark.namespaces
@pytest.mark.slow
def test_settings_of_built_instances(bw: Run, built: BuiltHome, tmp_path: Path) -> None:
    """Each has a folder with its file; instances that are not built are refused by name."""
    arguments = ("env", "settings", "repositories", *built.rows, "--ids", SOUND, "--out", "out")
    refused = bw(*arguments, "--for", "docker")
    assert refused.returncode == 2 and f"({SOUND}); give `bw env build" in refused.stderr
    try:
        DockerSandbox().engine.facts  # noqa: B018
    except IsolationRefusedError as error:
        pytest.skip(str(error))
    home = {"BENCHWRIGHT_HOME": str(built.home)}
    done = start_bw(tmp_path, *arguments, "--for", "docker", "--json", **home)
    assert done.returncode == 0, done
    written = json.loads(done.stdout)
    assert written["files"] == {SOUND: f"out/{SOUND}/compose.yaml"}
    image = written["images"][SOUND]
    assert f'image: "{image}"' in (tmp_path / written["files"][SOUND]).read_text()
    done = start_bw(tmp_path, *arguments, "--for", "k8s", "--registry", "registry.example.org/team", **home)
    assert done.returncode == 0 and "now give the images to the registry: out/push-images.sh" in done.stdout
    DockerSandbox().engine.call("image", "rm", image)
