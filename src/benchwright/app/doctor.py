"""What this machine can isolate and run, and what to do about the rest: the use case behind ``bw doctor``."""

import asyncio
import enum
import os
import platform
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchwright.answers.plans import read_plan
from benchwright.app.workspace import Workspace
from benchwright.core.errors import BenchwrightError, IsolationRefusedError, MachineError, SandboxFault
from benchwright.core.execution import ExitCause, Isolation, Job, Limits, Submission
from benchwright.environments.check import plan
from benchwright.environments.environment import State, list_environments
from benchwright.environments.interpreters import find_interpreter, find_uv, search_places
from benchwright.environments.repositories.rootfs import RootfsChoice, why_not_here
from benchwright.environments.spec import Tier, load_spec, spec_names
from benchwright.execution import records
from benchwright.execution.guest import guest_version
from benchwright.execution.mother import Mother
from benchwright.execution.target import Target
from benchwright.execution.witness import witness_library
from benchwright.sandboxes.cgroups import GroupFactory
from benchwright.sandboxes.containers.engine import Engine


class Health(enum.StrEnum):
    """How a finding stands."""

    GOOD = "good"
    NOTE = "note"
    BAD = "bad"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing the doctor looked at."""

    topic: str
    health: Health
    text: str
    advice: str = ""


def examine(workspace: Workspace) -> list[Finding]:
    """Look at kernel, isolation, control groups, interpreters, environments, engine and disk; changes nothing."""
    findings = [
        Finding(
            topic="machine",
            health=Health.GOOD,
            text=f"{platform.system()} {platform.release()} on {platform.machine()}, "
            f"{len(os.sched_getaffinity(0))} cores, running as {'root' if os.getuid() == 0 else 'a plain user'}",
        )
    ]
    compiler = _compiler()
    findings.append(compiler)
    if compiler.health is Health.GOOD:
        findings += [_isolation(level) for level in Isolation]
    findings.append(_groups())
    findings += _pythons()
    findings += [_environment(name, workspace) for name in spec_names()]
    findings += _repositories()
    findings.append(_disk(workspace.home))
    return findings


def to_plain(findings: list[Finding]) -> dict[str, Any]:
    """Findings as the object of ``bw doctor --json``."""
    return {
        "healthy": all(finding.health is not Health.BAD for finding in findings),
        "findings": [
            {"topic": f.topic, "health": f.health.value, "text": f.text, "advice": f.advice} for f in findings
        ],
    }


def _compiler() -> Finding:
    try:
        witness_library()
    except MachineError as error:
        return Finding(topic="C compiler", health=Health.BAD, text=str(error), advice="install gcc")
    return Finding(topic="C compiler", health=Health.GOOD, text="the witness library is built")


def _pythons() -> list[Finding]:
    """One line for each Python that an environment asks for."""
    findings = []
    for wanted in dict.fromkeys(load_spec(name).python for name in spec_names()):
        topic = f"Python {wanted}"
        try:
            found = find_interpreter(wanted, search_places(os.environ))
        except MachineError as error:
            findings.append(Finding(topic=topic, health=Health.NOTE, text=str(error)))
        else:
            findings.append(Finding(topic=topic, health=Health.GOOD, text=f"{found.executable} ({found.version})"))
    return findings


def _isolation(level: Isolation) -> Finding:
    """Run a trivial job with this very interpreter: mounts, filter, channel and all."""
    prefixes = {Path(sys.prefix).resolve(), Path(sys.base_prefix).resolve()}
    target = Target(
        name="doctor",
        digest="",
        python=Path(sys.executable),
        readable=tuple(sorted(prefixes)),
        variables={"PATH": "/usr/bin:/bin", "TZ": "UTC"},
        tiers=(Tier(name="bare", preload=()),),
    )
    try:
        asyncio.run(_try_slot(target, level))
    except BenchwrightError as error:
        health = Health.BAD if level is Isolation.NAMESPACE else Health.NOTE
        advice = (
            "allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1, "
            "kernel.apparmor_restrict_unprivileged_userns=0), run as root, or choose --isolation process"
        )
        return Finding(topic=f"isolation {level.value}", health=health, text=str(error), advice=advice)
    return Finding(topic=f"isolation {level.value}", health=Health.GOOD, text="a job can be run at this level")


async def _try_slot(target: Target, level: Isolation) -> None:
    mother = Mother(target, target.tiers[0], level, GroupFactory())
    try:
        await mother.start()
        slot = await mother.slot()
        try:
            job = _trivial_job(level)
            record = records.build(job, await slot.run(job, frozenset()))
        finally:
            await slot.close()
        if record.exit_cause is not ExitCause.FINISHED or not record.tests:
            raise SandboxFault(f"A trivial job did not finish ({record.exit_cause.value}); {record.output[-200:]}")
    finally:
        mother.close()


def _trivial_job(level: Isolation) -> Job:
    tests = "import unittest\nclass TestCases(unittest.TestCase):\n    def test_answer(self):\n        task_func()\n"
    return Job(
        submission=Submission(code="def task_func():\n    return 1\n", stub=None, entry_point="task_func"),
        plan=read_plan(tests),
        environment="",
        tier="bare",
        limits=Limits(wall_seconds=30.0, cpu_seconds=30.0),
        guest_version=guest_version(),
        isolation=level,
    )


def _groups() -> Finding:
    if GroupFactory().available:
        return Finding(topic="control groups", health=Health.GOOD, text="memory limits are kept by the kernel")
    return Finding(
        topic="control groups",
        health=Health.NOTE,
        text="no control group may be made here; memory is limited by resource limits and watching",
        advice="run as root or in a session with the memory controller delegated, for exact limits",
    )


def _environment(name: str, workspace: Workspace) -> Finding:
    topic = f"environment {name}"
    built = [item for item in list_environments(workspace.home) if item.name == name]
    if any(item.state is State.READY for item in built):
        return Finding(topic=topic, health=Health.GOOD, text="built from the lock of this version")
    planned = plan(load_spec(name), home=workspace.home)
    state = f"there is one, but {built[0].detail}" if built else "not built"
    if planned.problem:
        return Finding(topic=topic, health=Health.NOTE, text=f"{state}; {planned.problem}")
    return Finding(topic=topic, health=Health.NOTE, text=state, advice=f"bw env build {name}")


def _repositories() -> list[Finding]:
    """What environments of repository problems are built with, and what patches run in."""
    topic = "repository environments"
    obstacles = [why_not_here(RootfsChoice(), os.environ)]
    if find_uv(os.environ) is None:
        obstacles.append("Building environments needs uv; install it with `pip install uv`.")
    found = " ".join(text for text in obstacles if text)
    built = Finding(topic=topic, health=Health.NOTE if found else Health.GOOD, text=found or "can be built here")
    try:
        facts = Engine("docker").facts
    except IsolationRefusedError as error:
        engine = Finding(topic="container engine", health=Health.NOTE, text=str(error))
    else:
        engine = Finding(topic="container engine", health=Health.GOOD, text=f"{facts.kind} {facts.version}")
    return [built, engine]


def _disk(home: Path) -> Finding:
    existing = next(path for path in (home, *home.parents) if path.exists())
    free = shutil.disk_usage(existing).free / 2**30
    health = Health.GOOD if free > 5 else Health.NOTE
    advice = "" if free > 5 else "the full BigCodeBench environment takes 3 GiB; set BENCHWRIGHT_HOME to a larger disk"
    return Finding(topic="disk", health=health, text=f"{free:.1f} GiB free at {existing}", advice=advice)
