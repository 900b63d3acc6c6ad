"""Running a task through Inspect, and asking a few problems before it."""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import inspect_ai
from inspect_ai import Task
from inspect_ai.log import read_eval_log_sample_summaries
from inspect_ai.model import GenerateConfig

from benchwright.benchmarks.base import SampleKey
from benchwright.bridge.inspect_private import PrerequisiteError
from benchwright.bridge.metering import Meter, NotAsked, current
from benchwright.bridge.models import OpenModel, plain_message
from benchwright.bridge.tasks import Question, messages_of
from benchwright.core.errors import MachineError, UsageError

INSPECT_VERSION: str = inspect_ai.__version__


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSettings:
    """How calls are spread and repeated; nothing of it changes what is asked."""

    max_connections: int = 10
    max_retries: int = 6
    """Inspect waits 3 s before the first repeat and twice as long before each further one."""
    timeout: int = 600
    """Seconds for one try of one call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLog:
    """What Inspect made of a task."""

    path: Path
    status: str
    """``success``, ``error`` or ``cancelled``."""
    error: str
    """What stopped it, if anything did."""
    sample_errors: Mapping[str, str] = field(default_factory=dict)
    """By sample id, what ended a sample that raised every time it was begun."""


def run_task(
    task: Task,
    opened: OpenModel,
    calls: CallSettings,
    log_folder: Path,
    *,
    samples_at_once: int,
    sample_tries: int = 1,
) -> RunLog:
    """Run a task to its end and write its log; a sample that raises is begun anew, up to ``sample_tries`` in all.

    Raises:
        UsageError: Inspect refuses the task or the model.
        MachineError: The log cannot be written.
        KeyboardInterrupt: The user stopped it; replies so far are in the journal.
    """
    try:
        logs = inspect_ai.eval(
            task,
            model=opened.model,
            log_dir=str(log_folder),
            log_format="eval",
            display="none",
            score_display=False,
            log_realtime=False,  # ended samples are in the log at once; events of running ones cost 3 ms a sample
            fail_on_error=False,
            max_samples=samples_at_once,
            max_sandboxes=samples_at_once,
            retry_on_error=sample_tries - 1 or None,
            max_connections=calls.max_connections,
            max_retries=calls.max_retries,
        )
    except PrerequisiteError as error:
        raise UsageError(f"Inspect cannot run this: {plain_message(error)}") from error
    except (ConnectionError, TimeoutError):
        raise  # of the network, not of the log
    except OSError as error:
        raise MachineError(
            f"The log in {log_folder} could not be written ({error.strerror or error}); replies so far are kept, "
            f"give the same command again."
        ) from error
    # Inspect takes an interrupt for itself, writes what it has, and returns: nothing when the task had not begun.
    if not logs or logs[0].status == "cancelled":
        raise KeyboardInterrupt
    log = logs[0]
    return RunLog(
        path=Path(log.location.removeprefix("file://")),
        status=log.status,
        error=log.error.message if log.error else "",
        sample_errors=_sample_errors(log.location),
    )


def _sample_errors(location: str) -> dict[str, str]:
    try:
        summaries = read_eval_log_sample_summaries(location)
    except (OSError, ValueError, KeyError):
        return {}  # a log without any sample
    return {str(summary.id): summary.error for summary in summaries if summary.error}


def ask_beforehand(
    question: Question, problem_ids: Iterable[str], opened: OpenModel, calls: CallSettings, meter: Meter
) -> None:
    """Ask the first sample of a few problems; the meter keeps replies and failures.

    The model's instance is closed afterwards: its connections belong to this call's event loop.
    """

    meter.attach(opened.model)
    calls_config = GenerateConfig(max_connections=calls.max_connections, max_retries=calls.max_retries)
    config = question.config.merge(calls_config)

    async def one(problem_id: str) -> None:
        key = SampleKey(problem_id, 0)
        current.set(key)
        try:
            await opened.model.generate(messages_of(question.prompt(problem_id)), config=config)
        except NotAsked:
            return
        except PrerequisiteError as error:
            raise UsageError(f"The model cannot be asked: {plain_message(error)}") from error
        except Exception as error:  # noqa: BLE001 - whatever a provider raises is this sample's failure
            meter.note_failure(key, error)

    async def all_of_them() -> None:
        async with opened.model:
            await asyncio.gather(*(one(problem_id) for problem_id in problem_ids))

    asyncio.run(all_of_them())
