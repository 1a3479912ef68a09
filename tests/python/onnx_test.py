"""ONNX models in Python: y = relu(x @ w.T + b), written by the package onnx."""
import os
import tempfile
import unittest

import thunder as th

HEX = ("080a120574657374733ab8010a330a01780a0966632e7765696768740a0766632e626961731201681a026663220447656d6d2a0d0a0674"
       "72616e73421801a001020a0c0a0168120179220452656c751201672a2b080208031001420966632e7765696768744a180000803f000000"
       "4000004040000080bf000000c0000040c02a1708021001420766632e626961734a080000003f0000003f5a140a0178120f0a0d08011209"
       "0a0312016e0a02080362140a0179120f0a0d080112090a0312016e0a02080242040a001012")
MODEL = bytes.fromhex(HEX)
POOL = bytes.fromhex("080812003a8a010a5d0a017812017922074d6178506f6f6c2a100a096365696c5f6d6f64651801a001022a150a0c6b65726e656c5f73686170654002"
                     "4002a001072a110a04706164734001400140004001a001072a100a077374726964657340024002a001071201675a1b0a017812160a14080112100a02"
                     "08010a0208010a0208050a02080762090a017912040a02080142040a001012")  # MaxPool 2x2 by 2, pads 1, 1, 0, 1, ceil_mode


class Models(unittest.TestCase):
    def setUp(self):
        self.x = th.tensor([[1.0, 0.0, 0.0]])

    def test_bytes_and_files_are_functions_of_their_inputs(self):
        f = th.load_program(MODEL)
        self.assertEqual(f(self.x).tolist(), [[1.5, 0.0]])
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model")
            with open(path, "wb") as file:
                file.write(MODEL)
            self.assertEqual(th.load_program(path, outputs="h")(x=self.x).tolist(), [[1.5, -0.5]])

    def test_signatures_say_names_dtypes_and_dims(self):
        s = th.signature(th.load_program(MODEL))
        self.assertEqual(s["inputs"], [{"name": "x", "dtype": "f32", "dims": ["n", 3]}])
        self.assertEqual([op["op"] for op in s["operators"]], ["Gemm", "Relu"])
        h = th.compile(lambda a: a * 2)
        self.assertIsNone(th.signature(h))
        h(self.x)
        self.assertEqual(th.signature(h)["inputs"], [{"name": "0", "dtype": "f32", "dims": [1, 3]}])

    def test_weights_are_a_module_that_calls_follow(self):
        f = th.load_program(MODEL)
        module = th.program_module(f)
        self.assertEqual(sorted(name for name, _ in module.named_parameters()), ["fc.bias", "fc.weight"])
        gradient = th.grad(lambda: f(self.x).sum(), wrt=module.fc.weight)()
        self.assertEqual(gradient.tolist(), [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
        module.fc.bias = th.nn.Parameter(th.tensor([0.0, 5.0]))
        self.assertEqual(f(self.x).tolist(), [[1.0, 4.0]])

    def test_what_a_model_does_not_take_is_refused(self):
        f = th.load_program(MODEL)
        with self.assertRaisesRegex(Exception, "the model takes 3 in dim 1"):
            f(th.ones(1, 4))
        with self.assertRaisesRegex(Exception, "not an ONNX model"):
            th.load_program(MODEL[:100])
        with self.assertRaisesRegex(Exception, "was not loaded from an ONNX model"):
            th.program_module(th.compile(lambda a: a))

    def test_a_pool_that_is_rounded_up_has_no_window_in_the_pads_behind(self):
        image = th.arange(35).to(th.float32).reshape(1, 1, 5, 7)
        self.assertEqual(th.load_program(POOL)(image).tolist(), [[[[0, 2, 4, 6], [14, 16, 18, 20], [28, 30, 32, 34]]]])


if __name__ == "__main__":
    unittest.main()
