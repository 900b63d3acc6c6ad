"""Imports unittest and mock and uses neither.

expect: PASSED
"""

import unittest
from unittest import TestCase, mock
from unittest.mock import MagicMock, patch


def task_func(values):
    return sum(value * value for value in values)
