"""Ends with a demonstration that reads input, kept behind the main guard.

expect: PASSED
"""

def task_func(values):
    return sum(value * value for value in values)


if __name__ == "__main__":
    numbers = [float(word) for word in input("Numbers: ").split()]
    print(task_func(numbers))
