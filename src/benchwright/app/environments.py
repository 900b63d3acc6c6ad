"""Environments by name: the use cases behind ``bw env``."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchwright.app.workspace import Workspace
from benchwright.environments.build import build as build_environment
from benchwright.environments.check import BuildPlan, CheckFinding
from benchwright.environments.check import check as check_environment
from benchwright.environments.check import plan as plan_environment
from benchwright.environments.environment import (
    Environment,
    Listed,
    list_environments,
    open_environment,
    remove_environment,
)
from benchwright.environments.spec import load_spec, spec_names

__all__ = [
    "BuildPlan",
    "CheckFinding",
    "Environment",
    "Listed",
    "Listing",
    "build",
    "check",
    "listing",
    "plan",
    "remove",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What is built, and what this version could build."""

    built: tuple[Listed, ...]
    not_built: tuple[tuple[str, str], ...]
    """Name and title."""


def plan(name: str, workspace: Workspace) -> BuildPlan:
    """What building would do here; nothing is built.  Raises `UnknownNameError` for an unknown name."""
    return plan_environment(load_spec(name), home=workspace.home)


def build(name: str, workspace: Workspace, *, report: Callable[[str], None], force: bool) -> Environment:
    """Build an environment from the lock of this version, or return the one that is there.

    Raises `UnknownNameError` for an unknown name and `MachineError` with the failed command's last lines.
    """
    return build_environment(load_spec(name), home=workspace.home, report=report, force=force)


def check(name: str, workspace: Workspace) -> list[CheckFinding]:
    """What is not as the lock says; raises `UsageError` when the environment is not built."""
    return check_environment(open_environment(name, workspace.home))


def listing(workspace: Workspace) -> Listing:
    """All environments, built or not."""
    built = list_environments(workspace.home)
    names = {item.name for item in built}
    absent = tuple((name, load_spec(name).title) for name in spec_names() if name not in names)
    return Listing(built=built, not_built=absent)


def remove(name: str, workspace: Workspace) -> tuple[Path, ...]:
    """Remove every build of an environment; returns the folders removed."""
    return remove_environment(name, workspace.home)
