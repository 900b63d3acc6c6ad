"""The sandboxes under Inspect measured: opening one, a command in it, Inspect's editor in it, and many at once.

On one built instance, per sandbox: medians of opening and closing, of a command that does nothing (as Inspect calls it,
and as our own tools do), of writing and reading a small file, and of a view in Inspect's text editor, all in
milliseconds; then a run of so many samples at once, each of which edits and views a file.  Printed is one JSON object.
The exit status is 1 when a sample of that run fails.

    python benchmarks/sandboxes.py --dataset ROWS --home HOME --id ID --sandbox namespace --sandbox docker
"""
# needs: a built instance (see benchmarks/README.md)

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import anyio
from inspect_ai import Task
from inspect_ai import eval as run_tasks
from inspect_ai.dataset import Sample
from inspect_ai.event import ToolEvent
from inspect_ai.log import EvalLog
from inspect_ai.model import ChatMessageTool, ModelOutput, ModelUsage, get_model
from inspect_ai.solver import generate, use_tools
from inspect_ai.tool import text_editor
from inspect_ai.util import SandboxEnvironmentSpec

from benchwright.app.repositories.selection import Selection
from benchwright.app.repositories.setups import select
from benchwright.app.workspace import Workspace
from benchwright.bridge.sandboxing.config import WorkspaceConfig
from benchwright.bridge.sandboxing.providers import DockerEnvironment, NamespaceEnvironment
from benchwright.sandboxes.base import WorkspaceLimits

LIMITS = WorkspaceLimits(memory_bytes=2 << 30, processes=256, scratch_bytes=1 << 30)
PROVIDERS = {"namespace": NamespaceEnvironment, "docker": DockerEnvironment}
FILE = "/testbed/benchwright-measured.txt"


def main() -> int:
    """Measure, print; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", type=Path, required=True, help="rows in the official format")
    parser.add_argument("--home", type=Path, required=True, help="where their environments are built")
    parser.add_argument("--id", required=True, help="the instance")
    parser.add_argument("--sandbox", action="append", default=[], choices=sorted(PROVIDERS), help="may be repeated")
    parser.add_argument("--times", type=int, default=20, help="of each measurement")
    parser.add_argument("--at-once", type=int, default=20, help="samples of the run")
    arguments = parser.parse_args()
    report = {}
    for name in arguments.sandbox or ["namespace"]:
        config = _config(arguments, name)
        spec = SandboxEnvironmentSpec(f"benchwright/{name}", config)
        report[name] = {
            "ms": anyio.run(_directly, PROVIDERS[name], config, arguments.times)
            | {"text_editor view": _views(spec, arguments.times)},
            "at_once": _at_once(spec, arguments.at_once),
        }
    print(json.dumps(report, indent=2))
    return int(any(found["at_once"]["failed"] for found in report.values()))


def _config(arguments: argparse.Namespace, sandbox: str) -> WorkspaceConfig:
    selection = Selection(benchmark="repositories", data=arguments.dataset, ids=(arguments.id,), sandbox=sandbox)
    setup = select(selection, Workspace(home=arguments.home)).setups[arguments.id]
    return WorkspaceConfig.from_image(setup.place.image, LIMITS)


async def _directly(provider: Any, config: WorkspaceConfig, times: int) -> dict[str, float]:
    """Medians of what Inspect calls, in milliseconds."""
    taken: dict[str, list[float]] = {}

    async def timed(what: str, call: Callable[[], Awaitable[Any]]) -> Any:
        started = time.perf_counter()
        answer = await call()
        taken.setdefault(what, []).append(1000 * (time.perf_counter() - started))
        return answer

    merged = {"cwd": None, "environ": {}, "wall_seconds": 60.0, "output_bytes": 1000}
    for _ in range(times):
        opened = await timed("open", partial(provider.sample_init, "task", config, {}))
        sandbox = opened["default"]
        for _ in range(3):
            await timed("exec true", partial(sandbox.exec, ["true"]))
            await timed("merged true", partial(sandbox.run_merged, ["true"], **merged))
            await timed("write", partial(sandbox.write_file, FILE, "text"))
            await timed("read", partial(sandbox.read_file, FILE))
        await timed("close", partial(provider.sample_cleanup, "task", config, opened, False))
    return {what: round(statistics.median(values), 2) for what, values in taken.items()}


def _run(spec: SandboxEnvironmentSpec, views: int, samples: int) -> EvalLog:
    """Samples whose scripted model makes a file with Inspect's editor and looks at it so many times."""

    def answer(messages: list[Any], *_: Any) -> ModelOutput:
        done = sum(isinstance(message, ChatMessageTool) for message in messages)
        call = {"command": "view", "path": FILE} if done else {"command": "create", "path": FILE, "file_text": "x"}
        output = ModelOutput.for_tool_call("mockllm", "text_editor", call)
        if done > views:
            output = ModelOutput.from_content("mockllm", "done")
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    task = Task(
        dataset=[Sample(input="work", sandbox=spec) for _ in range(samples)],
        solver=[use_tools(text_editor()), generate()],
        fail_on_error=False,
    )
    with tempfile.TemporaryDirectory() as folder:
        (log,) = run_tasks(
            task,
            model=get_model("mockllm/model", custom_outputs=answer, memoize=False),
            display="none",
            log_dir=folder,
            max_samples=samples,
        )
        len(log.samples or [])  # read now: they are in the folder
    return log


def _views(spec: SandboxEnvironmentSpec, times: int) -> float:
    """The median of a view; the making of the file, which brings Inspect's program in, does not count."""
    (sample,) = _run(spec, times, 1).samples or []
    events = [event for event in sample.events if isinstance(event, ToolEvent) and event.completed is not None]
    taken = [(event.completed - event.timestamp).total_seconds() for event in events[1:] if event.completed]
    return round(1000 * statistics.median(taken), 2)


def _at_once(spec: SandboxEnvironmentSpec, samples: int) -> dict[str, Any]:
    started = time.perf_counter()
    log = _run(spec, 3, samples)
    errors = [sample.error.message for sample in log.samples or [] if sample.error is not None]
    return {
        "samples": samples,
        "failed": len(errors) if log.status == "success" else samples,
        "errors": sorted(set(errors)) + ([log.error.message] if log.error else []),
        "seconds": round(time.perf_counter() - started, 1),
    }


if __name__ == "__main__":
    sys.exit(main())
