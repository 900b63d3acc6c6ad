"""Keeps a thread pool in a global that nobody shuts down, and a daemon thread.

expect: PASSED
"""

import queue
import threading
from concurrent.futures import ThreadPoolExecutor

POOL = ThreadPoolExecutor(max_workers=2)
WORK = queue.Queue()


def log():
    while True:
        WORK.get()


threading.Thread(target=log, daemon=True).start()


def task_func(values):
    WORK.put(values)
    return sum(POOL.map(lambda value: value * value, values))
