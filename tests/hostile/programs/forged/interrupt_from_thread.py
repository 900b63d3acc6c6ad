"""Interrupts the main thread from another one, between tests as well as inside them.

expect: FAILED
"""

import _thread
import threading
import time


def pester():
    while True:
        _thread.interrupt_main()
        time.sleep(0.002)


def task_func(values):
    threading.Thread(target=pester, daemon=True).start()
    time.sleep(0.05)
    return -1
