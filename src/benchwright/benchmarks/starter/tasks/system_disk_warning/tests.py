import unittest
from collections import namedtuple
from unittest import mock

Usage = namedtuple("Usage", "total used free")
UNIT = 1024**3


def fake_usage(path):
    disks = {
        "/full": Usage(100 * UNIT, 95 * UNIT, 5 * UNIT),
        "/busy": Usage(100 * UNIT, 80 * UNIT, 20 * UNIT),
        "/half": Usage(10 * UNIT, 5 * UNIT, 5 * UNIT),
        "/also_half": Usage(100 * UNIT, 50 * UNIT, 12 * UNIT),
        "/odd": Usage(100 * UNIT, 7 * UNIT, int(92.26 * UNIT)),
        "/void": Usage(0, 0, 0),
    }
    if path not in disks:
        raise FileNotFoundError(path)
    return disks[path]


class TestCases(unittest.TestCase):
    def setUp(self):
        patcher = mock.patch("shutil.disk_usage", fake_usage)
        patcher.start()
        self.addCleanup(patcher.stop)

    def test_example(self):
        self.assertEqual(task_func(["/no/such/path"]), [("/no/such/path", "absent", 0.0)])

    def test_limits_are_inclusive(self):
        self.assertEqual(
            task_func(["/busy", "/full"]), [("/full", "critical", 5.0), ("/busy", "warning", 20.0)]
        )

    def test_ok(self):
        self.assertEqual(task_func(["/odd"]), [("/odd", "ok", 92.3)])

    def test_absent_comes_last(self):
        self.assertEqual(
            task_func(["/gone", "/void", "/half"]),
            [("/half", "ok", 5.0), ("/void", "ok", 0.0), ("/gone", "absent", 0.0)],
        )

    def test_equal_shares_keep_their_order(self):
        self.assertEqual([row[0] for row in task_func(["/half", "/also_half"])], ["/half", "/also_half"])
        self.assertEqual([row[0] for row in task_func(["/also_half", "/half"])], ["/also_half", "/half"])

    def test_no_paths(self):
        self.assertEqual(task_func([]), [])

    def test_free_space_is_not_derived(self):
        self.assertEqual(task_func(["/also_half"]), [("/also_half", "ok", 12.0)])
