"""Passes written in Python."""
import unittest

import numpy as np

import thunder as th


def stage(function, name):
    return next((str(trace) for trace in th.last_traces(function) if trace.name == name), None)


class Passes(unittest.TestCase):
    def test_edit_the_lines(self):
        seen = []

        def edit(trace):
            for line in trace:
                seen.append(line.op)
                if line.op == "sqrt":
                    line.replace(lambda x: x.rsqrt() * x)
                elif line.op == "exp":
                    self.assertEqual(line.insert_before(lambda x: x * 2).shape, (1,))
                    self.assertEqual(line.insert_after(lambda y: y.log()).shape, (1,))
                    self.assertIn("pass_test.py", line.where)
        f = th.compile(lambda x: th.sqrt(x) + th.exp(x), passes=[th.Pass("edit_py", edit, before="grad")], verify=True)
        np.testing.assert_allclose(f(th.tensor([4.0])).tolist(), [2 + np.exp(4)], rtol=1e-5)
        self.assertEqual(seen, ["sqrt", "exp", "add"])
        self.assertIn("rsqrt", stage(f, "edit_py"))
        self.assertNotIn("log(", stage(f, "edit_py"))  # nothing reads it

    def test_of_rules_and_a_function_are_one(self):
        both = th.Pass("both_py", lambda trace: [line.replace(lambda x: x * 3) for line in trace if line.op == "rsqrt"],
                       rules="div(a, sqrt(b)) -> mul(a, rsqrt(b))", before="grad")
        f = th.compile(lambda a, b: a / th.sqrt(b), passes=[both])
        self.assertEqual(f(th.ones(2), th.tensor([4.0, 16.0])).tolist(), [12, 48])

    def test_that_are_added_are_part_of_every_compile(self):
        @th.add_pass("double_relu_py", before="grad")
        def double(trace):
            for line in trace:
                if line.op == "relu":
                    line.replace(lambda x: th.relu(x) * 2)
        x = th.tensor([1.0, -1.0])
        self.assertEqual(th.compile(th.relu)(x).tolist(), [2, 0])
        self.assertEqual(th.compile(th.relu, disable_passes=["double_relu_py"])(x).tolist(), [1, 0])
        self.assertIn("double_relu_py", [row["name"] for row in th.passes()])
        with self.assertRaisesRegex(th.Error, "double_relu_py"):
            th.add_pass("double_relu_py", double)

    def refused(self, kind, text, run):
        with self.assertRaisesRegex(kind, text):
            th.compile(lambda x: th.exp(x) * 2, passes=[th.Pass("wrong_py", run, before="grad")])(th.ones(3))

    def test_whose_edits_are_wrong_are_refused(self):
        def late(trace):
            trace[0].replace(lambda x: trace[0].insert_after(lambda y: y))
        self.refused(th.Error, "pass 'wrong_py': line 0, .*is removed, but mul reads its result", lambda trace: trace[0].delete())
        self.refused(th.Error, r"f32\[3\].*f32\[\]|f32\[\].*f32\[3\]", lambda trace: trace[0].replace(lambda x: x.sum()))
        self.refused(th.Error, "wrong_py", late)
        self.refused(KeyError, "on purpose", lambda trace: {}["on purpose"])
        self.refused(ZeroDivisionError, "", lambda trace: trace[0].replace(lambda x: 1 / 0))
        self.refused(AttributeError, "replac", lambda trace: trace[0].replac())
        with self.assertRaisesRegex(th.Error, "unknown pass 'nowhere'"):
            th.add_pass("nowhere_py", lambda trace: None, after="nowhere")

    def test_lend_their_trace(self):
        kept = []
        th.compile(th.exp, passes=[th.Pass("keeps_py", kept.extend)])(th.ones(1))
        with self.assertRaisesRegex(RuntimeError, "the pass is over"):
            kept[0].delete()

    def test_compute_beside_the_trace_at_once(self):
        values = []
        count = th.Pass("count_py", lambda trace: values.append((th.ones(2) * len(trace)).tolist()), before="grad")
        th.compile(lambda x: th.exp(x) * 2, passes=[count])(th.ones(1))
        self.assertEqual(values, [[2, 2]])


if __name__ == "__main__":
    unittest.main()
