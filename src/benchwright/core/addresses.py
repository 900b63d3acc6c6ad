"""Addresses that somebody else wrote down, before anybody is led there."""

from urllib.parse import urlsplit


def is_web_address(text: str) -> bool:
    """Whether a browser may be led there: http or https and a host; no ``javascript:``, no bare name."""
    try:
        address = urlsplit(text)
    except ValueError:  # such as a bracket that is not closed
        return False
    return address.scheme in {"http", "https"} and bool(address.netloc)
