"""Writing settings for Inspect's own sandboxes, with environments that are only named."""

import os
import subprocess
from pathlib import Path

import pytest

from benchwright.app.repositories import provider_settings
from benchwright.app.repositories.provider_settings import Provider, write_settings
from benchwright.app.repositories.selection import Selection
from benchwright.app.repositories.setups import Selected
from benchwright.app.workspace import Workspace
from benchwright.benchmarks.repositories import RepositorySet
from benchwright.benchmarks.swebench.rows import to_problem
from benchwright.core.errors import MachineError, UsageError
from benchwright.core.repositories import RepositoryProblem
from benchwright.execution.repositories import Place
from benchwright.grading.repositories import Setup
from benchwright.sandboxes.base import Image
from benchwright.sandboxes.docker import DockerSandbox

SELECTION = Selection(benchmark="repositories")
REGISTRY = "registry.example.org/team"


def problem(name: str) -> RepositoryProblem:
    """A row."""
    row = {
        "instance_id": name,
        "repo": "o/n",
        "version": "1",
        "base_commit": "a" * 40,
        "problem_statement": "x",
        "patch": "the reference",
        "test_patch": "tests",
        "FAIL_TO_PASS": ["t"],
        "PASS_TO_PASS": [],
        "created_at": "2020-05-01T10:00:00Z",
    }
    return to_problem(row, benchmark="repositories")


def setup(digest: str) -> Setup:
    """A setup whose image is only named."""
    image = Image(digest=digest * 64, reference=f"sha256:{digest}", environ={"PATH": "/bin"})
    return Setup(
        place=Place(sandbox=DockerSandbox(), image=image),
        parser="pytest",
        runner="pytest",
        tests="pytest",
        install="true",
        needs_install=lambda paths: False,
        environ={},
        project_modules=frozenset(),
        official_script="",
    )


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Selection]:
    """What was selected; two instances are there, and a third cannot be had."""
    selections: list[Selection] = []

    def select(selection: Selection, workspace: Workspace) -> Selected:
        selections.append(selection)
        problems = RepositorySet(
            benchmark="repositories",
            subset="all",
            version="",
            source="made up",
            digest="",
            pinned=False,
            problems=tuple(problem(name) for name in ("o__n-1", "O__n-2", "o__n-3")),
        )
        return Selected(
            problems=problems,
            setups={"o__n-1": setup("1"), "O__n-2": setup("2")},
            unavailable={"o__n-3": "it needs Python 3.99"},
        )

    monkeypatch.setattr(provider_settings, "select", select)
    return selections


def write(tmp_path: Path, provider: Provider, registry: str | None = None) -> provider_settings.WrittenSettings:
    """Write below the temporary folder."""
    workspace = Workspace(home=tmp_path / "home")
    return write_settings(SELECTION, provider, tmp_path / "out", workspace, registry=registry)


def test_one_folder_per_instance(asked: list[Selection], tmp_path: Path) -> None:
    """The images are those of the docker sandbox; what cannot be had is said."""
    written = write(tmp_path, Provider.DOCKER)
    assert asked[0].sandbox == "docker"
    assert written.unavailable == {"o__n-3": "it needs Python 3.99"}
    assert written.images == {"o__n-1": "benchwright/o__n-1:latest", "O__n-2": "benchwright/o__n-2:latest"}
    assert written.push_script is None
    found = {str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert found == {"o__n-1/compose.yaml", "O__n-2/compose.yaml"}
    text = written.files["o__n-1"].read_text()
    assert 'image: "benchwright/o__n-1:latest"' in text and 'mem_limit: "17179869184"' in text


def test_images_for_a_cluster(asked: list[Selection], tmp_path: Path) -> None:
    """The settings name what the script pushes, and the script takes the very images that were made."""
    written = write(tmp_path, Provider.K8S, REGISTRY)
    reference = f"{REGISTRY}/benchwright/o__n-2:2222222222222222"
    assert written.images["O__n-2"] == reference
    assert f'image: "{reference}"' in (tmp_path / "out" / "O__n-2" / "values.yaml").read_text()
    assert written.push_script is not None
    client = tmp_path / "docker"
    client.write_text('#!/bin/sh\necho "$@"\n')
    client.chmod(0o755)
    done = subprocess.run(
        [written.push_script],
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
    )
    first = f"{REGISTRY}/benchwright/o__n-1:1111111111111111"
    assert done.stdout.splitlines() == [
        f"tag sha256:1 {first}",
        f"push {first}",
        f"tag sha256:2 {reference}",
        f"push {reference}",
    ]


def test_they_are_written_again(asked: list[Selection], tmp_path: Path) -> None:
    """A second time replaces the files."""
    first = write(tmp_path, Provider.DOCKER).files["o__n-1"]
    first.write_text("old")
    assert write(tmp_path, Provider.DOCKER).files["o__n-1"].read_text() != "old"


@pytest.mark.parametrize(
    ("provider", "registry", "message"),
    [
        (Provider.K8S, None, "give it with --for k8s"),
        (Provider.DOCKER, REGISTRY, "give it with --for k8s"),
        (Provider.K8S, "https://registry", "without a scheme"),
    ],
)
def test_registries_that_are_refused(
    asked: list[Selection], tmp_path: Path, provider: Provider, registry: str | None, message: str
) -> None:
    """Before any image is made."""
    with pytest.raises(UsageError, match=message):
        write(tmp_path, provider, registry)
    assert asked == []


def test_pulled_images_are_refused(tmp_path: Path) -> None:
    """They have the later history, which nobody would cut."""
    workspace = Workspace(home=tmp_path / "home")
    with pytest.raises(UsageError, match="later history"):
        write_settings(
            Selection(benchmark="swebench-verified", images="official"), Provider.DOCKER, tmp_path, workspace
        )


def test_a_folder_that_cannot_be_written(asked: list[Selection], tmp_path: Path) -> None:
    """The message says which."""
    (tmp_path / "out").write_text("a file")
    with pytest.raises(MachineError, match="out"):
        write(tmp_path, Provider.DOCKER)
