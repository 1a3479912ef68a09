"""Small models of PyTorch, exported by both of its exporters (tests/onnx/small_models.py), beside what ONNX Runtime gave: at two sizes of each dim
that varies, in at most two compiles."""
import pathlib
import sys
import tempfile
import unittest

import numpy as np
import thunder as th

ONNX = pathlib.Path(__file__).resolve().parent.parent / "onnx"
sys.path.insert(0, str(ONNX))
import models  # noqa: E402
import small_models  # noqa: E402


def small(*names):
    """Each of these models, of all without names: its name, its file, what is kept of it, and the numbers of weights and inputs."""
    numbers = small_models.weights()
    with tempfile.TemporaryDirectory() as folder:
        numbers.tofile(pathlib.Path(folder, small_models.WEIGHTS))
        path = pathlib.Path(folder, "model.onnx")
        for file in sorted((ONNX / "models").glob("*.npz")):
            if not names or file.stem in names:
                with np.load(file) as kept:
                    path.write_bytes(kept["model"].tobytes())
                    yield file.stem, path, kept, numbers


def outputs(kept, size):
    return [kept[k] for k in kept if k.startswith(f"out{size}.")]


class SmallModels(unittest.TestCase):
    def test_give_what_onnx_runtime_gave(self):
        count = 0
        for name, path, kept, numbers in small():
            with self.subTest(model=name):
                count += 1
                found = models.compare(path, [(small_models.inputs(kept, size, numbers), outputs(kept, size)) for size in (0, 1)])
                self.assertNotIsInstance(found, str, found)
        self.assertGreaterEqual(count, 40)

    @unittest.skipUnless("tvm" in th.list_backends(), f"tvm is not here: {th.unavailable_backends().get('tvm')}")
    def test_five_give_the_same_through_tvm(self):
        for name, path, kept, numbers in small("bert_script_18", "gru_script_18", "lstm_script_18", "mobilenet_v2_script_18", "vit_dynamo_18"):
            with self.subTest(model=name):
                f = th.load_program(str(path), backend="tvm")
                wanted = outputs(kept, 0)
                got = f({key: th.from_numpy(value) for key, value in small_models.inputs(kept, 0, numbers).items()})
                for g, w in zip([got] if len(wanted) == 1 else got, wanted, strict=True):
                    self.assertLessEqual(models.error(g.numpy(), w), 1e-4)
                self.assertIn("by tvm", th.last_traces(f)[-1].text)


if __name__ == "__main__":
    unittest.main()
