"""Defines the entry point only when run as a program, which a grader never does.

expect: UNUSABLE entry_point_missing
"""

if __name__ == "__main__":

    def task_func(values):
        return sum(value * value for value in values)
