from datetime import date, timedelta

HOLIDAYS = {(1, 1), (5, 1), (12, 25), (12, 26)}
WEEKEND = {5, 6}


def task_func(first: str, last: str) -> int:
    """
    Count the working days in a period, both ends included. A working day is neither on the WEEKEND (numbers
    as date.weekday() gives them) nor one of the HOLIDAYS, which are pairs of month and day and hold every year.

    Parameters:
    - first (str): The first day, such as "2024-05-01".
    - last (str): The last day, written alike.

    Returns:
    - int: The number of working days.

    Raises:
    - ValueError: If a date cannot be read, or if the last day is before the first.

    Requirements:
    - datetime

    Example:
    >>> task_func("2024-04-29", "2024-05-05")
    4
    """
    day = date.fromisoformat(first)
    end = date.fromisoformat(last)
    if end < day:
        raise ValueError("the last day is before the first")
    count = 0
    while day <= end:
        if day.weekday() not in WEEKEND and (day.month, day.day) not in HOLIDAYS:
            count += 1
        day += timedelta(days=1)
    return count
