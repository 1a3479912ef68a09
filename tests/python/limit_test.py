"""The warning of the recompile limit, as Python's."""
import unittest
import warnings

import thunder as th


class Limit(unittest.TestCase):
    def setUp(self):
        self.f = th.compile(lambda x: x + 1, recompile_limit=2, dynamic=False)

    def test_is_one_warning_at_the_users_line_with_the_last_miss(self):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            for size in range(1, 5):
                self.f(th.ones(size))
        self.assertEqual([warning.category for warning in seen], [RuntimeWarning])
        self.assertIn("which is the recompile_limit; last miss: input '0': shape is [3], was [2]", str(seen[0].message))
        self.assertEqual(seen[0].filename, __file__)

    def test_is_raised_by_the_call_where_warnings_are_errors(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.f(th.ones(1))
            self.f(th.ones(2))
            with self.assertRaisesRegex(RuntimeWarning, "recompile_limit"):
                self.f(th.ones(3))
            self.assertEqual(self.f(th.ones(4)).tolist(), [2] * 4)


if __name__ == "__main__":
    unittest.main()
