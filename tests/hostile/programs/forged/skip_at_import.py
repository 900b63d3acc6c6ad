"""Raises SkipTest while it is loaded.

expect: FAILED exception | FAILED tests_skipped
"""

import unittest

raise unittest.SkipTest("not supported on this platform")
