"""From what came over the channel to an execution record; pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchwright.core.errors import SandboxFault
from benchwright.core.execution import (
    ExecutionRecord,
    ExitCause,
    Isolation,
    Job,
    LoadError,
    TestOutcome,
    TestResult,
)

_OUTPUT_CHARACTERS = 4000
_SIGXCPU = 24
_SIGKILL = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class RawExecution:
    """What the host saw of one job, before it is read."""

    messages: Sequence[dict[str, Any]]
    """Verified messages, in order."""
    channel_errors: tuple[str, ...]
    exit_event: dict[str, Any]
    """The slot's ``exit`` event: cause, status, wall, cpu, peak."""
    output: bytes
    output_total_bytes: int
    out_of_memory: bool
    """Whether the memory controller killed a process of this job."""
    memory_peak_bytes: int
    facts: tuple[tuple[str, str], ...]


def build(job: Job, raw: RawExecution) -> ExecutionRecord:
    """The record of one job.

    Raises:
        SandboxFault: The child's own set-up failed, or it ended before the answer was loaded.
    """
    by_kind: dict[str, list[dict[str, Any]]] = {}
    for message in raw.messages:
        by_kind.setdefault(message["kind"], []).append(message)
    if "setup_failed" in by_kind:
        raise SandboxFault(f"a child could not be set up: {by_kind['setup_failed'][0]['message']}")
    if not by_kind:  # the witness speaks before the answer is loaded; without a word, the answer was never there
        words = raw.output.decode("utf-8", "replace").strip()[-300:]
        ended = f"{raw.exit_event['cause']}, {raw.exit_event['status']}"
        raise SandboxFault(f"a child ended before it began ({ended}): {words or 'no message'}")
    cause = _exit_cause(job, raw, closed="closing" in by_kind)
    notes = by_kind.get("note", [])
    fixtures = tuple(("fixture", f"{note['name']}: {note['message']}") for note in by_kind.get("fixture", []))
    observed = tuple(("observed", note["what"]) for note in notes if note["level"] == "observation")
    missing = {name for closing in by_kind.get("closing", []) for name in closing["missing"]}
    missing |= {m["missing_module"] for m in raw.messages if m.get("missing_module")}
    return ExecutionRecord(
        job_digest=job.digest,
        exit_cause=cause,
        exit_status=raw.exit_event["status"],
        tests=tuple(_test(message) for message in by_kind.get("test", [])),
        load_error=_load_error(by_kind.get("load_error", [])),
        interference=tuple(note["what"] for note in notes if note["level"] == "interference"),
        protocol_errors=raw.channel_errors + _order_errors(raw.messages),
        missing_modules=tuple(sorted(missing)),
        wall_seconds=round(raw.exit_event["wall"], 4),
        cpu_seconds=round(raw.exit_event["cpu"], 4),
        memory_peak_bytes=raw.memory_peak_bytes,
        output=clip(raw.output.decode("utf-8", "replace"), _OUTPUT_CHARACTERS),
        output_total_bytes=raw.output_total_bytes,
        isolation=job.isolation,
        facts=raw.facts + fixtures + observed,
    )


def lost(job: Job, reason: str, attempts: int) -> ExecutionRecord:
    """The record of a job whose sandbox kept breaking."""
    return ExecutionRecord(
        job_digest=job.digest,
        exit_cause=ExitCause.LOST,
        isolation=job.isolation,
        attempts=attempts,
        lost_reason=reason,
    )


def clip(text: str, limit: int) -> str:
    """Head and tail of a text, ``limit`` characters together."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[... {len(text) - limit} characters left out ...]\n{text[-half:]}"


def _exit_cause(job: Job, raw: RawExecution, *, closed: bool) -> ExitCause:
    cause, status = raw.exit_event["cause"], raw.exit_event["status"]
    if cause == "exit" and closed and status == 0:
        return ExitCause.FINISHED
    if raw.out_of_memory:  # of any process of the job: what came after is the consequence
        return ExitCause.MEMORY
    if cause == "channel":
        return ExitCause.EXITED  # ended by us, for what it sent; the protocol error says why
    if cause != "exit":
        return ExitCause(cause)
    if status >= 0:
        return ExitCause.EXITED
    if status == -_SIGXCPU or (status == -_SIGKILL and raw.exit_event["cpu"] >= job.limits.cpu_seconds):
        return ExitCause.CPU_TIME
    if status == -_SIGKILL and job.isolation is Isolation.NAMESPACE:
        # Process 1 of its namespace cannot kill itself so: the machine ran out of memory, or a person did it.
        raise SandboxFault("a job was killed from outside of its sandbox")
    return ExitCause.SIGNAL


def _order_errors(messages: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    kinds = [message["kind"] for message in messages]
    errors = []
    if kinds.count("closing") > 1:
        errors.append("more than one closing frame")
    if "closing" in kinds and any(kind != "note" for kind in kinds[kinds.index("closing") + 1 :]):
        errors.append("frames after the closing frame")
    ids = [message["id"] for message in messages if message["kind"] == "test"]
    if len(ids) != len(set(ids)):
        errors.append("a test was reported twice")
    return tuple(errors)


def _test(message: dict[str, Any]) -> TestResult:
    return TestResult(
        id=message["id"],
        outcome=TestOutcome(message["outcome"]),
        seconds=message["seconds"],
        exception=message["exception"],
        message=message["message"],
    )


def _load_error(messages: list[dict[str, Any]]) -> LoadError | None:
    if not messages:
        return None
    names = ("phase", "exception", "message", "line", "missing_module")
    return LoadError(**{name: messages[0][name] for name in names})
