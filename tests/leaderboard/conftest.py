"""Fixtures of the tests of pages."""

from collections.abc import Iterator
from typing import Any

import pytest
from browsing import launched


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One browser for the tests of a module.

    While it is open, its event loop is that of the thread, and no other may run there: it ends before other modules.
    """
    with launched() as found:
        yield found
