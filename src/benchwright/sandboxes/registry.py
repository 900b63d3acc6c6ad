"""Sandboxes by name: those built in, and those of other packages (``benchwright.sandboxes``)."""

from collections.abc import Callable

from benchwright.core.registry import Registry
from benchwright.sandboxes.base import Sandbox

SANDBOXES: Registry[Callable[[], Sandbox]] = Registry(
    "sandbox",
    {
        "namespace": "benchwright.sandboxes.namespace:NamespaceSandbox",
        "docker": "benchwright.sandboxes.docker:DockerSandbox",
    },
    group="benchwright.sandboxes",
)
