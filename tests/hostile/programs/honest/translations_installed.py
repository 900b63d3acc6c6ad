"""Installs gettext, which adds a name to the builtins as documented.

expect: PASSED
"""

import gettext

gettext.install("messages")


def task_func(values):
    print(_("values"), values)
    return sum(value * value for value in values)
