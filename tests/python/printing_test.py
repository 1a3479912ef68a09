"""Tensors print as in PyTorch; tests/golden/print/pytorch.txt is what PyTorch printed."""
import math
import pathlib
import unittest

import thunder as th

RECORDED = pathlib.Path(__file__).resolve().parent.parent / "golden/print/pytorch.txt"
DTYPES = {"f32": th.float32, "f64": th.float64, "bf16": th.bfloat16, "i64": th.int64, "i32": th.int32, "u8": th.uint8, "bool": th.bool}


def option(text):
    if text in ("true", "false"):
        return text == "true"
    return text if text.isalpha() and text != "inf" else float(text) if text == "inf" else int(text)


def recorded():
    """(options, dtype, sizes, elements, text) of each case."""
    for case in RECORDED.read_text().split("==")[1:]:
        options, kind, elements, text = case.split("\n", 3)
        dtype, *sizes = kind.split()
        yield ({name: option(value) for name, value in (word.split("=") for word in options.split())}, DTYPES[dtype],
               [int(size) for size in sizes], elements, text.rstrip("\n"))


def made(dtype, sizes, elements):
    count = math.prod(sizes)
    if elements.startswith("range "):
        values = [i * float(elements.split()[1]) for i in range(count)]
    else:
        values = [float(word) if "." in word or word in ("nan", "inf", "-inf") or "e" in word else int(word) for word in elements.split()]
    return th.tensor(values, dtype=th.float64 if dtype.name == "float64" else None).to(dtype).reshape(sizes)


class Printing(unittest.TestCase):
    def tearDown(self):
        th.set_printoptions(profile="default")

    def test_is_what_pytorch_prints(self):
        for options, dtype, sizes, elements, text in recorded():
            with self.subTest(text), th.printoptions(**options):
                self.assertEqual(repr(made(dtype, sizes, elements)), text)

    def test_options_last_for_the_block_that_sets_them(self):
        x = th.tensor([1.23456])
        with th.printoptions(precision=2, sci_mode=True) as now:
            self.assertEqual((repr(x), str(x), f"{x}"), ("tensor([1.23e+00])",) * 3)
            self.assertEqual(now, {"precision": 2, "threshold": 1000, "edgeitems": 3, "linewidth": 80, "sci_mode": True})
        self.assertEqual(repr(x), "tensor([1.2346])")
        self.assertIsNone(th.get_printoptions()["sci_mode"])

    def test_a_mistake_changes_nothing_and_names_the_option(self):
        with self.assertRaisesRegex(th.Error, "option 'linewidth' must not be negative, got -1"):
            th.set_printoptions(precision=1, linewidth=-1)
        with self.assertRaisesRegex(th.Error, '"default", "short" or "full", got "long"'):
            th.set_printoptions(profile="long")
        self.assertEqual(th.get_printoptions()["precision"], 4)

    def test_a_traced_tensor_shows_its_shape(self):
        seen = []
        th.compile(lambda x: (seen.append(repr(x)), x)[1])(th.zeros(2, 3, dtype=th.int64))
        self.assertEqual(seen[0], "tensor(..., size=(2, 3), dtype=thunder.int64, traced)")


if __name__ == "__main__":
    unittest.main()
