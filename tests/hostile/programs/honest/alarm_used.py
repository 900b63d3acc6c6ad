"""Guards its work with an alarm and a handler and takes both back.

expect: PASSED
"""

import signal


class TookTooLong(Exception):
    pass


def handler(number, frame):
    raise TookTooLong


def task_func(values):
    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 2)
    try:
        return sum(value * value for value in values)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
