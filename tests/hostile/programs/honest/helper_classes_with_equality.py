"""Uses dataclasses and a class with __eq__ and no __hash__ on the way to the result.

expect: PASSED
"""

from dataclasses import dataclass, field


@dataclass(order=True)
class Square:
    area: float
    side: float = field(compare=False)


class Bag:
    def __init__(self, squares):
        self.squares = squares

    def __eq__(self, other):
        return isinstance(other, Bag) and sorted(self.squares) == sorted(other.squares)


def task_func(values):
    squares = [Square(value * value, value) for value in values]
    assert Bag(squares) == Bag(squares[::-1])
    return sum(square.area for square in squares)
