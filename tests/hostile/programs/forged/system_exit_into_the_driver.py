"""Injects SystemExit into the main thread through the C API, hoping to hit the driver between tests.

expect: FAILED
"""

import ctypes
import threading
import time

MAIN = threading.main_thread().ident


def inject():
    for _ in range(400):
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(MAIN), ctypes.py_object(SystemExit))
        time.sleep(0.001)


threading.Thread(target=inject, daemon=True).start()


def task_func(values):
    return -1
