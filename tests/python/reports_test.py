"""What was seen of compiled functions: logs, counts, profiles, examinations, pages."""
import json
import logging
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import thunder as th


def line():
    return f"{os.path.basename(__file__)}:{sys._getframe(1).f_lineno}"


@th.op("mine.interrupted_py(tensor x) -> tensor", meta=lambda line: line.inputs[0])
def interrupted(x):
    raise KeyboardInterrupt


class Logs(unittest.TestCase):
    def tearDown(self):
        th.set_logs()

    def test_histories_are_drawn_as_pages_and_pictures(self):
        with tempfile.TemporaryDirectory() as folder:
            losses = [1.5, th.tensor(0.75), 0.5]
            th.plot_history({"loss": losses, "accuracy": th.tensor([0.25, 0.5, 1.0])}, f"{folder}/h.html")
            page = pathlib.Path(folder, "h.html").read_text(encoding="utf-8")
            self.assertIn("loss: 0.5 at the end, least 0.5 at 3", page)
            self.assertIn("accuracy: 1 at the end, least 0.25 at 1", page)
            th.plot_history({"loss": np.array([3, 2, 1])}, pathlib.Path(folder, "h.png"))
            self.assertEqual(pathlib.Path(folder, "h.png").read_bytes()[:4], b"\x89PNG")
            with self.assertRaisesRegex(th.Error, "'loss' has something at 2 that is no number"):
                th.plot_history({"loss": [1, "two"]}, f"{folder}/h.png")
            with self.assertRaisesRegex(th.Error, "neither .html nor .png"):
                th.plot_history({"loss": [1]}, f"{folder}/h.pdf")

    def test_each_line_names_the_function_and_the_users_line(self):
        def doubled(x):
            return x * 2

        where = f"{os.path.basename(__file__)}:{doubled.__code__.co_firstlineno + 1}"
        with self.assertLogs("thunder", logging.DEBUG) as seen:
            th.set_logs("guards", recompiles=logging.DEBUG)
            th.compile(doubled)(th.ones(3))
        guards = [r for r in seen.records if r.name == "thunder.guards"]
        self.assertTrue(guards)
        self.assertRegex(guards[0].getMessage(), r"^\d\d:\d\d:\d\d\.\d{3} .*doubled at .*" + where.replace(".", r"\."))
        self.assertIn("thunder.recompiles", {r.name for r in seen.records})

    def test_names_are_checked(self):
        with self.assertRaisesRegex(th.Error, "did you mean 'guards'"):
            th.set_logs("gaurds")
        with self.assertRaisesRegex(TypeError, "set_logs: guards takes a level"):
            th.set_logs(guards="yes")
        self.assertEqual(list(th.log_names())[0], "guards")

    def test_the_environment_asks_for_lines_on_standard_error(self):
        program = "import thunder as th\nth.compile(lambda x: x * 2)(th.ones(3))"
        run = subprocess.run([sys.executable, "-c", program], env={**os.environ, "THUNDER_LOGS": "guards,memory"}, capture_output=True, text=True, check=True)
        self.assertRegex(run.stderr, r"thunder: guards: \d\d:\d\d:\d\d\.\d{3} ")
        self.assertIn("thunder: memory: ", run.stderr)
        wrong = subprocess.run([sys.executable, "-c", program], env={**os.environ, "THUNDER_LOGS": "memori"}, capture_output=True, text=True, check=False)
        self.assertIn("THUNDER_LOGS: there is no log 'memori' (did you mean 'memory'?)", wrong.stderr)


class Counts(unittest.TestCase):
    def test_hits_misses_and_reasons(self):
        f = th.compile(lambda x: x.exp(), dynamic=False)
        for n in (3, 3, 4):
            f(th.ones(n))
        self.assertEqual((th.cache_hits(f), th.cache_misses(f)), (1, 2))
        self.assertIn("shape is [4], was [3]", th.last_miss_reason(f))
        stats = th.compile_stats(f)
        self.assertEqual([r["times"] for r in stats["reasons"]], [1, 1])
        for stage in stats["stages"]:
            self.assertEqual(sum(stage["histogram"]), stage["times"])
            self.assertEqual(len(stage["histogram"]), len(stats["edges_ms"]) + 1)
        self.assertIn("size(0, 0) == 4", th.last_prologue_traces(f)[0])
        self.assertEqual(th.list_transforms(f), [])

    def test_options_without_effect_say_why(self):
        f = th.compile(lambda x: x.exp(), freezing=True, dynamic=False, executors="host", float32_matmul_precision="medium")
        f(th.ones(3))
        options = th.last_compile_options(f)
        self.assertEqual(options["used"], {"dynamic": False, "executors": "host"})
        self.assertIn("captures no tensor", options["unused"]["freezing"])
        self.assertIn("none of the executors that `executors` names computes products", options["unused"]["float32_matmul_precision"])
        self.assertEqual(options["unknown"], {})

    def test_every_report_has_a_name(self):
        f = th.compile(lambda x: x.exp())
        f(th.ones(3))
        for name in th.reports():
            self.assertIsInstance(th.explain(f, name), str)
        self.assertIn("digraph", th.explain(f, "graph"))


class Profiles(unittest.TestCase):
    def test_a_step_has_its_line_and_its_share_of_the_limit(self):
        def product(a, b):
            return a @ b

        where = f"{os.path.basename(__file__)}:{product.__code__.co_firstlineno + 1}"
        p = th.profile(product, th.ones(64, 64), th.ones(64, 64), runs=3)
        self.assertEqual((p.runs, len(p.steps)), (3, 1))
        self.assertEqual(p.steps[0]["flops"], 2 * 64 ** 3)
        self.assertIn(where, p.steps[0]["where"])
        self.assertGreater(p.steps[0]["share"], 0)
        self.assertIn("GFLOP/s", repr(p))
        with tempfile.TemporaryDirectory() as folder:
            p.save_chrome_trace(f"{folder}/t.json")
            events = json.loads(pathlib.Path(folder, "t.json").read_text(encoding="utf-8"))["traceEvents"]
        self.assertEqual([e["ph"] for e in events[:2]], ["M", "X"])

    def test_keywords_reach_the_function(self):
        self.assertEqual(len(th.profile(lambda x, scale: x * scale, th.ones(4), scale=3).steps), 1)


class Examinations(unittest.TestCase):
    def test_a_function_that_is_right_is_sound(self):
        found = th.examine(lambda x: th.softmax(x @ x, 1).sum(), th.randn(8, 8))
        self.assertTrue(found.sound, found)
        self.assertTrue(found.gradients)
        self.assertIn("softmax", {op["op"] for op in found.ops})

    def test_an_unknown_op_is_named_with_the_users_line(self):
        def f(x):
            y = x * 2
            return th.sofmax(y, 0)

        where = f"{os.path.basename(__file__)}:{f.__code__.co_firstlineno + 2}"
        found = th.examine(f, th.ones(3))
        self.assertFalse(found.sound)
        self.assertEqual(found.findings[0]["kind"], "unsupported")
        self.assertEqual(found.findings[0]["where"], where)
        self.assertIn("softmax", found.findings[0]["text"])

    def test_the_kernels_of_several_lines(self):
        f = th.compile(lambda x: (x * 2).exp().sum())
        f(th.ones(100))
        if "fusion" in th.unavailable_executors():
            self.skipTest("there is no LLVM here")
        self.assertIn("prims.exp", th.examine.get_fusions(f)[0])

    def test_an_interrupt_ends_it(self):
        with self.assertRaises(KeyboardInterrupt):
            th.examine(lambda x: interrupted(x).sum(), th.ones(3))


class Pages(unittest.TestCase):
    def test_a_page_needs_no_arguments_after_a_call(self):
        f = th.compile(lambda x: x.exp())
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(th.Error, "call the function first"):
                th.report(f, f"{folder}/r.html")
            f(th.ones(3))
            th.report(f, f"{folder}/r.html")
            self.assertIn('"profile":null', pathlib.Path(folder, "r.html").read_text(encoding="utf-8"))
            th.report(f, pathlib.Path(folder, "r.html"), th.ones(3))
            self.assertIn('"profile":{', pathlib.Path(folder, "r.html").read_text(encoding="utf-8"))


class Summaries(unittest.TestCase):
    def test_layers_have_shapes_parameters_and_operations(self):
        net = th.nn.Sequential(th.nn.Linear(8, 16), th.nn.ReLU(), th.nn.Linear(16, 4))
        s = th.summary(net, th.ones(3, 8))
        self.assertEqual([row["kind"] for row in s.rows], ["Sequential", "Linear", "ReLU", "Linear"])
        self.assertEqual(s.rows[1]["shapes"], [(3, 16)])
        self.assertEqual((s.rows[1]["parameters"], s.parameters), (8 * 16 + 16, 8 * 16 + 16 + 16 * 4 + 4))
        self.assertGreaterEqual(s.rows[1]["flops"], 2 * 3 * 8 * 16)
        self.assertRegex(repr(s), r"212 parameters, 848B; [\d.]+ ?k?FLOP")
        self.assertEqual(th.summary(net, th.ones(3, 8)).rows, s.rows, "hooks are gone afterwards")


if __name__ == "__main__":
    unittest.main()
