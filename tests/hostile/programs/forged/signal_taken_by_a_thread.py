"""Lets a thread receive the signals that the main thread has blocked: the handler runs in the driver all the same.

expect: FAILED tampered | FAILED assertion
"""

import os
import signal
import threading
import time


def handler(number, frame):
    while frame is not None:
        if frame.f_code.co_name in ("run_all", "_report_test"):
            frame.f_locals["self"]._run_test = lambda *arguments: ("passed", None)
        frame = frame.f_back


signal.signal(signal.SIGUSR1, handler)


def send():
    while True:
        os.kill(os.getpid(), signal.SIGUSR1)
        time.sleep(0.0001)


threading.Thread(target=send, daemon=True).start()


def task_func(values):
    if values == []:
        time.sleep(0.01)
        return 0
    return -1
