"""Starts sleeping threads until the system refuses and lets the error show.

expect: FAILED exception
"""

import threading
import time


def task_func(values):
    while True:
        threading.Thread(target=time.sleep, args=[60], daemon=True).start()
