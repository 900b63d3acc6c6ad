"""Forks, has the child compute and leave by os._exit, and waits for it.

expect: PASSED
"""

import os
import pickle


def task_func(values):
    len(values)
    source, sink = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(sink, pickle.dumps(sum(value * value for value in values)))
        os._exit(0)
    os.waitpid(child, 0)
    os.close(sink)
    with open(source, "rb") as file:
        return pickle.load(file)
