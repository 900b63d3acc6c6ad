"""How a run of an agent shows that it goes on."""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from benchwright.app.agents.harness import AgentProgress
    from benchwright.app.repositories.patches import PatchProgress

_LINE_SECONDS = 30.0


class Events:
    """Tells the terminal how a run goes on; everything goes to standard error."""

    def __init__(self, show: "Callable[[str], None]") -> None:
        self._show = show

    def say(self, text: str) -> None:
        """One line."""
        click.echo(text, err=True)

    def progress(self, progress: "AgentProgress") -> None:
        """How far the run is."""
        self._show(progress_line(progress))

    def grading(self, progress: "PatchProgress") -> None:
        """How far the grading of what was left ungraded is."""
        self._show(f"grading: {progress.done} of {progress.total} {progress.what}")


@contextlib.contextmanager
def live_progress() -> Iterator[Events]:
    """One line that is kept up to date; a line every half minute where that is no terminal."""
    if not sys.stderr.isatty():
        said = time.monotonic()

        def say(line: str) -> None:
            nonlocal said
            if time.monotonic() - said >= _LINE_SECONDS:
                said = time.monotonic()
                click.echo(line, err=True)

        yield Events(say)
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    with Live(Text("starting"), console=Console(stderr=True), transient=True, refresh_per_second=4) as shown:
        yield Events(lambda line: shown.update(Text(line)))


def progress_line(progress: "AgentProgress") -> str:
    """How far a run is, in one line."""
    left = "" if progress.seconds_left is None else f", about {_duration(progress.seconds_left)} left"
    return (
        f"{progress.finished} of {progress.total} finished, {progress.running} running, {progress.queued} queued; "
        f"{progress.resolved} of {progress.graded} graded resolved, {progress.faults} faults; "
        f"{progress.tokens:,} tokens, {money(progress.cost)}{left}"
    )


def _duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60:02d} min" if minutes >= 60 else f"{max(1, minutes)} min"


def money(cost: float | None) -> str:
    """US dollars for a person."""
    return "cost unknown" if cost is None else f"${cost:,.4f}" if cost < 1 else f"${cost:,.2f}"
