"""Workspaces of pulled images: the history that such an image carries is cut before anybody sees it."""

from collections.abc import Mapping
from pathlib import Path

from benchwright.core.errors import MachineError, SandboxFault
from benchwright.core.repositories import RepositoryProblem
from benchwright.environments.repositories.images import prepare_pulled
from benchwright.sandboxes.base import Image, Sandbox, Workspace, WorkspaceLimits


class PulledSandbox:
    """A sandbox whose workspaces of one problem's pulled image have no later history."""

    def __init__(self, sandbox: Sandbox, problem: RepositoryProblem) -> None:
        """Args: the sandbox that opens the image, and the problem whose base commit ends the history."""
        self._sandbox = sandbox
        self._problem = problem

    @property
    def name(self) -> str:
        """The inner sandbox's name."""
        return self._sandbox.name

    def open(
        self,
        image: Image,
        limits: WorkspaceLimits,
        *,
        shared: Mapping[str, Path] | None = None,
        network: bool = False,
        keep: Path | None = None,
    ) -> Workspace:
        """A workspace as the inner sandbox opens it, with the history cut and checked.

        Raises `SandboxFault` when something later is left, and what the inner sandbox raises.
        """
        workspace = self._sandbox.open(image, limits, shared=shared, network=network, keep=keep)
        try:
            prepare_pulled(workspace, self._problem)
        except MachineError as error:  # one image is not as it should be; that is no reason to stop the others
            workspace.close()
            raise SandboxFault(str(error)) from error
        except BaseException:
            workspace.close()
            raise
        return workspace
