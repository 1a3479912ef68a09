"""What is seen at the prompt and in a notebook."""
import io
import pickle
import pydoc
import unittest
from contextlib import redirect_stdout

import thunder as th
from thunder import data


def shown(value):
    """help(value), as it is printed."""
    with redirect_stdout(io.StringIO()) as printed:
        pydoc.Helper(output=printed).help(value)
    return printed.getvalue()


class Compiled(unittest.TestCase):
    def setUp(self):
        self.f = th.compile(scaled)
        for size in (2, 2, 3):
            self.f(th.ones(size))

    def test_a_compiled_function_shows_its_signature_and_counts(self):
        self.assertEqual(repr(self.f), "<compiled function scaled(x, *, by=2): 3 calls, 2 programs>")
        self.assertEqual(repr(th.compile(max)), "<compiled function max: 0 calls, 0 programs>")

    def test_help_of_one_is_its_own(self):
        self.assertIn("scaled(x, *, by=2)\n    Scales x.", shown(self.f))

    def test_a_list_of_traces_is_a_table_of_contents(self):
        traces = th.last_traces(self.f)
        lines = repr(traces).splitlines()
        self.assertEqual(len(lines), len(traces))
        self.assertRegex(lines[0], r"^\[0\] after trace +2 lines +[0-9.]+ ms$")
        self.assertEqual(repr(traces[:1]).split(), lines[0].split())
        self.assertIn("softmax(", str(traces[0]))

    def test_notebooks_fold_the_stages_and_open_the_last(self):
        traces = th.last_traces(self.f)
        page = traces._repr_html_()
        self.assertEqual((page.count("<details"), page.count("<details open")), (len(traces), 1))
        self.assertTrue(traces[0]._repr_html_().startswith("<details open><summary>after trace: 2 lines"))
        self.assertNotIn("<lambda>", th.trace(lambda x: x * 2)(th.ones(1))._repr_html_())


def scaled(x, *, by=2):
    """Scales x."""
    return th.softmax(x, 0) * by


class Names(unittest.TestCase):
    def test_an_op_shows_its_schema_and_help_its_doc(self):
        self.assertEqual(repr(th.softmax), "<op softmax(tensor input, int dim, dtype? dtype=None) -> tensor>")
        self.assertEqual(repr(th.Tensor.relu_), "<op relu_(tensor input) -> tensor>")
        self.assertRegex(th.softmax._repr_html_(), "<code>softmax.*-&gt; tensor</code>")
        text = shown(th.softmax)
        self.assertIn("softmax(input: 'Tensor | float', dim: 'int', dtype: 'dtype | None' = None)", text)
        self.assertIn("divided by its sum along dim", text)
        self.assertIn("(dim, keepdim=False)", shown(th.max))

    def test_lists_of_ops_are_found_by_a_part_of_the_name_and_print_as_text(self):
        found = th.ops("_SOFTMAX")
        self.assertEqual([row["name"] for row in found], ["gumbel_softmax", "log_softmax"])
        self.assertTrue(repr(found[1]).startswith("log_softmax(tensor input, int dim, dtype? dtype=None) -> tensor\n    The log"))
        self.assertEqual(repr(found[1:]), repr(found[1]))
        self.assertEqual(found._repr_html_().count("<tr>"), 2)
        self.assertEqual(repr(th.ops("no such")), "[]")
        self.assertIn("freezing (bool, by default false)\n    ", repr(th.compile_options()))

    def test_dtypes_and_devices(self):
        cpu, gpu = th.ones(1).device, th.device("cuda:1")
        self.assertEqual((repr(th.float32), repr(cpu), repr(gpu)), ("thunder.float32", "cpu", "cuda:1"))
        self.assertEqual((cpu.type, cpu.index, gpu.type, gpu.index), ("cpu", None, "cuda", 1))

    def test_other_objects(self):
        self.assertEqual(repr(data.batches(th.ones(5), 2)), "<batches: 3 in an epoch>")
        self.assertEqual(repr(th.ones(2).max(0)), "max(\nvalues=tensor(1.),\nindices=tensor(0))")
        self.assertEqual(repr(pickle.loads(pickle.dumps(th.ones(2).min(0)))), "min(\nvalues=tensor(1.),\nindices=tensor(0))")


if __name__ == "__main__":
    unittest.main()
