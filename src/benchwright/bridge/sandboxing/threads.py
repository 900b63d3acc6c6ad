"""Calls of a live workspace, which block, from an event loop: each in a thread."""

import contextlib
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

import anyio
import anyio.to_thread
from anyio.lowlevel import RunVar

from benchwright.core.errors import SandboxFault
from benchwright.sandboxes.base import LiveProcess, LiveResult

T = TypeVar("T")

_WAITING = 10_000  # as good as none: a waiting thread costs nothing, and a call that queued behind them could not kill
_CALLING = 64
_OPENING = max(2, len(os.sched_getaffinity(0)))  # an opening is work for a processor; more at once only take longer


@dataclass(frozen=True, slots=True)
class _Limiters:
    """Of one event loop; Inspect's own limiter is for its short calls, and commands may run for hours."""

    waiting: anyio.CapacityLimiter = field(default_factory=lambda: anyio.CapacityLimiter(_WAITING))
    calling: anyio.CapacityLimiter = field(default_factory=lambda: anyio.CapacityLimiter(_CALLING))
    opening: anyio.CapacityLimiter = field(default_factory=lambda: anyio.CapacityLimiter(_OPENING))


_limiters: RunVar[_Limiters] = RunVar("benchwright_sandbox_threads")


def _of_this_loop() -> _Limiters:
    try:
        return _limiters.get()
    except LookupError:
        made = _Limiters()
        _limiters.set(made)
        return made


async def call(function: Callable[[], T]) -> T:
    """A call that comes back soon; once begun it is waited for, whatever happens to the caller."""
    return await anyio.to_thread.run_sync(function, limiter=_of_this_loop().calling)


async def open_in_turn(function: Callable[[], T]) -> T:
    """As `call`, but only some at a time: for opening workspaces."""
    return await anyio.to_thread.run_sync(function, limiter=_of_this_loop().opening)


async def finish(start: Callable[[], LiveProcess]) -> LiveResult:
    """Start a command and wait for its end; when the caller is cancelled, the command is killed."""
    started: list[LiveProcess] = []
    try:
        await call(lambda: started.append(start()))
        return await anyio.to_thread.run_sync(started[0].wait, limiter=_of_this_loop().waiting, abandon_on_cancel=True)
    except anyio.get_cancelled_exc_class():
        with anyio.CancelScope(shield=True), contextlib.suppress(SandboxFault):  # what is broken runs nothing
            for process in started:
                await call(process.kill)
        raise
