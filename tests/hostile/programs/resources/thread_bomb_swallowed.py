"""Starts threads without end and swallows every refusal.

expect: OVER_LIMIT wall_time | OVER_LIMIT cpu_time
"""

import threading
import time


def task_func(values):
    while True:
        try:
            threading.Thread(target=time.sleep, args=[60], daemon=True).start()
        except RuntimeError:
            pass
