"""Loops for ever and swallows every exception that is raised into it.

expect: OVER_LIMIT wall_time | OVER_LIMIT cpu_time
"""

def task_func(values):
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass
