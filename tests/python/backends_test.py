"""compile(backend=..., mode=..., options={...}): names, functions, and what is refused."""
import pathlib
import tempfile
import unittest

import numpy

import thunder as th


def twice_sine(x):
    return (th.sin(x) * 2).sum()


X = th.tensor([0.0, 0.5, 1.0])
EXPECTED = float(2 * numpy.sin([0.0, 0.5, 1.0]).sum())


class Backends(unittest.TestCase):
    def test_names_are_listed_without_those_for_debugging(self):
        self.assertLessEqual({"cudagraphs", "thunder"}, set(th.list_backends()))
        self.assertFalse({"aot_eager", "eager", "host"} & set(th.list_backends()))
        self.assertIn("eager", th.list_backends(exclude_tags=()))

    def test_each_gives_the_same_value(self):
        for name in th.list_backends(None):
            self.assertAlmostEqual(float(th.compile(twice_sine, backend=name)(X)), EXPECTED, places=5, msg=name)

    def test_a_function_gets_the_whole_trace_and_runs_it(self):
        seen = []

        def printing(graph, example_inputs):
            seen.append(([line.op for line in graph.lines], [tuple(x.shape) for x in example_inputs]))
            return graph.forward

        f = th.compile(twice_sine, backend=printing)
        self.assertAlmostEqual(float(f(X)), EXPECTED, places=5)
        self.assertAlmostEqual(float(f(X)), EXPECTED, places=5)
        self.assertEqual(len(seen), 1)
        self.assertIn("sin", seen[0][0])
        self.assertEqual(seen[0][1], [(3,)])
        self.assertIn("by printing", str(th.last_traces(f)[-1]))

    def test_a_function_runs_gradients_too(self):
        f = th.compile(th.grad(lambda x: twice_sine(x)), backend=lambda graph, inputs: graph.forward)
        numpy.testing.assert_allclose(f(X).numpy(), 2 * numpy.cos([0.0, 0.5, 1.0]), rtol=1e-6)

    def test_a_registered_function_has_a_name(self):
        @th.register_backend("mine.registered", tags=["debug"])
        def registered(graph, example_inputs):
            """Runs line by line."""
            return graph.forward

        self.assertAlmostEqual(float(th.compile(twice_sine, backend="mine.registered")(X)), EXPECTED, places=5)
        self.assertNotIn("mine.registered", th.list_backends())
        row = next(row for row in th.backends() if row["name"] == "mine.registered")
        self.assertEqual(row["doc"], "Runs line by line.")
        with self.assertRaisesRegex(th.Error, "already registered"):
            th.register_backend("mine.registered", registered)

    def test_one_of_passes_leaves_them_out(self):
        th.register_backend("mine.plain", disable_passes=["algebra"], fusion=False)
        f = th.compile(lambda x: x * 1 + 0, backend="mine.plain")
        f(X)
        self.assertNotIn("algebra", [trace.name for trace in th.last_traces(f)])

    def test_what_gives_no_function_is_refused(self):
        with self.assertRaisesRegex(TypeError, "must return a function of the region's inputs, got NoneType"):
            th.compile(twice_sine, backend=lambda graph, inputs: None)(X)
        with self.assertRaisesRegex(TypeError, "disable_passes must be a list of names"):
            th.register_backend("mine.wrong", disable_passes="cse")
        with self.assertRaisesRegex(th.Error, "cannot leave out pass 'grad', which is required"):
            th.register_backend("mine.wrong", disable_passes=["grad"])
        with self.assertRaisesRegex(th.Error, r"unknown backend 'eagre' \(did you mean 'eager'\?\)"):
            th.compile(twice_sine, backend="eagre")


class Options(unittest.TestCase):
    def test_a_dict_of_options_is_as_good_as_keywords(self):
        f = th.compile(twice_sine, options={"max-autotune": True, "dce": False})
        self.assertAlmostEqual(float(f(X)), EXPECTED, places=5)
        self.assertNotIn("dce", [trace.name for trace in th.last_traces(f)])

    def test_mode_and_options_exclude_each_other(self):
        with self.assertRaisesRegex(RuntimeError, "either mode or options can be given, not both"):
            th.compile(twice_sine, mode="max-autotune", options={"freezing": True})

    def test_modes_are_listed_with_what_they_stand_for(self):
        self.assertEqual(th.list_mode_options("max-autotune"), {"max_autotune": True, "use_cudagraphs": True})
        self.assertEqual(th.list_mode_options()["default"], {})
        with self.assertRaisesRegex(ValueError, "unknown mode 'max-autotone'"):
            th.list_mode_options("max-autotone")

    def test_each_option_that_is_listed_is_taken(self):
        self.assertTrue({"freezing", "triton.cudagraphs", "cpp_wrapper"} <= set(th.list_options()))
        self.assertNotIn("trace.upload_tar", th.list_options())
        with self.assertRaisesRegex(th.Error, "option 'trace.upload_tar' of PyTorch's Inductor is not there: Nothing is uploaded"):
            th.compile(twice_sine, options={"trace.upload_tar": True})
        with self.assertRaisesRegex(TypeError, "unknown option 'freezin'"):
            th.compile(twice_sine, options={"freezin": True})

    def test_options_of_traces_write_what_a_compile_did(self):
        with tempfile.TemporaryDirectory() as folder:
            th.compile(twice_sine, options={"trace.enabled": True, "trace.debug_dir": folder, "trace.graph_diagram": True})(X)
            made = {path.name for path in pathlib.Path(folder).glob("*/*")}
        self.assertEqual(made, {"fx_graph.txt", "fx_graph_transformed.txt", "ir_pre_fusion.txt", "ir_post_fusion.txt", "output_code.txt",
                                "graph_diagram.dot"})

    def test_nan_asserts_name_the_line_that_makes_one(self):
        f = th.compile(lambda x: th.log(x).sum(), options={"nan_asserts": True})
        self.assertEqual(f(th.ones(3)).item(), 0)
        with self.assertRaisesRegex(th.Error, "debug_checks: step 1, log at .*backends_test.py:[0-9]+: makes NaN of operands that have none"):
            f(-th.ones(3))

    def test_the_function_may_be_given_as_model(self):
        self.assertAlmostEqual(float(th.compile(model=twice_sine)(X)), EXPECTED, places=5)
        self.assertAlmostEqual(float(th.compile(backend="eager")(twice_sine)(X)), EXPECTED, places=5)
        with self.assertRaisesRegex(TypeError, "the function is given twice"):
            th.compile(twice_sine, model=twice_sine)


if __name__ == "__main__":
    unittest.main()
