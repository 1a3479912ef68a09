"""Functions of trees of leaves."""
# covers: bindings/python/thunder/_tree.py
import unittest

import thunder as th

th.seed(0)  # the same numbers at each run


class Trees(unittest.TestCase):
    def test_tree_map_goes_through_several_trees(self):
        tree = {"a": [1, (2, 3)], "b": ()}
        self.assertEqual(th.tree_map(lambda x, y, z: x + y * z, tree, tree, tree), {"a": [2, (6, 12)], "b": ()})
        for other in ({"a": [1, (2,)], "b": ()}, {"a": [1, (2, 3)]}, {"a": [1, 5], "b": ()}, {"a": {0: 1, 1: (2, 3)}, "b": ()}, 1):
            with self.assertRaisesRegex(ValueError, "tree_map: the trees differ: "):
                th.tree_map(max, tree, other)


if __name__ == "__main__":
    unittest.main()
