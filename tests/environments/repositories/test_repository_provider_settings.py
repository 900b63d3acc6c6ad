"""Settings for sandbox providers that are not ours: their content, and one container started from them."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.core.errors import IsolationRefusedError, UsageError
from benchwright.core.execution import MIB
from benchwright.environments.repositories.images import ImageLayer, build_image, remove_image
from benchwright.environments.repositories.provider_settings import (
    compose_settings,
    pushed_reference,
    values_settings,
)
from benchwright.sandboxes.base import Image, WorkspaceLimits
from benchwright.sandboxes.docker import CAPABILITIES, DockerSandbox
from benchwright.sandboxes.users import user_mapping

sys.path.append(str(Path(__file__).parents[2] / "sandboxes"))
import sandbox_rootfs

yaml = pytest.importorskip("yaml", reason="YAML is read by the library that Inspect brings")

LIMITS = WorkspaceLimits(memory_bytes=512 * MIB, processes=100, scratch_bytes=64 * MIB)
IMAGE = Image(digest="d" * 64, reference="sha256:1", environ={"PATH": "/opt/env/bin:/bin", "LANG": "C.UTF-8"})
TAG = f"benchwright-test/settings-{os.getpid()}:latest"
PRINTABLE = st.text(st.characters(exclude_categories=("C", "Zl", "Zp")) | st.sampled_from("$(){}\"'\\\n\t:#"))


def compose(image: Image = IMAGE) -> dict[str, Any]:
    """The Compose file, read back."""
    read: dict[str, Any] = yaml.safe_load(
        compose_settings(image, LIMITS, tag="benchwright/a__b-1:latest", instance="i")
    )
    return read


def values(image: Image = IMAGE) -> dict[str, Any]:
    """The chart's values, read back."""
    read: dict[str, Any] = yaml.safe_load(values_settings(image, LIMITS, reference="registry/x:1", instance="i"))
    return read


def test_what_composes_file_says() -> None:
    """An image that is not pulled, no network, our limits and rights, a main process that sleeps."""
    assert compose() == {
        "services": {
            "default": {
                "image": "benchwright/a__b-1:latest",
                "x-local": True,
                "pull_policy": "never",
                "entrypoint": ["sleep"],
                "command": ["infinity"],
                "init": True,
                "stop_grace_period": "1s",
                "user": "0:0",
                "working_dir": "/testbed",
                "environment": {"PATH": "/opt/env/bin:/bin", "LANG": "C.UTF-8"},
                "network_mode": "none",
                "hostname": "sandbox",
                "extra_hosts": ["sandbox:127.0.0.1"],
                "cap_drop": ["ALL"],
                "cap_add": list(CAPABILITIES),
                "security_opt": ["no-new-privileges:true"],
                "mem_limit": "536870912",
                "memswap_limit": "536870912",
                "shm_size": "67108864",
                "pids_limit": 100,
                "ulimits": {"nofile": 16384, "core": 0, "fsize": 67108864},
            }
        },
        "x-benchwright": {"image_digest": "d" * 64},
    }


def test_what_the_charts_values_say() -> None:
    """An image that was pushed, nothing that opens the network, our limits and rights, the cluster's runtime."""
    resources = {"memory": "512Mi", "cpu": "2"}
    assert values() == {
        "services": {
            "default": {
                "image": "registry/x:1",
                "command": ["sleep", "infinity"],
                "workingDir": "/testbed",
                "env": [{"name": "LANG", "value": "C.UTF-8"}, {"name": "PATH", "value": "/opt/env/bin:/bin"}],
                "networkIsolated": True,
                "runtimeClassName": "CLUSTER_DEFAULT",
                "resources": {
                    "requests": {**resources, "ephemeral-storage": "1Gi"},
                    "limits": {**resources, "ephemeral-storage": "64Mi"},
                },
                "securityContext": {
                    "runAsUser": 0,
                    "allowPrivilegeEscalation": False,
                    "capabilities": {"drop": ["ALL"], "add": list(CAPABILITIES)},
                },
            }
        }
    }


def test_inspect_reads_composes_file(tmp_path: Path) -> None:
    """Its own reader, which refuses fields that it does not know, takes the file."""
    util = pytest.importorskip("inspect_ai.util")
    path = tmp_path / "compose.yaml"
    path.write_text(compose_settings(IMAGE, LIMITS, tag="benchwright/a__b-1:latest", instance="i"))
    service = util.parse_compose_yaml(str(path)).services["default"]
    assert (service.image, service.network_mode, service.mem_limit) == (
        "benchwright/a__b-1:latest",
        "none",
        "536870912",
    )


@given(PRINTABLE)
def test_whatever_a_variable_holds(value: str) -> None:
    """It is neither taken for YAML nor for a reference to another variable."""
    image = Image(digest="d", environ={"NAME": value})
    assert compose(image)["services"]["default"]["environment"]["NAME"].replace("$$", "$") == value
    assert values(image)["services"]["default"]["env"][0]["value"].replace("$$(", "$(") == value


def test_references_to_variables_are_escaped() -> None:
    """Neither Compose nor Kubernetes fills anything in."""
    image = Image(digest="d", environ={"NAME": "$A ${B} $(C)"})
    assert compose(image)["services"]["default"]["environment"]["NAME"] == "$$A $${B} $$(C)"
    assert values(image)["services"]["default"]["env"][0]["value"] == "$A ${B} $$(C)"


def test_an_image_in_a_registry() -> None:
    """Its name is the engine's below the registry, its tag the content's digest."""
    name = pushed_reference("registry.example.org:5000/team/", "benchwright/a__b-1:latest", "0123456789abcdef" * 4)
    assert name == "registry.example.org:5000/team/benchwright/a__b-1:0123456789abcdef"


@pytest.mark.parametrize(
    "registry", ["", "https://registry.example.org", "registry.example.org/Team", "a b", "a:tag/x"]
)
def test_a_registry_that_no_image_can_be_in(registry: str) -> None:
    """It is refused, with what was expected."""
    with pytest.raises(UsageError, match="without a scheme"):
        pushed_reference(registry, "benchwright/a__b-1:latest", "d" * 64)


@pytest.fixture
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Image]:
    """A small root file system as an image; skips where there is no engine with Compose 2."""
    sandbox = DockerSandbox()
    try:
        sandbox.engine.facts  # noqa: B018
    except IsolationRefusedError as error:
        pytest.skip(str(error))
    version = sandbox.engine.call("compose", "version", "--short")
    if version.status != 0 or not version.text.removeprefix("v").startswith("2"):
        pytest.skip(f"the engine's client has no Compose of version 2: {version.complaint}")
    rootfs = sandbox_rootfs.built_once(tmp_path_factory.getbasetemp())
    layers = [ImageLayer(path=rootfs, digest=f"settings-{os.getpid()}")]
    environ = {**sandbox_rootfs.image().environ, "ODD": "a $HOME $$ \"b\" 'c'"}
    yield build_image(sandbox.engine, layers, tag=TAG, environ=environ, owner=user_mapping())
    remove_image(sandbox.engine, TAG)


def test_a_container_of_composes_file(image: Image, tmp_path: Path) -> None:
    """It starts, commands run in it as in one of ours, and it has no network."""
    (tmp_path / "compose.yaml").write_text(compose_settings(image, LIMITS, tag=TAG, instance="i"))
    program = "import json, os, socket; print(json.dumps([os.getcwd(), os.environ['ODD'], socket.if_nameindex()]))"

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["docker", "compose", *words], cwd=tmp_path, capture_output=True, text=True)

    try:
        up = run("up", "--detach", "--wait")
        assert up.returncode == 0, up.stderr
        done = run("exec", "-T", "default", "python3", "-c", program)
        assert json.loads(done.stdout) == ["/testbed", image.environ["ODD"], [[1, "lo"]]], done.stderr
    finally:
        run("down", "--timeout", "0")
