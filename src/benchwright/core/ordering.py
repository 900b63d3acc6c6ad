"""The order in which names that hold numbers are shown."""

import re


def natural(text: str) -> tuple[tuple[int | str, ...], str]:
    """A key that sorts ``Task/9`` before ``Task/10``; total over all texts."""
    parts = re.split("([0-9]+)", text)  # every second one is a number, of which no more digits count than int() takes
    return tuple(int(part[:300]) if place % 2 else part for place, part in enumerate(parts)), text
