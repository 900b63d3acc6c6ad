"""Built instances as sandboxes of anybody's Inspect task."""

import os
from pathlib import Path

from benchwright.app.agents.plan import AGENT_SANDBOXES
from benchwright.app.repositories.selection import Selection
from benchwright.app.repositories.setups import select
from benchwright.app.workspace import Workspace
from benchwright.bridge.agents import SandboxEnvironmentSpec, sandbox_spec
from benchwright.core.errors import UsageError


def sandbox_for(
    benchmark: str,
    problem_id: str,
    *,
    sandbox: str = "namespace",
    data: Path | None = None,
    specs: Path | None = None,
    workspace: Workspace | None = None,
) -> SandboxEnvironmentSpec:
    """What ``Sample(sandbox=…)`` is given to open the workspace that ``bw run`` would open for an instance.

    Nothing is opened yet: Inspect opens one workspace for each sample, and closes it with the sample.

    Args:
        benchmark: Name of a benchmark of repositories, such as ``swebench-verified``.
        problem_id: The instance's id.
        sandbox: ``namespace``, or ``docker``, whose engine is given an image of the instance now.
        data: File with the benchmark's rows; None loads the published ones.
        specs: Folder with environment specifications of one's own, as they were built with.
        workspace: Where the environments are; None asks the environment variables, as ``bw`` does.

    Raises:
        UsageError: No such benchmark, instance or sandbox; the instance is not built, or cannot be on this machine.
        MachineError: What making an image of it raises.
    """
    if sandbox not in AGENT_SANDBOXES:
        raise UsageError(f"Inspect's tasks work in {' or '.join(AGENT_SANDBOXES)}, and {sandbox} was given.")
    selection = Selection(benchmark=benchmark, data=data, ids=(problem_id,), sandbox=sandbox, specs=specs)
    selected = select(selection, workspace or Workspace.from_environment(os.environ))
    why_not = selected.unavailable.get(problem_id)
    if why_not is not None:
        raise UsageError(f"The environment of {problem_id} cannot be had on this machine: {why_not}")
    image = selected.setups[problem_id].place.image
    return sandbox_spec(sandbox, image, selection.workspace_limits, shared={})
