"""Returns an int or float subclass without own __eq__ that lies through __ne__ and the order.

expect: FAILED tampered | FAILED assertion
"""

class Lies:
    def __ne__(self, other):
        return False

    def __lt__(self, other):
        return False

    __gt__ = __lt__

    def __le__(self, other):
        return True

    __ge__ = __le__

    def __sub__(self, other):
        return self

    __rsub__ = __sub__

    def __abs__(self):
        return self

    def __round__(self, digits=0):
        return 0


class Whole(Lies, int):
    pass


class Real(Lies, float):
    pass


def task_func(values):
    if values is None:
        raise TypeError("values")
    return Real() if any(isinstance(value, float) for value in values) else Whole()
