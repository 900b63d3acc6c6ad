"""Proving an environment, and saying beforehand what a build would do."""

import enum
import json
import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchwright.core.errors import MachineError
from benchwright.core.execution import MIB
from benchwright.environments import commands
from benchwright.environments.data import missing_files
from benchwright.environments.environment import Environment, State, list_environments, prefix_for
from benchwright.environments.interpreters import Interpreter, find_interpreter, search_places
from benchwright.environments.spec import EnvSpec

IMPORT_SECONDS = 300.0
"""What importing all of them may take: 10 s when quiet, TensorFlow on a cold disk far more."""

_IMPORTS = """
import contextlib, importlib, importlib.metadata, io, json, re, sys
failures = {}
with contextlib.redirect_stdout(io.StringIO()):
    for name in sys.argv[1:]:
        try:
            importlib.import_module(name)
        except BaseException as error:
            failures[name] = "%s: %s" % (type(error).__name__, str(error)[:300])
versions = {}
for one in importlib.metadata.distributions():
    versions[re.sub("[-_.]+", "-", one.metadata["Name"]).lower()] = one.version
print(json.dumps({"failures": failures, "versions": versions}))
"""


class FindingKind(enum.StrEnum):
    """What is wrong, or worth knowing."""

    IMPORT = "import"
    """A module that should be there does not import."""
    VERSION = "version"
    """A package has another version than the lock, or is missing."""
    DATA = "data"
    """A data file could not be had, or has gone since."""
    TOOL = "tool"
    """A program outside Python that some tasks call is not installed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckFinding:
    """One thing found."""

    kind: FindingKind
    subject: str
    detail: str
    serious: bool
    """Whether the environment is broken; otherwise some tasks may fail, which the control runs then name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildPlan:
    """What `build` would do."""

    name: str
    prefix: Path
    built: bool
    interpreter: Interpreter | None
    problem: str
    """Why it cannot be built on this machine now; empty when it can."""
    packages: int
    data: tuple[str, ...]
    download_mib: int
    size_mib: int
    free_mib: int


def check(environment: Environment, *, environ: Mapping[str, str] = os.environ) -> list[CheckFinding]:
    """Import all modules the specification names there, and compare packages, data files and programs.

    An empty list means that all is as described.  Raises `MachineError` when its Python does not start.
    """
    preloads = [module for tier in environment.tiers for module in tier.preload]
    modules = dict.fromkeys([*environment.spec.smoke, *preloads])
    output = commands.run(
        [environment.python, "-I", "-c", _IMPORTS, *modules],
        what=f"import the modules of {environment.name}",
        environ={**environ, **environment.variables},
        timeout=IMPORT_SECONDS,
    )
    facts = json.loads(output.splitlines()[-1])
    return [
        *_import_findings(facts["failures"]),
        *version_findings(environment.manifest.packages, facts["versions"]),
        *_data_findings(environment),
        *_tool_findings(environment.spec, environ),
    ]


def plan(spec: EnvSpec, *, home: Path, environ: Mapping[str, str] = os.environ) -> BuildPlan:
    """Say what building would do here; nothing is built, downloaded or created."""
    interpreter, problem = None, ""
    try:
        interpreter = find_interpreter(spec.python, search_places(environ))
    except MachineError as error:
        problem = str(error)
    free = shutil.disk_usage(_existing(home)).free // MIB
    if not problem and free < spec.size_mib:
        problem = f"only {free} MiB are free, about {spec.size_mib} MiB are needed"
    prefix = prefix_for(spec, home)
    ready = (one.prefix for one in list_environments(home) if one.manifest and one.state is not State.CORRUPT)
    return BuildPlan(
        name=spec.name,
        prefix=prefix,
        built=prefix in ready,
        interpreter=interpreter,
        problem=problem,
        packages=len(spec.packages),
        data=tuple(item.name for item in spec.data),
        download_mib=spec.download_mib,
        size_mib=spec.size_mib,
        free_mib=free,
    )


def version_findings(locked: tuple[str, ...], installed: Mapping[str, str]) -> list[CheckFinding]:
    """Packages that are missing or have another version than recorded when the environment was built."""
    findings = []
    for name, _, version in (package.partition("==") for package in locked):
        found = installed.get(re.sub(r"[-_.]+", "-", name).lower())
        if found != version:
            detail = f"{found or 'nothing'} is installed instead of {version}"
            findings.append(CheckFinding(kind=FindingKind.VERSION, subject=name, detail=detail, serious=True))
    return findings


def _import_findings(failures: Mapping[str, str]) -> list[CheckFinding]:
    return [
        CheckFinding(kind=FindingKind.IMPORT, subject=name, detail=detail, serious=True)
        for name, detail in failures.items()
    ]


def _data_findings(environment: Environment) -> list[CheckFinding]:
    gone = missing_files(environment.manifest.data, environment.prefix)
    lost = [
        CheckFinding(kind=FindingKind.DATA, subject=name, detail="it was there when built and is gone", serious=True)
        for name in gone
    ]
    never = [
        CheckFinding(kind=FindingKind.DATA, subject=item.name, detail=item.note, serious=False)
        for item in environment.manifest.data
        if not item.present
    ]
    return lost + never


def _tool_findings(spec: EnvSpec, environ: Mapping[str, str]) -> list[CheckFinding]:
    return [
        CheckFinding(
            kind=FindingKind.TOOL,
            subject=tool.command,
            detail=f"{tool.needed_by}; Debian package {tool.debian_package}",
            serious=False,
        )
        for tool in spec.system_tools
        if shutil.which(tool.command, path=environ.get("PATH", "")) is None
    ]


def _existing(path: Path) -> Path:
    return next(one for one in (path, *path.parents) if one.exists())
