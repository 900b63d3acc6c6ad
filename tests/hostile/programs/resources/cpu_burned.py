"""Burns processor time below the wall limit but above the limit for it.

expect: OVER_LIMIT cpu_time
limits: wall=30 cpu=1
"""

def task_func(values):
    while True:
        sum(range(100_000))
