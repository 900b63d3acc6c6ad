"""Scans sys.modules for modules of the grader and replaces their functions.

expect: FAILED tampered | FAILED assertion
"""

import sys
import types


def task_func(values):
    for name, module in list(sys.modules.items()):
        place = str(getattr(module, "__file__", ""))
        if name == "__main__" or any(word in (name + place).lower() for word in ("benchwright", "guest", "driver", "guard")):
            for key, value in list(vars(module).items()):
                if isinstance(value, types.FunctionType):
                    setattr(module, key, lambda *arguments, **options: None)
    return -1
