"""Evaluates text nested so deeply that the compiler gives up or breaks.

expect: FAILED exception | FAILED crashed
"""

def task_func(values):
    return eval("(" * 100_000 + "14" + ")" * 100_000)
