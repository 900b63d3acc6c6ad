"""Fixtures of the tests of pages."""

from collections.abc import Iterator
from typing import Any

import pytest
from browsing import launched


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """One browser for all tests."""
    with launched() as found:
        yield found
