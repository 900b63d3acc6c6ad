"""Which workspaces are open, so that none is forgotten: not when a run is ended, and not when the program is."""

import atexit
import functools
import logging
import threading
from collections.abc import Iterator

from anyio.lowlevel import RunVar

from benchwright.core.errors import BenchwrightError
from benchwright.sandboxes.base import LiveWorkspace

_logger = logging.getLogger(__name__)
_lock = threading.Lock()
_open: dict[int, tuple[LiveWorkspace, object]] = {}
"""Workspaces, each with the run that it belongs to.  A global, for Inspect calls class methods only, and the end of the
program comes to nobody's knowledge but a module's."""

_run: RunVar[object] = RunVar("benchwright_sandbox_run")


def current_run() -> object:
    """What stands for the run that the running event loop is for."""
    try:
        return _run.get()
    except LookupError:
        made = object()
        _run.set(made)
        return made


def remember(workspace: LiveWorkspace, run: object) -> None:
    """Take down that a workspace is open; it is closed at the end of the program, should nobody have done so."""
    _close_at_exit()
    with _lock:
        _open[id(workspace)] = workspace, run


def close(workspace: LiveWorkspace) -> None:
    """Close a workspace; blocks.  What is left over is told in the log, and tried again at the end of the run."""
    try:
        workspace.close()
    except BenchwrightError as error:
        _logger.warning("A sandbox could not be closed: %s", error)
    else:
        with _lock:
            _open.pop(id(workspace), None)


def close_all(run: object | None = None) -> None:
    """Close what is open still, of one run or of all; blocks."""
    for workspace in _of(run):
        close(workspace)


def _of(run: object | None) -> Iterator[LiveWorkspace]:
    with _lock:
        found = list(_open.values())
    return (workspace for workspace, its_run in found if run is None or its_run is run)


@functools.cache
def _close_at_exit() -> None:
    """Once, however often it is called."""
    atexit.register(close_all)
