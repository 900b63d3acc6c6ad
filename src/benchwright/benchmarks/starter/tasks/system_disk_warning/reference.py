import shutil

WARNING_SHARE = 0.80
CRITICAL_SHARE = 0.95
GIBIBYTE = 1024**3


def task_func(paths: list) -> list:
    """
    Judge how full the disks are on which the paths lie. The used share is used bytes divided by total bytes.
    From CRITICAL_SHARE on the state is "critical", from WARNING_SHARE on "warning", otherwise "ok"; a disk with
    a total of zero bytes is "ok". A path which does not exist has the state "absent" and 0.0 free. The fullest
    disk comes first, absent paths come last, and equal ones keep their order.

    Parameters:
    - paths (list): The paths (str).

    Returns:
    - list: Tuples of path, state and the free space in units of GIBIBYTE (float, rounded to 1 decimal).

    Requirements:
    - shutil

    Example:
    >>> task_func(["/no/such/path"])
    [('/no/such/path', 'absent', 0.0)]
    """
    rows = []
    for path in paths:
        try:
            usage = shutil.disk_usage(path)
        except FileNotFoundError:
            rows.append((-1.0, (path, "absent", 0.0)))
            continue
        share = usage.used / usage.total if usage.total else 0.0
        if share >= CRITICAL_SHARE:
            state = "critical"
        elif share >= WARNING_SHARE:
            state = "warning"
        else:
            state = "ok"
        rows.append((share, (path, state, round(usage.free / GIBIBYTE, 1))))
    return [row for _, row in sorted(rows, key=lambda pair: pair[0], reverse=True)]
