"""Squares in a thread pool.

expect: PASSED
"""

from concurrent.futures import ThreadPoolExecutor


def task_func(values):
    with ThreadPoolExecutor(max_workers=4) as pool:
        return sum(pool.map(lambda value: value * value, values))
