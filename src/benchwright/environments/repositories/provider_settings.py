"""Settings with which sandbox providers that are not ours open the environments: Inspect's ``docker`` and ``k8s``.

Both texts are YAML whose scalars are written as JSON, which YAML includes.  Facts about what the providers read:
Inspect 0.3.285 (``util/_sandbox/docker``, ``util/_sandbox/compose.py``) and inspect_k8s_sandbox 0.13.0 (chart
``agent-env``: ``values.schema.json``, ``templates/services.yaml``).
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from benchwright.core.errors import UsageError
from benchwright.sandboxes.base import Image, WorkspaceLimits
from benchwright.sandboxes.docker import CAPABILITIES

Node: TypeAlias = "str | int | bool | Sequence[str] | Sequence[Mapping[str, str]] | Mapping[str, Node]"

ENGINE_NEEDED = "Docker Engine 24.0.6 and Compose 2.21.0"
"""What Inspect's ``docker`` provider refuses to go below (``util/_sandbox/docker/prereqs.py``)."""

CHART_NEEDED = "inspect_k8s_sandbox 0.3.0"
"""The first whose chart takes ``networkIsolated``."""

_SLEEP = ("sleep", "infinity")
_HOST_NAME = "sandbox"  # as in our own sandboxes
_OPEN_FILES = 16_384
_CPUS = "2"
"""Of a pod; the chart's own half a core makes test suites several times slower than their time limits expect."""
_DISK_REQUEST = "1Gi"
"""What a node must have left for a pod to be put there: far more than most write, far less than they may."""
_MIB = 1024 * 1024

_PREFIX = re.compile(r"[a-z0-9][a-z0-9.-]*(?::[0-9]+)?(?:/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*")


def compose_settings(image: Image, limits: WorkspaceLimits, *, tag: str, instance: str) -> str:
    """The ``compose.yaml`` of an instance for Inspect's ``docker`` provider.

    The container is as one of our ``docker`` sandbox: no network, few capabilities, the same limits.

    Args:
        image: What the engine has.
        limits: What everything in the container may use together; ``scratch_bytes`` limits each file.
        tag: The engine's name for the image.
        instance: Whose it is.
    """
    environ: dict[str, Node] = {name: _for_compose(value) for name, value in sorted(image.environ.items())}
    service: dict[str, Node] = {
        "image": tag,
        "x-local": True,
        "pull_policy": "never",
        "entrypoint": _SLEEP[:1],
        "command": _SLEEP[1:],
        "init": True,
        "stop_grace_period": "1s",
        "user": "0:0",
        "working_dir": image.workdir,
        "environment": environ,
        "network_mode": "none",
        "hostname": _HOST_NAME,
        "extra_hosts": (f"{_HOST_NAME}:127.0.0.1",),
        "cap_drop": ("ALL",),
        "cap_add": CAPABILITIES,
        "security_opt": ("no-new-privileges:true",),
        "mem_limit": str(limits.memory_bytes),
        "memswap_limit": str(limits.memory_bytes),
        "shm_size": str(limits.scratch_bytes),
        "pids_limit": limits.processes,
        "ulimits": {"nofile": _OPEN_FILES, "core": 0, "fsize": limits.scratch_bytes},
    }
    about = f"{instance}, for Inspect's docker provider; needs {ENGINE_NEEDED} or newer"
    return _text(about, {"services": {"default": service}, "x-benchwright": {"image_digest": image.digest}})


def values_settings(image: Image, limits: WorkspaceLimits, *, reference: str, instance: str) -> str:
    """The ``values.yaml`` of an instance for the ``agent-env`` chart of inspect_k8s_sandbox.

    No domain, address or entity is allowed, and the service is isolated in both directions.  How many processes a pod
    may have is a setting of the cluster; which runtime it has, too.

    Args:
        image: What was pushed.
        limits: What everything in the pod may use together; a pod that writes more is evicted.
        reference: What the cluster pulls.
        instance: Whose it is.
    """
    memory, disk = f"{limits.memory_bytes // _MIB}Mi", f"{limits.scratch_bytes // _MIB}Mi"
    environ = [{"name": name, "value": _for_kubernetes(value)} for name, value in sorted(image.environ.items())]
    service: dict[str, Node] = {
        "image": reference,
        "command": _SLEEP,
        "workingDir": image.workdir,
        "env": environ,
        "networkIsolated": True,
        "runtimeClassName": "CLUSTER_DEFAULT",
        "resources": {
            "requests": {"memory": memory, "cpu": _CPUS, "ephemeral-storage": _DISK_REQUEST},
            "limits": {"memory": memory, "cpu": _CPUS, "ephemeral-storage": disk},
        },
        "securityContext": {
            "runAsUser": 0,
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ("ALL",), "add": CAPABILITIES},
        },
    }
    about = f"{instance}, for the agent-env chart of {CHART_NEEDED} or newer; image {image.digest}"
    return _text(about, {"services": {"default": service}})


def pushed_reference(registry: str, tag: str, digest: str) -> str:
    """What the image of an instance is called in a registry: its content's digest is its tag, so it never changes.

    Args:
        registry: Host and path, such as ``registry.example.org/team``.
        tag: The engine's name for the image.
        digest: `Image.digest`.

    Raises `UsageError` for a registry that no image can be in.
    """
    prefix = registry.rstrip("/")
    if not _PREFIX.fullmatch(prefix):
        raise UsageError(
            "Expected a registry's host and path, in lower case and without a scheme, such as "
            f"registry.example.org/team, got {registry!r}."
        )
    return f"{prefix}/{tag.rpartition(':')[0]}:{digest[:16]}"


def _for_compose(value: str) -> str:
    return value.replace("$", "$$")  # Compose fills in variables of the host


def _for_kubernetes(value: str) -> str:
    return value.replace("$(", "$$(")  # Kubernetes fills in variables of the container


def _text(about: str, document: Mapping[str, Node]) -> str:
    return "\n".join([f"# {about}", *_lines(document, ""), ""])


def _lines(node: Mapping[str, Node], indent: str) -> Iterator[str]:
    for name, value in node.items():
        if isinstance(value, Mapping):
            yield f"{indent}{name}:" if value else f"{indent}{name}: {{}}"
            yield from _lines(value, f"{indent}  ")
        elif isinstance(value, Sequence) and not isinstance(value, str):
            yield f"{indent}{name}:"
            yield from (f"{indent}  - {json.dumps(item, ensure_ascii=False)}" for item in value)
        else:
            yield f"{indent}{name}: {json.dumps(value, ensure_ascii=False)}"
