"""Pickles and copies instances of its own classes, which are found by their module's name.

expect: PASSED
"""

import copy
import pickle


class Box:
    def __init__(self, value):
        self.value = value

    def __reduce__(self):
        return Box, (self.value,)


def task_func(values):
    boxes = pickle.loads(pickle.dumps([Box(value) for value in values]))
    return sum(box.value * box.value for box in copy.deepcopy(boxes))
