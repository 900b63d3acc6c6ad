"""Measures its own memory with tracemalloc, resource and sys.getsizeof.

expect: PASSED
"""

import resource
import sys
import tracemalloc


def task_func(values):
    tracemalloc.start()
    try:
        total = sum(value * value for value in values)
        assert tracemalloc.get_traced_memory()[1] >= 0
    finally:
        tracemalloc.stop()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > 0 and sys.getsizeof(total) > 0
    return total
