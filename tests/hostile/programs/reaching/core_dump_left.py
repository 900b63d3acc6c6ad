"""Has a child crash with a core limit as high as it gets; right values only if no core file appears outside.

expect: PASSED
"""

import os
import resource
import signal

resource.setrlimit(resource.RLIMIT_CORE, (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2)
CHILD = os.fork()
if CHILD == 0:
    os.kill(os.getpid(), signal.SIGSEGV)
    os._exit(0)
os.waitpid(CHILD, 0)


def task_func(values):
    return sum(value * value for value in values)
