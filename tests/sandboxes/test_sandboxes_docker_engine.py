"""What is said about engines that are missing, silent, too old or too weak; no engine is needed."""

import io
import json
from pathlib import Path
from typing import IO

import pytest
from fake_engines import fake_client, info

from benchwright.core.errors import IsolationRefusedError, MachineError, SandboxFault, UsageError
from benchwright.sandboxes.base import Image, WorkspaceLimits
from benchwright.sandboxes.containers.engine import Engine
from benchwright.sandboxes.docker import DockerSandbox

LIMITS = WorkspaceLimits(memory_bytes=1 << 28, processes=64, scratch_bytes=1 << 26)
IMAGE = Image(digest="0" * 64, reference="some/image:latest")


def refusal(client: Path | str) -> str:
    """What is said when a workspace is asked for; the same class of error each time."""
    with pytest.raises(IsolationRefusedError) as caught:
        DockerSandbox(str(client)).open(IMAGE, LIMITS)
    return str(caught.value)


def test_a_missing_client_is_named(tmp_path: Path) -> None:
    """Without the command there is no sandbox, and the sentence says what to install or to use instead."""
    said = refusal(tmp_path / "docker")
    assert "'docker'" in said and "install Docker Engine 20.10" in said and "namespace" in said


@pytest.mark.parametrize(
    ("errors", "advice"),
    [
        (
            "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
            "start it",
        ),
        ("permission denied while trying to connect to the Docker daemon socket", "group `docker`"),
        ("something new", "info`"),
    ],
)
@pytest.mark.parametrize("new_client", [True, False])
def test_an_engine_that_does_not_answer(tmp_path: Path, errors: str, advice: str, new_client: bool) -> None:
    """The complaint is quoted with what to do, whether the client fails or prints a description without a server."""
    answer = (1, "", errors) if new_client else (0, json.dumps({"ServerErrors": [errors]}), "")
    said = refusal(fake_client(tmp_path, {"info": answer}).path)
    assert errors.rstrip(".") in said and advice in said


def test_an_engine_that_prints_no_description(tmp_path: Path) -> None:
    """Something else called docker is refused, not trusted."""
    assert "No container engine answers" in refusal(fake_client(tmp_path, {"info": (0, "hello", "")}).path)


@pytest.mark.parametrize("version", ["19.03.15", "18.09", "1.13.1", "20.9.1"])
def test_an_engine_that_is_too_old(tmp_path: Path, version: str) -> None:
    """Engines before 20.10 are refused by their version."""
    said = refusal(fake_client(tmp_path, {"info": info(ServerVersion=version)}).path)
    assert f"version {version}; 20.10 or newer" in said


def test_engines_that_can_be_used(tmp_path: Path) -> None:
    """Newer ones, unnamed builds and Podman, which describes itself in its own way, are told apart and taken."""
    for version in ("20.10.24+dfsg1", "29.0.0", "library-import"):
        facts = Engine(str(fake_client(tmp_path, {"info": info(ServerVersion=version)}).path)).facts
        assert (facts.kind, facts.version, facts.architecture, facts.backing) == ("docker", version, "x86_64", "extfs")
    podman = {
        "host": {"arch": "arm64"},
        "version": {"Version": "4.3.1"},
        "store": {"graphStatus": {"Backing Filesystem": "xfs"}},
    }
    facts = Engine(str(fake_client(tmp_path, {"info": (0, json.dumps(podman), "")}).path)).facts
    assert (facts.kind, facts.version, facts.architecture, facts.backing) == ("podman", "4.3.1", "aarch64", "xfs")
    podman["version"] = {"Version": "3.4.4"}
    assert "podman engine has version 3.4.4; 4.0" in refusal(
        fake_client(tmp_path, {"info": (0, json.dumps(podman), "")}).path
    )


def test_an_engine_without_limits_is_refused(tmp_path: Path) -> None:
    """An engine that would ignore the limits is not used."""
    said = refusal(fake_client(tmp_path, {"info": info(MemoryLimit=False, PidsLimit=False)}).path)
    assert "cannot limit memory and the number of processes" in said


def working(run: tuple[int, str, str]) -> dict[str, tuple[int, str, str]]:
    """The answers of an engine that does everything but what is under test."""
    return {"info": info(), "ps": (0, "", ""), "run": run, "rm": (0, "", "")}


@pytest.mark.parametrize(
    ("errors", "kind", "said"),
    [
        (
            "docker: Error response from daemon: No such image: some/image:latest.",
            UsageError,
            "no image some/image:latest",
        ),
        ("Unable to find image 'some/image:latest' locally\ndocker: Error", UsageError, "build it"),
        ("docker: write /x: no space left on device.", MachineError, "disk is full"),
        ("docker: Error response from daemon: something else.", SandboxFault, "something else"),
    ],
)
def test_a_container_that_does_not_start(tmp_path: Path, errors: str, kind: type[Exception], said: str) -> None:
    """What the engine complains about decides whose fault it is; what it may have made is removed."""
    client = fake_client(tmp_path, working((125, "", errors)))
    with pytest.raises(kind, match=said):
        DockerSandbox(str(client.path)).open(IMAGE, LIMITS)
    (run,) = [words for words in client.asked if words[0] == "run"]
    assert client.asked[-1] == ["rm", "-f", "-v", run[run.index("--name") + 1]]


def test_what_a_container_is_started_with(tmp_path: Path) -> None:
    """No network, few capabilities, limits, nothing pulled: the settings that isolate are all there."""
    client = fake_client(tmp_path, working((1, "", "stopped here")))
    with pytest.raises(SandboxFault):
        DockerSandbox(str(client.path)).open(IMAGE, LIMITS, shared={"/in side": tmp_path})
    words = " ".join(next(words for words in client.asked if words[0] == "run"))
    for setting in (
        "--pull never", "--network none", "--cap-drop ALL", "--security-opt no-new-privileges", "--pids-limit 65",
        f"--memory {1 << 28} --memory-swap {1 << 28}", f"fsize={1 << 26}:{1 << 26}", "--ipc private",
        f'type=bind,"source={tmp_path}","target=/in side",readonly',
    ):  # fmt: skip
        assert setting in words
    assert "--privileged" not in words and "SYS_ADMIN" not in words and "--storage-opt" not in words


def test_a_quota_is_asked_for_where_there_may_be_one(tmp_path: Path) -> None:
    """Above XFS the engine is asked for a quota; when it refuses once, it is not asked again."""
    answers = [
        ("info", *info(DriverStatus=[["Backing Filesystem", "xfs"]])),
        ("ps", 0, "", ""),
        ("rm", 0, "", ""),
        ("run --storage-opt", 125, "", "docker: --storage-opt is supported only for overlay over xfs with 'pquota'"),
        ("run", 125, "", "docker: stopped here"),
    ]
    client = fake_client(tmp_path, answers)
    sandbox = DockerSandbox(str(client.path))
    for _ in range(2):
        with pytest.raises(SandboxFault, match="stopped here"):
            sandbox.open(IMAGE, LIMITS)
    runs = [words for words in client.asked if words[0] == "run"]
    assert [words[1] == "--storage-opt" for words in runs] == [True, False, False]
    assert runs[0][2] == f"size={1 << 26}"


def test_what_no_container_can_give(tmp_path: Path) -> None:
    """Layers, keeping a layer, a folder that is not there, an impossible variable: the engine is not even asked."""
    client = fake_client(tmp_path, {})
    sandbox = DockerSandbox(str(client.path))
    with pytest.raises(UsageError, match="made of layers"):
        sandbox.open(Image(digest="0" * 64, layers=(tmp_path,)), LIMITS)
    with pytest.raises(UsageError, match="cannot keep"):
        sandbox.open(IMAGE, LIMITS, keep=tmp_path / "kept")
    with pytest.raises(UsageError, match="not there"):
        sandbox.open(IMAGE, LIMITS, shared={"/inside": tmp_path / "missing"})
    with pytest.raises(UsageError, match="absolute path"):
        sandbox.open(IMAGE, LIMITS, shared={"inside": tmp_path})
    with pytest.raises(UsageError, match="environment variable"):
        sandbox.open(Image(digest="0" * 64, reference="x", environ={"A=B": "c"}), LIMITS)
    assert client.asked == []


def test_an_engine_that_hangs(tmp_path: Path) -> None:
    """A call that takes too long is a fault of the sandbox."""
    path = tmp_path / "docker"
    path.write_text("#!/bin/sh\nexec sleep 60\n")
    path.chmod(0o755)
    with pytest.raises(SandboxFault, match="did not answer within 0 s"):
        Engine(str(path)).call("ps", seconds=0.2)


def test_feeding_a_client(tmp_path: Path) -> None:
    """What is written arrives; a client that stops reading tells why; an error while writing ends the client."""
    path = tmp_path / "docker"
    path.write_text("#!/bin/sh\n[ $1 = load ] && exec cat\necho full >&2\nexit 1\n")
    path.chmod(0o755)
    engine = Engine(str(path))

    def much(stream: IO[bytes]) -> None:
        stream.write(b"x" * 3_000_000)

    assert engine.feed("load", write=much).output == b"x" * 3_000_000
    refused = engine.feed("no", write=much)
    assert (refused.status, refused.complaint) == (1, "full")

    def breaks(stream: IO[bytes]) -> None:
        stream.write(b"some")
        raise io.UnsupportedOperation("the source broke")

    with pytest.raises(io.UnsupportedOperation):
        engine.feed("load", write=breaks)
    with pytest.raises(IsolationRefusedError):
        Engine(str(tmp_path / "none")).feed("load", write=lambda stream: None)
