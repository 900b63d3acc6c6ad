from datetime import datetime

TIME_FORMAT = "%H:%M"


def task_func(meetings: list) -> tuple:
    """
    Work out how long a day is taken up by meetings. Times follow TIME_FORMAT. Minutes covered by several
    meetings count once, and meetings that overlap or touch form one block.

    Parameters:
    - meetings (list): Pairs of start and end as text, in any order.

    Returns:
    - tuple: The number of busy minutes (int), and the blocks as a list of pairs of start and end, written as
      TIME_FORMAT says and ordered by time.

    Raises:
    - ValueError: If a time cannot be read, or if a meeting does not end after its start.

    Requirements:
    - datetime

    Example:
    >>> task_func([("09:00", "10:00"), ("09:30", "11:00"), ("13:00", "13:15")])
    (135, [('09:00', '11:00'), ('13:00', '13:15')])
    """
    parsed = []
    for start_text, end_text in meetings:
        start = datetime.strptime(start_text, TIME_FORMAT)
        end = datetime.strptime(end_text, TIME_FORMAT)
        if end <= start:
            raise ValueError(f"the meeting {start_text}-{end_text} does not end after its start")
        parsed.append((start, end))
    blocks = []
    for start, end in sorted(parsed):
        if blocks and start <= blocks[-1][1]:
            blocks[-1] = (blocks[-1][0], max(blocks[-1][1], end))
        else:
            blocks.append((start, end))
    minutes = sum(int((end - start).total_seconds()) // 60 for start, end in blocks)
    return minutes, [(start.strftime(TIME_FORMAT), end.strftime(TIME_FORMAT)) for start, end in blocks]
