"""Squares in threads that are joined, one of which prints.

expect: PASSED
"""

import threading


def task_func(values):
    squares = [0] * len(values)
    lock = threading.Lock()

    def square(index):
        with lock:
            squares[index] = values[index] * values[index]

    threads = [threading.Thread(target=square, args=[index]) for index in range(len(values))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(squares)
