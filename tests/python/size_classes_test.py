"""Lines that are compiled once for a class of sizes give the bits of programs made for each size alone."""
import os
import re
import subprocess
import sys
import unittest

import numpy as np

import thunder as th
from thunder import nn

SIZES = (5, 2, 3, 7, 8, 9, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 251, 512, 1021)

PLANNED = (2, 9, 33, 129)  # for which the plan of memory is compared with one that was made for this size

th.seed(0)
MATRIX, KERNEL, TABLE, HEADS = th.randn(32, 32), th.randn(4, 3, 3, 3), th.randn(50, 32), th.randn(32, 96)
NORM, GROUPS = nn.LayerNorm(32), nn.GroupNorm(2, 4)


def attention(x, heads=HEADS):
    b, t = x.shape[0], x.shape[1]
    q, k, v = (part.reshape(b, t, 4, 8).transpose(1, 2) for part in (x @ heads).split(32, 2))
    return th.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, 32)


def floats(*shape):
    """A tensor of this shape, in which None is the size."""
    return lambda n: th.randn(*[n if size is None else size for size in shape])


def indices(bound, *shape):
    return lambda n: th.randint(0, bound, [n if size is None else size for size in shape])


# By name: a function, and its argument of a size.
PROGRAMS = {
    "elementwise": (lambda x: ((x * 2 + 1).relu() - x.exp()).tanh(), floats(None, 7)),
    "sum of columns": (lambda x: x.sum(0), floats(None, 7)),
    "sum of rows": (lambda x: x.sum(1), floats(7, None)),
    "mean": (lambda x: x.mean(), floats(None, 7)),
    "var": (lambda x: x.var(1), floats(3, None)),
    "std": (lambda x: x.std(0), floats(None, 33)),
    "softmax": (lambda x: th.softmax(x, -1), floats(3, None)),
    "softmax of columns": (lambda x: th.softmax(x, 0), floats(None, 5)),
    "logsumexp": (lambda x: th.logsumexp(x, 1), floats(3, None)),
    "argmax": (lambda x: (x.amax(1), x.argmax(1)), floats(3, None)),
    "layer_norm": (lambda x: NORM(x), floats(None, 32)),
    "layer_norm over the size": (lambda x: th.layer_norm(x, [x.shape[1]]), floats(4, None)),
    "linear": (lambda x: th.gelu(x @ MATRIX), floats(None, 32)),
    "gram": (lambda x: x.transpose(0, 1) @ x, floats(None, 32)),
    "outer": (lambda x: x @ x.transpose(0, 1), floats(None, 32)),
    "bmm": (lambda x: x @ x.transpose(1, 2), floats(2, None, 8)),
    "attention": (attention, floats(2, None, 32)),
    "products of 16 bits": (lambda x: (x.to(th.bfloat16) @ MATRIX.to(th.bfloat16)).float(), floats(None, 32)),
    "attention of 16 bits": (lambda x: attention(x.to(th.bfloat16), HEADS.to(th.bfloat16)).float(), floats(2, None, 32)),
    "matrix and vector": (lambda x: (x @ x[0], x.transpose(0, 1) @ x.sum(1)), floats(None, 32)),
    "conv2d by batch": (lambda x: th.conv2d(x, KERNEL).relu(), floats(None, 3, 9, 9)),
    "conv2d by height": (lambda x: th.conv2d(x, KERNEL, padding=1), floats(1, 3, None, 9)),
    "group_norm": (lambda x: GROUPS(x), floats(None, 4, 5)),
    "max_pool2d": (lambda x: th.max_pool2d(x, 3, 2, 1), floats(1, 2, None, 9)),
    "slices": (lambda x: x[1:] - x[:-1], floats(None, 7)),
    "strided slice": (lambda x: x[:, ::2].exp(), floats(3, None)),
    "first and last": (lambda x: x[0] * x[-1], floats(None, 7)),
    "slice up to ten": (lambda x: x[:10] * 2, floats(None, 7)),
    "cat": (lambda x: th.cat([x, x * 2, x[:1]]), floats(None, 7)),
    "pad": (lambda x: th.pad(x, [1, 2]), floats(3, None)),
    "reshape": (lambda x: x.reshape(-1) * 2, floats(None, 6)),
    "split": (lambda x: [part.exp() for part in x.split(2, 1)], floats(None, 6)),
    "chunk": (lambda x: [part * 2 for part in x.chunk(2, 0)], floats(None, 6)),
    "flip and roll": (lambda x: x.flip([0]) + x.roll(1, 0), floats(None, 6)),
    "tril": (lambda x: x.tril(), floats(None, None)),
    "arange": (lambda x: x + th.arange(x.shape[0]).unsqueeze(1), floats(None, 3)),
    "cumsum": (lambda x: x.cumsum(0), floats(None, 3)),
    "topk": (lambda x: x.topk(2, 0)[0], floats(None, 3)),
    "embedding": (lambda i: th.embedding(i, TABLE).sum(0), indices(50, 2, None)),
    "one_hot": (lambda i: th.one_hot(i, 9), indices(9, None)),
    "cross_entropy": (lambda i: th.cross_entropy(TABLE[i], i % 32), indices(50, None)),
    "index_add": (lambda i: th.zeros(50, 2).index_add(0, i, th.ones(i.shape[0], 2)), indices(50, None)),
    "the size as a number": (lambda x: x.sum(0) / x.shape[0] + x.shape[0], floats(None, 3)),
    "as many as a width": (lambda x: (x @ MATRIX) * x.sum(1, keepdim=True).expand(-1, 32), floats(None, 32)),
    "diagonal": (lambda x: x.diagonal() * 2, floats(None, None)),
    "transposed": (lambda x: (x.transpose(0, 1) * 2).reshape(-1), floats(None, 5)),
    "dropout": (lambda x: th.dropout(x, 0.5, training=True), floats(None, 9)),
    "rand": (lambda x: x * th.rand(x.shape[0], 3) + th.rand(3), floats(None, 3)),
}
GRADIENTS = ("elementwise", "softmax", "layer_norm", "layer_norm over the size", "linear", "gram", "bmm", "attention", "conv2d by batch",
             "conv2d by height", "group_norm", "max_pool2d", "slices", "cat", "pad", "cumsum", "var", "dropout", "as many as a width")


# Of a tensor [r, 16] and an integer, which may be any.
WITH_INTEGERS = {
    "slice to": lambda x, n: x[:, :n] * 2,
    "slice from": lambda x, n: x[:, n:].sum(1),
    "slice to the end less": lambda x, n: x[:, :16 - n].exp(),
    "a number": lambda x, n: x * n + n,
    "select": lambda x, n: x[:, n] * x[:, 0],
    "mask": lambda x, n: th.where(th.arange(x.shape[1]) < n, x, 0.0),
    "roll": lambda x, n: x.roll(n, 1),
    "full": lambda x, n: th.full([n + 1], 2.0) + n,
    "narrow": lambda x, n: x.narrow(1, n, 3).sum(),
    "tril": lambda x, n: x.tril(n),
    "gram": lambda x, n: x[:, :n + 1] @ x[:, :n + 1].transpose(0, 1),
    "a size and a number": lambda x, n: (x[:, :n + 1] * n).sum() / (n + 1),
    "compared": lambda x, n: x * 2 if n > 5 else x - 1,
}


def cached(buffer, x, n):
    buffer[:, n] = x
    buffer.mul_(1.5)
    return buffer[:, :n + 1].sum(1), buffer[:, :n + 1]


def views(buffer, x, n):
    buffer.reshape(-1).add_(n)
    buffer[1:].copy_(x)
    turned = buffer.transpose(0, 1)
    turned.mul_(2)
    return turned.reshape(-1)


def flattened(buffer, x, n):
    """Views of a part; of all columns, or of one in each row, the reshape is a view, too."""
    part = buffer[:, :n]
    flat, stepped = part.reshape(-1), buffer[:, :n:3].reshape(-1)
    flat.add_(1)
    stepped.mul_(2)
    buffer[:, n - 1].unsqueeze(0).reshape(3).copy_(x)
    return flat, stepped, part.reshape(3, n, 1).sum(1)


def gradient_of(f):
    return lambda x: th.value_and_grad(lambda x: f(x).square().mean())(x)


def leaves(value):
    return sum((leaves(one) for one in value), []) if isinstance(value, (list, tuple)) else [value.numpy()]


def lines(compiled):
    return th.explain(compiled, "overlap").count("\n")


class SizeClasses(unittest.TestCase):
    planned = served = 0

    def agree(self, name, f, make):
        varied, plain = th.compile(f, dynamic=True, verify=True), th.compile(f, dynamic=False, recompile_limit=len(SIZES))
        for n in SIZES:
            th.seed(n)
            x = make(n)
            results = []
            for one in (varied, plain):
                th.seed(1)
                results.append(leaves(one(x)) + leaves(th.rand(1)))  # what is drawn next, too
            self.served += "its lines serve" in th.explain(varied, "guards")
            if n in PLANNED:
                first = th.compile(f, dynamic=True)  # its class is derived for this size
                first(x)
                if lines(varied) == lines(first):
                    self.planned += 1
                    with self.subTest(program=name, size=n, plan=True):
                        self.assertEqual(th.explain(varied, "memory"), th.explain(first, "memory"))
            for ours, wanted in zip(*results):
                with self.subTest(program=name, size=n):
                    np.testing.assert_array_equal(ours, wanted)

    def test_results_have_the_bits_of_programs_for_one_size(self):
        for name, (f, make) in PROGRAMS.items():
            self.agree(name, f, make)
        self.assertGreater(self.planned, 100)  # plans were compared
        self.assertGreater(self.served, 10 * len(PROGRAMS))  # most programs are of a class

    def test_gradients_have_the_bits_of_programs_for_one_size(self):
        for name in GRADIENTS:
            f, make = PROGRAMS[name]
            self.agree(name, gradient_of(f), make)

    def test_integers_that_stand_for_any_have_the_results_of_plain_ones(self):
        for name, f in WITH_INTEGERS.items():
            varied, plain = th.compile(f, verify=True), th.compile(f, dynamic=False, recompile_limit=64)
            for n in (3, 4, 1, 2, 5, 7, 0, 9, 11, 6, 3):
                for rows in (4, 6):
                    x = th.randn(rows, 16)
                    for ours, wanted in zip(leaves(varied(x, n)), leaves(plain(x, n))):
                        with self.subTest(program=name, integer=n, rows=rows):
                            np.testing.assert_array_equal(ours, wanted)

    def test_writes_reach_what_they_reach_in_programs_for_one_size(self):
        caches = [th.zeros(3, 16), th.zeros(3, 16)]
        for f, buffers in ((cached, lambda n: caches), (flattened, lambda n: [th.ones(3, 16), th.ones(3, 16)]),
                           (views, lambda n: [th.ones(n + 1, 16), th.ones(n + 1, 16)])):
            varied, plain = th.compile(f, verify=True), th.compile(f, dynamic=False, recompile_limit=64)
            for n in (3, 4, 5, 2, 7, 8, 10, 1, 12, 15) + ((16, 14) if f is flattened else ()):
                x = th.randn(n, 16) if f is views else th.randn(3)
                results = [leaves(one(buffer, x, n)) + leaves(buffer) for one, buffer in zip((varied, plain), buffers(n))]
                for ours, wanted in zip(*results):
                    with self.subTest(program=f.__name__, integer=n):
                        np.testing.assert_array_equal(ours, wanted)


    def test_a_write_at_a_position_is_of_a_class(self):
        keys = th.zeros(2, 32, 4)

        def step(x, position):
            keys[:, position] = x
            return keys[:, :position + 1].sum(1)

        f = th.compile(step)
        for position in (4, 5, 6, 7):
            f(th.ones(2, 4), position)
        self.assertIn("its lines serve all sizes", th.explain(f, "guards"))


_COUNTED = """
import thunder as th
w = th.randn(32, 32)
f = th.compile(lambda x: th.softmax(th.gelu(x @ w), -1).sum(0), dynamic=True)
for n in range(2, 500):
    f(th.ones(n, 32))
"""


class Classes(unittest.TestCase):
    def test_a_new_size_of_a_class_takes_no_pass_over_lines(self):
        f = th.compile(lambda x: th.softmax(x, -1), dynamic=True)
        for n in (5, 6, 7):
            f(th.ones(3, n))
        ran = dict(re.findall(r"^(\w+): ([\d.]+) ms", th.explain(f, "stages"), re.MULTILINE))
        self.assertEqual({ran[name] for name in ("grad", "cse", "descend", "claim", "form_regions", "merge_siblings")}, {"0"})
        self.assertGreater(float(ran["lower"]), 0)
        for stage in ("grad", "descend", "claim", "merge_siblings"):
            self.assertIn("f32[3, 7]", th.explain(f, stage))
        self.assertIn("its lines serve all sizes for which (s0*s1) < 1024", th.explain(f, "guards"))

    def test_five_hundred_sizes_are_in_few_classes(self):
        out = subprocess.run([sys.executable, "-c", _COUNTED], env={**os.environ, "THUNDER_LOGS": "dynamic"}, capture_output=True, text=True,
                             check=True)
        self.assertIn(out.stderr.count("lines for all sizes for which"), range(1, 9), out.stderr)
        alone = [line for line in out.stderr.splitlines() if "compiled in full" in line]
        self.assertEqual(len(alone), 1, out.stderr)
        self.assertIn("s0 is equal to a size that does not vary", alone[0])  # 32, the width


if __name__ == "__main__":
    unittest.main()
