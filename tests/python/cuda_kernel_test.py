"""Kernels of one's own for CUDA devices, with the stand-ins for NVIDIA's libraries or a device: of ops and of executors."""
# covers: core/executors/cuda/kernels/cuda_kernel.cpp
import unittest

import thunder as th

SWISH = r'''
extern "C" __global__ void swish(const x_t* x, float c, out_t* out, long long n) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) out[i] = (out_t)((float)x[i] / (1.0f + expf(-c * (float)x[i])));
}'''


@unittest.skipUnless(th.cuda.is_available(), "no CUDA device: tests of the build with the stand-ins run it")
class Kernels(unittest.TestCase):
    def test_of_an_op_runs_it_on_the_device(self):
        kernel = th.cuda.Kernel(SWISH, "swish", parameters="x, float c, out, x.numel", grid="ceildiv(x.numel, 128)", block=128)
        swish = th.op("mine.swish(tensor x, float c=1.0) -> tensor", meta=lambda line: line.inputs[0], cuda=kernel)(None)
        for dtype in (th.float32, th.bfloat16):
            x = th.randn(5, 7).to(dtype)
            expected = x * th.sigmoid(2 * x)
            for f in (lambda x: swish(x, 2.0), th.compile(lambda x: swish(x, 2.0))):
                got = f(x.to("cuda"))
                self.assertEqual((got.device.type, got.dtype), ("cuda", dtype))
                self.assertTrue(th.allclose(got.to("cpu").to(th.float32), expected.to(th.float32), rtol=2e-2, atol=1e-2))
        with self.assertRaisesRegex(RuntimeError, "no kernel for the CPU"):
            swish(th.ones(2))

    def test_of_an_executor_takes_an_op_of_the_library_over(self):
        kernel = th.cuda.Kernel(r'''
extern "C" __global__ void shifted(const float* x, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] + SHIFT;
}''', "shifted", parameters="input, out, int input.numel", grid="ceildiv(input.numel, 32)", block=32, options=["-DSHIFT=100"],
                                checker=lambda line: line.inputs[0].ndim == 1)
        mine = th.executor("shifting", kernels={"tanh": kernel})

        @mine.implements("exp")
        def exp(x):
            return x - 1

        f = th.compile(lambda x: th.tanh(x), executors=[mine])
        self.assertEqual(f(th.tensor([0.0, 1.0]).to("cuda")).to("cpu").tolist(), [100, 101])
        self.assertEqual(f(th.zeros(1, 2).to("cuda")).to("cpu").tolist(), [[0, 0]])
        self.assertEqual(f(th.zeros(2)).tolist(), [0, 0])
        self.assertEqual(th.compile(th.exp, executors=[mine])(th.ones(2)).tolist(), [0, 0])


class Mistakes(unittest.TestCase):
    def test_in_a_kernel_are_told_where_it_is_made(self):
        for error, text, arguments in (
                (TypeError, "symbol, the name of its function", {"source": SWISH}),
                (TypeError, "a source or an image, one of them", {"symbol": "swish"}),
                (TypeError, "grid must be a number, a formula", {"source": SWISH, "symbol": "swish", "grid": 1.5}),
                (TypeError, "one to three", {"source": SWISH, "symbol": "swish", "grid": (1, 2, 3, 4)}),
                (TypeError, "options must be a list", {"source": SWISH, "symbol": "swish", "options": "-DN=1"})):
            with self.assertRaisesRegex(error, text):
                th.cuda.Kernel(**{"grid": 1, **arguments})

    def test_in_a_launch_rule_are_told_when_it_is_added(self):
        kernel = th.cuda.Kernel(SWISH, "swish", grid="ceildiv(y.numel, 128)")
        with self.assertRaisesRegex(th.Error, "there is no argument 'y'"):
            th.op("mine.wrong(tensor x) -> tensor", meta=lambda line: line.inputs[0], cuda=kernel)(None)
        with self.assertRaisesRegex(th.Error, "there is no argument 'y'"):
            th.executor("wrong", kernels={"tanh": kernel})
        with self.assertRaisesRegex(TypeError, "must be a th.cuda.Kernel, got str"):
            th.executor("wrong", kernels={"tanh": SWISH})
        with self.assertRaisesRegex(TypeError, "cuda must be a th.cuda.Kernel"):
            th.op("mine.other(tensor x) -> tensor", meta=lambda line: line.inputs[0], cuda=SWISH)


if __name__ == "__main__":
    unittest.main()
