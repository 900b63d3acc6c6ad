"""Sets the decimal context and locale and computes exactly where it can.

expect: PASSED
"""

import decimal
import locale

decimal.getcontext().prec = 60
try:
    locale.setlocale(locale.LC_ALL, "")
except locale.Error:
    pass


def task_func(values):
    total = sum(decimal.Decimal(value) ** 2 for value in values)
    return float(total) if any(isinstance(value, float) for value in values) else int(total)
