"""What the checks of both kinds of sandboxes do: calls from many threads, and calls that must be refused."""

import threading
from collections.abc import Callable

from benchwright.core.errors import BenchwrightError, SandboxFault


def in_threads(count: int, work: Callable[[int], None]) -> None:
    """Do something in so many threads at once, each with a number from 0, and wait for all."""
    threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def raises_fault(call: Callable[[], object], what: str) -> None:
    """Check that something raises `SandboxFault`; ``what`` says what it is."""
    try:
        call()
    except SandboxFault:
        return
    except BenchwrightError as error:
        raise AssertionError(f"{what} raised {type(error).__name__} instead of SandboxFault: {error}") from error
    raise AssertionError(f"{what} was not refused")
