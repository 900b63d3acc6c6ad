"""What a model is shown of foreign bytes: text without surprises, the middle left out when it is long."""

import re

_COLOURS = re.compile(r"\x1b\[[0-9;:?]*[ -/]*[@-~]")
"""What tells a terminal of colours, cursors and windows: nothing to a reader, and tokens to a model."""
_CONTROLS = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n\r"}
"""To Unicode's pictures of them: no log, terminal or provider takes them otherwise, and none refuses them."""
_NO_CHARACTERS = dict.fromkeys((*range(0x80, 0xA0), *range(0xD800, 0xE000)), 0xFFFD)
_HARMLESS = {**_CONTROLS, 0x7F: 0x2421, **_NO_CHARACTERS}
_LONE_RETURN = re.compile(r"\r(?!\n)")


def harmless(text: str) -> str:
    """A text without control characters but tabs and line ends; a progress bar's returns become line ends."""
    return _LONE_RETURN.sub("\n", _COLOURS.sub("", text)).translate(_HARMLESS)


def clipped(data: bytes, limit: int, total: int | None = None) -> str:
    """Output as text: its head and tail with a note between them when it has more than so many bytes.

    Args:
        data: The output; when it is not all of it, at least ``limit`` bytes from its start and its end.
        limit: Bytes to show.
        total: Bytes of the whole output, when they are more than are given.
    """
    total = len(data) if total is None else total
    if total <= limit:
        return harmless(data.decode("utf-8", "replace"))
    head, tail = data[: _boundary(data, limit // 2)], data[_boundary(data, len(data) - limit // 2) :]
    missing = total - len(head) - len(tail)
    first, last = (harmless(part.decode("utf-8", "replace")) for part in (head, tail))
    return f"{first}\n[… {missing:,} bytes left out …]\n{last}"


def clipped_text(text: str, limit: int) -> str:
    """As `clipped`, for what is a text already."""
    return clipped(text.encode("utf-8", "replace"), limit)


def _boundary(data: bytes, place: int) -> int:
    """The place, or up to three bytes before it, so that no character of UTF-8 is cut."""
    for back in range(4):
        if place - back <= 0 or data[place - back] & 0xC0 != 0x80:
            return max(0, place - back)
    return place
