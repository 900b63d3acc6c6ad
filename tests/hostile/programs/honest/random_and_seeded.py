"""Seeds random, draws, sleeps a moment and reads clocks.

expect: PASSED
"""

import random
import time
import uuid


def task_func(values):
    random.seed(42)
    shuffled = [value for value in values]
    random.shuffle(shuffled)
    time.sleep(0.01)
    assert time.time() > 0 and uuid.uuid4()
    return sum(value * value for value in values)
