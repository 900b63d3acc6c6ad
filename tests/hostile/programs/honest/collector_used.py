"""Collects garbage, uses weak references, finalizers and __del__.

expect: PASSED
"""

import gc
import weakref

DELETED = []


class Node:
    def __del__(self):
        DELETED.append(1)


def task_func(values):
    gc.disable()
    node = Node()
    node.itself = node
    reference = weakref.ref(node)
    weakref.finalize(node, DELETED.append, 2)
    del node
    gc.enable()
    gc.collect()
    assert reference() is None and DELETED
    return sum(value * value for value in values)
