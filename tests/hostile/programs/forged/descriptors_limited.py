"""Lowers its own descriptor and file size limits to nothing, so that nothing can be opened or written.

expect: FAILED
"""

import resource


def task_func(values):
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    return -1
