"""Where readers may be led."""

import pytest

from benchwright.core.addresses import is_web_address


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://example.org/a?b#c", True),
        ("http://example.org", True),
        ("javascript:alert(1)", False),
        ("https:example.org", False),
        ("//example.org", False),
        ("example.org", False),
        ("http://[x", False),
        ("", False),
    ],
)
def test_only_addresses_of_the_web_are_followed(text: str, expected: bool) -> None:
    """Scripts, bare names and broken addresses are text and no links."""
    assert is_web_address(text) is expected
