"""Opens a path whose startswith is its own: where the witness is a Python hook, that runs inside it and reads key and counter.

expect: FAILED
"""

import os
import sys

FOUND = []


class Path(str):
    def startswith(self, *arguments):
        frame = sys._getframe(1)
        while frame is not None and "send" not in frame.f_locals:
            frame = frame.f_back
        if frame is not None:
            send = frame.f_locals["send"]
            FOUND.append(send)
        return False


def task_func(values):
    try:
        os.open(Path("/nowhere"), os.O_RDONLY)
    except OSError:
        pass
    if FOUND:
        for name in sorted(vars(globals()["TestCases"])):
            if name.startswith("test_"):
                FOUND[0]('{"kind":"test","id":"TestCases.%s","outcome":"passed","seconds":0,"exception":"","message":"","missing_module":null}' % name)
        FOUND[0]('{"kind":"closing","missing":[]}')
        os._exit(0)
    return -1
