"""Replaces isinstance and round from inside the function.

expect: FAILED tampered
"""

def task_func(values):
    import builtins

    real = isinstance
    builtins.isinstance = lambda value, kind: type(value) is Wrong or real(value, kind)
    builtins.round = lambda value, digits=0: value
    if values is None:
        raise TypeError("values")
    return Wrong()


class Wrong:
    def __eq__(self, other):
        return True

    __hash__ = None
