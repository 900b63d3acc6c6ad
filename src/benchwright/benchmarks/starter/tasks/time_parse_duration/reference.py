import re

UNIT_SECONDS = {"d": 86400, "h": 3600, "m": 60, "s": 1}
PART_PATTERN = re.compile(r"(\d+(?:\.\d+)?)([dhms])")


def task_func(text: str) -> float:
    """
    Convert a duration such as "1h 30m" into seconds. A duration is one or more parts of a number and a unit
    in UNIT_SECONDS, as PART_PATTERN describes, with or without white space between the parts. Units may be in
    upper case, must go from large to small, and occur once at most.

    Parameters:
    - text (str): The duration.

    Returns:
    - float: The number of seconds.

    Raises:
    - ValueError: If text is not such a duration, or if its units are repeated or out of order.

    Requirements:
    - re

    Example:
    >>> task_func("1h 30m")
    5400.0
    >>> task_func("2D0.5s")
    172800.5
    """
    compact = re.sub(r"\s+(?=\d)", "", text.strip().lower())
    if not compact or PART_PATTERN.sub("", compact):
        raise ValueError(f"not a duration: {text!r}")
    parts = PART_PATTERN.findall(compact)
    sizes = [UNIT_SECONDS[unit] for _, unit in parts]
    if any(later >= earlier for earlier, later in zip(sizes, sizes[1:])):
        raise ValueError(f"units must go from large to small, each at most once: {text!r}")
    return float(sum(float(number) * size for (number, _), size in zip(parts, sizes)))
