"""Programs in Python: functions of traces, and compiled functions in files."""
import collections
import os
import pickle
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import thunder as th

th.seed(0)  # the same numbers at each run

Pair = collections.namedtuple("Pair", "first second")


class Traces(unittest.TestCase):
    def test_a_trace_is_a_function_again(self):
        w = th.tensor([[1.0, 2.0], [3.0, 4.0]])
        f = th.compile(lambda x: th.softmax(x @ w, -1))
        x = th.tensor([[0.5, -1.0]])
        for trace in [f(x), *th.last_traces(f)][1:]:
            g = th.function_from_trace(trace, [w])
            self.assertEqual(g(x).tolist(), f(x).tolist())
            self.assertEqual(th.compile(lambda x: g(x) * 2)(x).tolist(), (f(x) * 2).tolist())
        g = th.function_from_trace(th.last_traces(f)[0].text, (w,), executors=["host"])
        wanted = th.grad(lambda x: (f(x) ** 2).sum())(x)
        self.assertEqual(th.grad(lambda x: (g(x) ** 2).sum())(x).tolist(), wanted.tolist())

    def test_a_trace_has_the_tensors_that_its_function_captured(self):
        w = th.ones(2)
        f = th.compile(lambda x: x + w)
        f(w)
        trace = th.last_traces(f)[0]
        g = th.function_from_trace(trace)
        w.fill_(3)
        self.assertEqual(g(th.ones(2)).tolist(), [4, 4])
        self.assertEqual(pickle.loads(pickle.dumps(trace)), trace)

    def test_a_text_without_its_tensors_is_refused(self):
        w = th.ones(2)
        f = th.compile(lambda x: x + w)
        f(w)
        with self.assertRaisesRegex(th.Error, "the trace captured 1 tensors, 0 are given"):
            th.function_from_trace(th.last_traces(f)[0].text)
        with self.assertRaisesRegex(th.Error, "trace:1:1"):
            th.function_from_trace("return 7")


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "f.thunder")

    def test_a_program_runs_in_another_process_with_the_same_bits(self):
        net = th.nn.Sequential(th.nn.Linear(4, 8), th.nn.GELU(), th.nn.Linear(8, 2))
        f = th.compile(lambda batch, scale=1: {"y": net(batch["x"]) * scale})
        x = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
        wanted = f({"x": x}, scale=3)["y"].numpy()
        th.save_program(f, self.path)
        np.save(self.path + ".npy", x)
        code = ("import sys, numpy, thunder as th\n"
                "f = th.load_program(sys.argv[1])\n"
                "print(f({'x': numpy.load(sys.argv[1] + '.npy')}, scale=3)['y'].numpy().tobytes().hex())")
        printed = subprocess.run([sys.executable, "-c", code, self.path], capture_output=True, text=True, check=True).stdout
        self.assertEqual(printed.strip(), wanted.tobytes().hex())

    def test_structures_come_back_and_types_that_are_not_known_here_are_named(self):
        f = th.compile(lambda x: (Pair(x, None), [1, (x,)]))
        f(th.ones(2))
        th.save_program(f, self.path)
        pair, rest = th.load_program(self.path)(th.ones(2))
        self.assertEqual((pair.first.tolist(), rest[0], rest[1][0].tolist()), ([1, 1], 1, [1, 1]))
        code = "import sys, thunder as th\nth.load_program(sys.argv[1])(th.ones(2))"
        failed = subprocess.run([sys.executable, "-c", code, self.path], capture_output=True, text=True, check=False)
        self.assertIn("Pair of the program that saved it", failed.stderr)

    def test_kernels_compiled_ahead_give_the_same_bits(self):
        f = th.compile(lambda x: th.softmax(th.tanh(x), -1))
        x = th.tensor(np.linspace(-1, 1, 33, dtype=np.float32).reshape(3, 11))
        wanted = f(x).numpy()
        th.compile_ahead(f, self.path)
        for how in ({}, {"run_saved_kernels": True}, {"run_saved_kernels": True, "verify": True}):
            self.assertEqual(th.load_program(self.path, **how)(x).numpy().tobytes(), wanted.tobytes())

    def test_kernels_of_one_process_are_not_compiled_by_the_next(self):
        code = ("import sys, thunder as th\n"
                "if len(sys.argv) > 2: print(th.compiler.load_cache_artifacts(open(sys.argv[1], 'rb').read()).cpu_kernels)\n"
                "th.compile(lambda x: th.tanh(x) * 2)(th.ones(50))\n"
                "artifacts, info = th.compiler.save_cache_artifacts()\n"
                "open(sys.argv[1], 'wb').write(artifacts)\n"
                "print(info)")
        def run(*more):
            return subprocess.run([sys.executable, "-c", code, self.path, *more], capture_output=True, text=True, check=True,
                                  env={**os.environ, "THUNDER_CACHE_DIR": "off"}).stdout
        self.assertEqual(run(), "CacheInfo(cpu_kernels=1, cuda_kernels=0, product_choices=0)\n")
        self.assertEqual(run("load"), "1\nCacheInfo(cpu_kernels=1, cuda_kernels=0, product_choices=0)\n")

    def test_a_program_is_exported_as_c(self):
        f = th.compile(lambda x: th.tanh(x) * 2)
        f(th.ones(50))
        th.save_program(f, self.path)
        th.export_c(self.path, self.path + ".c", name="twice", cpu="native")
        with open(self.path + ".c/twice.h", encoding="utf-8") as header:
            self.assertIn("int twice(const float *in0, float *out0, void *workspace);", header.read())
        with self.assertRaisesRegex(th.Error, "did you mean 'cpu'"):
            th.export_c(self.path, self.path + ".c", cpuu="native")

    def test_mistakes_are_named(self):
        with self.assertRaisesRegex(TypeError, "compile_ahead: a compiled function was expected, not function"):
            th.compile_ahead(lambda x: x, self.path)
        with self.assertRaisesRegex(th.Error, "holds no compiled kernels"):
            th.compiler.load_cache_artifacts(b"artifacts")
        with self.assertRaises(TypeError):
            th.compiler.load_cache_artifacts("artifacts")
        with self.assertRaisesRegex(TypeError, "save_program: a compiled function was expected, not function"):
            th.save_program(lambda x: x, self.path)
        with self.assertRaisesRegex(th.Error, "nothing is compiled that could be saved"):
            th.save_program(th.compile(lambda x: x), self.path)
        with self.assertRaises(th.Error) as missing:
            th.load_program(self.path)
        self.assertEqual(missing.exception.code, th.Code.NOT_FOUND)


if __name__ == "__main__":
    unittest.main()
