"""Small models of PyTorch, exported by both of its exporters (tests/onnx/small_models.py), beside what ONNX Runtime gave: at two sizes of each dim
that varies, in at most two compiles."""
import pathlib
import sys
import tempfile
import unittest

import numpy as np

ONNX = pathlib.Path(__file__).resolve().parent.parent / "onnx"
sys.path.insert(0, str(ONNX))
import models  # noqa: E402
import small_models  # noqa: E402


class SmallModels(unittest.TestCase):
    def test_give_what_onnx_runtime_gave(self):
        files = sorted((ONNX / "models").glob("*.npz"))
        self.assertGreaterEqual(len(files), 40)
        numbers = small_models.weights()
        with tempfile.TemporaryDirectory() as folder:
            numbers.tofile(pathlib.Path(folder, small_models.WEIGHTS))
            path = pathlib.Path(folder, "model.onnx")
            for file in files:
                with self.subTest(model=file.stem), np.load(file) as kept:
                    path.write_bytes(kept["model"].tobytes())
                    cases = [(small_models.inputs(kept, size, numbers), [kept[k] for k in kept if k.startswith(f"out{size}.")]) for size in (0, 1)]
                    found = models.compare(path, cases)
                    self.assertNotIsInstance(found, str, found)


if __name__ == "__main__":
    unittest.main()
