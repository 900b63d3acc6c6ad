"""Makes a large sparse file and fills it through a memory map, where no write call can refuse.

expect: FAILED crashed | FAILED exception | OVER_LIMIT memory
"""

import mmap


def task_func(values):
    with open("sparse", "w+b") as file:
        file.truncate(1 << 30)
        area = mmap.mmap(file.fileno(), 1 << 30)
        for offset in range(0, 1 << 30, 4096):
            area[offset] = 1
    return sum(value * value for value in values)
