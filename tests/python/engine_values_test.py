"""What engines of others make of NaN, infinities, values out of range and integers past 2^53: the same as the library, each op at each place of rows of
several sizes. What an engine computes otherwise is not given to it. Engines that are not here are skipped."""
import itertools
import unittest

import numpy as np
import thunder as th
from thunder.nn import functional as F

ENGINES = [name for name in ("onnxrt", "openxla") if name in th.list_backends()]  # tvm takes seconds for each of these functions

REALS = {
    "extremes": lambda x: (x.amax(-1), x.amin(0), x.amax(), th.maximum(x, x.flip(0)), th.minimum(x, x.flip(0)), x.clamp(-1, 1), x.clamp(min=0.5)),
    "places of extremes": lambda x: (x.argmax(-1), x.argmin(0), x.argmax()),
    "orders": lambda x: (*x.sort(-1), *x.sort(0, descending=True), *x.topk(1), x.median(-1)[0], x.kthvalue(1, -1)[0]),
    "searches": lambda x: (th.searchsorted(th.tensor([-1.0, 0.0, 2.0]), x.float()), th.searchsorted(th.tensor([-1.0, 0.0, 2.0]), x.float(), right=True)),
    "windows": lambda x: F.max_pool1d(x[None], min(3, x.shape[-1])),
    "sums": lambda x: (x.sum(-1), x.cumsum(-1), x.prod(-1), x.mean(0), x.var(-1), x.norm(), x.norm(p=float("inf"))),
    "softmax": lambda x: (x.softmax(-1), x.log_softmax(-1), x.logsumexp(-1), F.layer_norm(x, [x.shape[-1]])),
    "activations": lambda x: (x.relu(), F.leaky_relu(x), F.silu(x), x.sigmoid(), x.tanh(), F.hardtanh(x), F.relu6(x), F.hardswish(x), F.softplus(x), F.elu(x)),
    "roundings": lambda x: (x.floor(), x.ceil(), x.round(), x.trunc(), x.sign()),
    "integers": lambda x: (x.to(th.int32), x.to(th.int64), x.bool()),
    "comparisons": lambda x: (x == x, x < 1, x != x, x >= 1, x.isnan(), x.isinf(), th.where(x > 0, x, -x), x.nan_to_num(1, 2, 3), (x != 0).any(-1)),
    "remainders and powers": lambda x: (th.fmod(x, 1.5), x % 1.5, x ** 0, x ** 2, x ** 0.5),
    "products": lambda x: x @ x.t(),
}

WHOLE = {
    "sums": lambda x: (x.sum(), x.sum(-1), x.sum(0), x.cumsum(-1), x.prod(-1)),
    "orders": lambda x: (x.amax(-1), x.amin(0), x.argmax(-1), *x.sort(-1), *x.topk(2), x.median(-1)[0], th.maximum(x, x.flip(0)), x.clamp(-5, 7)),
    "quotients": lambda x: (x // 3, x % 100, x % -7, th.fmod(x, 100), th.div(x, 7, rounding_mode="trunc")),
    "arithmetic": lambda x: (x + 1, x * 3, x - 7, -x, x.abs(), x.sign(), th.where(x > 5, x, -x), x == x.flip(0), x < x.flip(1)),
    "bits": lambda x: (x & 123, x | 1, x ^ x.flip(0), x >> 3, x << 2),
    "others": lambda x: (x.to(th.int32), x.to(th.int8), x.float(), x.bool(), (x > 0).sum(-1), x.scatter_add(1, x.long() % 3, x), x @ x.t()),
}


def leaves(value):
    return [one for part in value for one in leaves(part)] if isinstance(value, (tuple, list)) else [value]


class Values(unittest.TestCase):
    def same(self, engine, compiled, function, x):
        try:
            want = leaves(function(x))
        except th.Error:
            return  # op by op it is refused, too
        for a, b in zip(leaves(compiled(x)), want):
            a, b = a.numpy(), b.numpy()
            close = {2: 2e-2, 4: 1e-4, 8: 1e-9}[a.dtype.itemsize] if a.dtype.kind == "f" else 0
            np.testing.assert_allclose(a.astype(float) if close else a, b.astype(float) if close else b, rtol=close, atol=close, equal_nan=True,
                                       err_msg=f"{engine}, {x.tolist()}")

    def test_reals(self):
        for engine, (name, f), dtype, n in itertools.product(ENGINES, REALS.items(), (np.float32, np.float64, np.float16), (1, 4)):
            compiled = th.compile(f, executors=[engine, "host"])
            for at, value in itertools.product(sorted({0, n // 2, n - 1}), (np.nan, np.inf, -np.inf, 3e9)):
                x = (np.arange(3 * n) % 7 - 3).astype(dtype).reshape(3, n)
                with np.errstate(over="ignore"):
                    x[1, at] = value
                with self.subTest(engine=engine, ops=name, dtype=dtype.__name__, size=n, value=value):
                    self.same(engine, compiled, f, th.tensor(x))

    def test_integers(self):
        random = np.random.RandomState(0)
        kinds = ((np.int64, 2**61), (np.int64, 2**54), (np.int32, 2**30), (np.int16, 2**14), (np.int8, 127))
        for engine, (name, f), (dtype, most), n in itertools.product(ENGINES, WHOLE.items(), kinds, (9,)):
            with self.subTest(engine=engine, ops=name, dtype=dtype.__name__, size=n):
                x = th.tensor(random.randint(-most, most, (3, n)).astype(dtype))
                self.same(engine, th.compile(f, executors=[engine, "host"]), f, x)


if __name__ == "__main__":
    unittest.main()
