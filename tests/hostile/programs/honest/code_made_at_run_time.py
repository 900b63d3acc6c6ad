"""Builds its function with exec, eval, compile and ast.

expect: PASSED
"""

import ast

tree = ast.parse("lambda values: sum(value * value for value in values)", mode="eval")
task_func = eval(compile(tree, "<made>", "eval"))
exec("def helper(value):\n    return value")
