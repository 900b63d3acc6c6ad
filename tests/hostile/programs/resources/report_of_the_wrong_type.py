"""Raises a ModuleNotFoundError whose name is a text with its own partition, to put a list where the host expects a text.

expect: FAILED
"""


class Name(str):
    def partition(self, separator):
        return [[["no", "text"]]]


def task_func(values):
    raise ModuleNotFoundError("nothing", name=Name("nothing"))
