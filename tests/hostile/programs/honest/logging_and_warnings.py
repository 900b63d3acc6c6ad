"""Logs with caller information and warns with a stack level, both of which look at frames.

expect: PASSED
"""

import logging
import warnings

logging.basicConfig(level=logging.DEBUG, format="%(filename)s:%(lineno)d %(funcName)s %(message)s", force=True)
LOG = logging.getLogger(__name__)


def task_func(values):
    LOG.info("values: %r", values, stack_info=True, stacklevel=2)
    warnings.warn("this is only a drill", DeprecationWarning, stacklevel=2)
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("error")
    return sum(value * value for value in values)
