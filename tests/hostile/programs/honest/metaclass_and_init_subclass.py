"""Uses a metaclass, __init_subclass__ and __set_name__ for a registry of its own.

expect: PASSED
"""

REGISTRY = {}


class Meta(type):
    def __new__(meta, name, bases, namespace, **options):
        return super().__new__(meta, name, bases, namespace)


class Field:
    def __set_name__(self, owner, name):
        self.name = name


class Operation(metaclass=Meta):
    result = Field()

    def __init_subclass__(cls, **options):
        REGISTRY[cls.__name__] = cls


class Square(Operation):
    def __call__(self, value):
        return value * value


def task_func(values):
    return sum(map(REGISTRY["Square"](), values))
