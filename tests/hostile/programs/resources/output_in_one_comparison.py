"""Returns wrong numbers whose repr is 50 MB long, so that failure messages are.

expect: FAILED assertion | OVER_LIMIT memory
"""

class Long(int):
    def __repr__(self):
        return "9" * (50 << 20)


def task_func(values):
    return Long(-1)
