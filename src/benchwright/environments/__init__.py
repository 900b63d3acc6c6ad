"""From a specification to an environment that is ready to use."""

from benchwright.environments.build import build
from benchwright.environments.check import BuildPlan, CheckFinding, FindingKind, check, plan
from benchwright.environments.environment import (
    Environment,
    Listed,
    Manifest,
    State,
    list_environments,
    open_built,
    open_environment,
    remove_environment,
)
from benchwright.environments.home import default_home
from benchwright.environments.interpreters import Interpreter, find_interpreter, search_places
from benchwright.environments.spec import EnvSpec, Tier, load_spec, parse_spec, spec_names

__all__ = [
    "BuildPlan",
    "CheckFinding",
    "EnvSpec",
    "Environment",
    "FindingKind",
    "Interpreter",
    "Listed",
    "Manifest",
    "State",
    "Tier",
    "build",
    "check",
    "default_home",
    "find_interpreter",
    "list_environments",
    "load_spec",
    "open_built",
    "open_environment",
    "parse_spec",
    "plan",
    "remove_environment",
    "search_places",
    "spec_names",
]
