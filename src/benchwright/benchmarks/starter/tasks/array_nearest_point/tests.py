import unittest


class TestCases(unittest.TestCase):
    def test_example(self):
        self.assertEqual(task_func([(0, 0), (3, 4), (3, 5)]), [(1, 5.0), (2, 1.0), (1, 1.0)])

    def test_lowest_index_wins(self):
        self.assertEqual(task_func([(1.0,), (0.0,), (2.0,)]), [(1, 1.0), (0, 1.0), (0, 1.0)])

    def test_equal_points(self):
        self.assertEqual(task_func([(2, 2), (2, 2), (2, 2)]), [(1, 0.0), (0, 0.0), (0, 0.0)])

    def test_three_coordinates(self):
        result = task_func([(0, 0, 0), (1, 1, 1)])
        self.assertEqual(result, [(1, 1.732051), (0, 1.732051)])

    def test_distance_is_not_by_coordinates(self):
        self.assertEqual(task_func([(0, 0), (3, 3), (0, 5)])[0], (1, 4.242641))

    def test_plain_types(self):
        index, distance = task_func([[0, 1], [0, 2]])[0]
        self.assertIs(type(index), int)
        self.assertIs(type(distance), float)

    def test_too_few_points(self):
        for points in ([], [(1, 2)], [1, 2, 3]):
            with self.assertRaises(ValueError):
                task_func(points)
