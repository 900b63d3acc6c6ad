"""The providers: how workspaces are opened and closed for Inspect's samples.

Inspect looks providers up by what follows the name of the package that registers them, so that two packages cannot
both have a ``docker``.  Ours are therefore registered with the package's name in their own: ``benchwright/docker`` and
``benchwright/namespace`` are what users write, and ``docker`` stays Inspect's.
"""

import abc
import shlex
from functools import cache, partial
from typing import Any, Protocol, runtime_checkable

import anyio
from inspect_ai.util import SandboxConnection, SandboxEnvironment, SandboxEnvironmentConfigType, sandboxenv

from benchwright.bridge.inspect_private import PrerequisiteError
from benchwright.bridge.sandboxing import opened, threads
from benchwright.bridge.sandboxing.config import WorkspaceConfig
from benchwright.bridge.sandboxing.environment import WorkspaceEnvironment
from benchwright.sandboxes.base import LiveSandbox, LiveWorkspace
from benchwright.sandboxes.docker import DockerSandbox
from benchwright.sandboxes.namespace import NamespaceSandbox

NAMESPACE, DOCKER = "benchwright/namespace", "benchwright/docker"
"""The names."""


class Provider(WorkspaceEnvironment, abc.ABC):
    """What the two have in common.

    One workspace a sample.  It is closed with the sample, whether that has ended, failed or been cancelled; what an
    interruption left is closed with the run, and what that left with the program.  Keeping sandboxes for later
    (``--no-sandbox-cleanup``) is not possible: they end with this process.
    """

    @classmethod
    @abc.abstractmethod
    def sandbox(cls) -> LiveSandbox:
        """What makes the workspaces."""

    @classmethod
    async def sample_init(
        cls, task_name: str, config: SandboxEnvironmentConfigType | None, metadata: dict[str, str]
    ) -> dict[str, SandboxEnvironment]:
        """Open a workspace; raises what `LiveSandbox.open_live` does."""
        settings = cls._settings(config)
        run = opened.current_run()

        def make() -> LiveWorkspace:
            workspace = cls.sandbox().open_live(settings.image, settings.limits, shared=settings.shared_folders)
            opened.remember(workspace, run)
            return workspace

        return {"default": cls(await threads.open_in_turn(make), settings)}

    @classmethod
    async def sample_cleanup(
        cls,
        task_name: str,
        config: SandboxEnvironmentConfigType | None,
        environments: dict[str, SandboxEnvironment],
        interrupted: bool,
    ) -> None:
        """Close the workspaces of a sample, to the end even when the sample is being cancelled."""
        with anyio.CancelScope(shield=True):
            for environment in environments.values():
                workspace = environment.as_type(cls).workspace
                await threads.call(partial(opened.close, workspace))

    @classmethod
    async def task_cleanup(cls, task_name: str, config: SandboxEnvironmentConfigType | None, cleanup: bool) -> None:
        """Close what the run has left open."""
        run = opened.current_run()
        with anyio.CancelScope(shield=True):
            await threads.call(partial(opened.close_all, run))

    @classmethod
    def config_deserialize(cls, config: dict[str, Any]) -> WorkspaceConfig:
        """The configuration as it is in a log."""
        return WorkspaceConfig.model_validate(config)

    @classmethod
    def _settings(cls, config: SandboxEnvironmentConfigType | None) -> WorkspaceConfig:
        if isinstance(config, WorkspaceConfig):
            return config
        raise PrerequisiteError(
            "A sandbox of benchwright needs a WorkspaceConfig that says which image to open: benchwright's own tasks "
            "give one with every sample, and for yours sandbox_for(BENCHMARK, ID) of benchwright.app.agents.sandboxes "
            "makes what Sample(sandbox=...) wants (docs/how-to/use-benchwrights-sandboxes-in-inspect.md)."
        )

    def default_polling_interval(self) -> float:
        """After how many seconds Inspect asks programs inside for news again; each time is a command."""
        return 0.2


@sandboxenv(name=NAMESPACE)
class NamespaceEnvironment(Provider):
    """Workspaces of the ``namespace`` sandbox."""

    @classmethod
    def sandbox(cls) -> LiveSandbox:
        """One for the whole process."""
        return _namespace()


@sandboxenv(name=DOCKER)
class DockerEnvironment(Provider):
    """Workspaces of the ``docker`` sandbox."""

    @classmethod
    def sandbox(cls) -> LiveSandbox:
        """One for the whole process."""
        return _docker()

    async def connection(self, *, user: str | None = None) -> SandboxConnection:
        """The command that opens a shell in the container."""
        if not isinstance(self.workspace, _InContainer):
            # Inspect's word for a sandbox that nobody can connect to; here a scripted workspace of a test.
            raise NotImplementedError("this workspace is in no container")
        name = self.workspace.container
        command = [_docker().engine.client, "exec", "-it", *(["--user", user] if user else []), name, "bash", "-l"]
        return SandboxConnection(type=DOCKER, command=shlex.join(command), container=name)

    def default_polling_interval(self) -> float:
        """Seconds; a command costs an engine tens of milliseconds of processor time, ten times that of `namespace`."""
        return 1.0

    @classmethod
    async def cli_cleanup(cls, id: str | None) -> None:
        """Remove the containers of programs that have ended (``inspect sandbox cleanup benchwright/docker``)."""
        if id is not None:
            raise PrerequisiteError(
                "Containers of programs that have ended are removed together; leave the id out, or remove one with: "
                f"{_docker().engine.client} rm -f {shlex.quote(id)}"
            )
        for name in await threads.call(_docker().remove_orphans):
            print(f"Removed {name}.")


@runtime_checkable
class _InContainer(Protocol):
    """A workspace that can tell its container."""

    @property
    def container(self) -> str:
        """Its name."""


@cache
def _namespace() -> NamespaceSandbox:
    return NamespaceSandbox()


@cache
def _docker() -> DockerSandbox:
    return DockerSandbox()
