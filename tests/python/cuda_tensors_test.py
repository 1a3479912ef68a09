"""Tensors on a CUDA device as Python sees them, and what th.cuda says of the device; with the stand-ins for NVIDIA's libraries or a device."""
import copy
import pickle
import unittest

import numpy as np
import thunder as th

DTYPES = (th.float32, th.float64, th.bfloat16, th.float16, th.int64, th.int32, th.int8, th.uint8, th.bool)


@unittest.skipUnless(th.cuda.is_available(), "no CUDA device: tests of the build with the stand-ins run it")
class HostReads(unittest.TestCase):
    """The host cannot read a device's memory: what reads elements copies them, what shares memory refuses."""

    def test_numpy_shares_memory_and_is_refused_as_in_pytorch(self):
        x = th.arange(6.0).reshape(2, 3).to("cuda")
        message = r"can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu\(\) to copy the tensor to host memory first."
        for read in (lambda: x.numpy(), lambda: np.asarray(x), lambda: np.array(x), lambda: np.sum(x), lambda: np.stack([x, x]),
                     lambda: x.to(th.bfloat16).__array__()):
            with self.assertRaisesRegex(TypeError, message):
                read()
        for read in (lambda: memoryview(x), lambda: bytes(memoryview(x))):
            with self.assertRaisesRegex(BufferError, message):
                read()
        np.testing.assert_array_equal(x.numpy(force=True), np.arange(6.0).reshape(2, 3))
        np.testing.assert_array_equal(x.cpu().numpy(), np.arange(6.0).reshape(2, 3))

    def test_tolist_item_and_text_copy(self):
        for dtype in DTYPES:
            x = (th.arange(6).reshape(2, 3) % 2).to(dtype).to("cuda")
            self.assertEqual(x.tolist(), [[0, 1, 0], [1, 0, 1]])
            self.assertEqual(x.t()[1:].tolist(), [[1, 0], [0, 1]])
            self.assertEqual(x[1, 0].item(), 1)
            self.assertEqual(x[1, 0].tolist(), 1)
            self.assertIn("device='cuda:0'", repr(x))
        self.assertEqual(th.zeros(0, 3).to("cuda").tolist(), [])

    def test_pickles_and_copies_come_back_where_they_were(self):
        for dtype in DTYPES:
            x = (th.arange(6).reshape(3, 2) % 2).to(dtype).to("cuda").t()
            for made in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
                self.assertEqual((made.device, made.dtype, made.tolist()), (x.device, x.dtype, x.tolist()))
        here = th.arange(3.0)
        self.assertEqual(pickle.loads(pickle.dumps(here)).device.type, "cpu")

    def test_lists_are_written_into_elements_that_lists_pick(self):
        x = th.zeros(4).to("cuda")
        x[[0, 2]] = [1, 2]
        x[th.tensor([3], device="cuda")] = 7
        self.assertEqual(x.tolist(), [1, 0, 2, 7])

    def test_initialisers_reach_parameters(self):
        for fill in (th.nn.init.orthogonal_, th.nn.init.eye_, th.nn.init.trunc_normal_, th.nn.init.xavier_uniform_):
            x = th.full((3, 3), -9.0).to("cuda")
            fill(x)
            self.assertTrue(all(-5 < e < 5 for row in x.tolist() for e in row), fill.__name__)


@unittest.skipUnless(th.cuda.is_available(), "no CUDA device: tests of the build with the stand-ins run it")
class Names(unittest.TestCase):
    """Those of torch.cuda that users type first."""

    def test_say_what_the_device_is_like(self):
        properties = th.cuda.get_device_properties()
        self.assertEqual(th.cuda.get_device_name("cuda:0"), properties.name)
        self.assertEqual(th.cuda.get_device_capability(0), (properties.major, properties.minor))
        self.assertGreater(properties.multi_processor_count, 0)
        free, total = th.cuda.mem_get_info()
        self.assertTrue(0 < free <= total)
        self.assertEqual(total, properties.total_memory)
        kept = th.zeros(1 << 16, device="cuda")
        self.assertRegex(th.cuda.memory_summary(), r"in use +\d+\.\d MiB")
        self.assertEqual((th.cuda.current_device(), kept.device.index), (0, 0))

    def test_another_device_is_named_where_it_is_used(self):
        th.cuda.set_device(0)
        th.cuda.set_device("cuda")
        with self.assertRaisesRegex(ValueError, "'cuda' stands for cuda:0 here; name cuda:1"):
            th.cuda.set_device(1)

    def test_seeds_fix_what_is_drawn_there(self):
        draws = []
        for seed in (th.cuda.manual_seed, th.cuda.manual_seed_all):
            seed(7)
            draws.append(th.rand(5, device="cuda").tolist())
        self.assertEqual(*draws)

    def test_memory_that_is_not_there_is_an_error_of_its_own(self):
        with self.assertRaisesRegex(th.cuda.OutOfMemoryError, "out of memory"):
            th.zeros(1 << 45, dtype=th.int8, device="cuda")
        self.assertTrue(issubclass(th.cuda.OutOfMemoryError, th.Error))
        self.assertIs(th.OutOfMemoryError, th.cuda.OutOfMemoryError)

    def test_there_is_one_stream_to_work_on(self):
        ours = th.cuda.current_stream()
        self.assertEqual(ours, th.cuda.default_stream("cuda"))
        self.assertGreater(ours.cuda_stream, 2)
        with th.cuda.stream(ours):
            x = th.ones(3, device="cuda") * 2
        ours.synchronize()
        self.assertTrue(ours.query())
        self.assertEqual(x.tolist(), [2, 2, 2])
        with self.assertRaisesRegex(TypeError, "current_stream"):
            th.cuda.Stream()
        with self.assertRaisesRegex(ValueError, "one stream"):
            th.cuda.stream(th.cuda.ExternalStream(1))

    def test_events_tell_the_time_and_order_streams(self):
        first, last = th.cuda.Event(enable_timing=True), th.cuda.Event(enable_timing=True)
        first.record()
        th.ones(100, 100, device="cuda") @ th.ones(100, 100, device="cuda")
        last.record()
        last.synchronize()
        self.assertTrue(last.query())
        self.assertGreaterEqual(first.elapsed_time(last), 0)
        other = th.cuda.ExternalStream(1)
        th.cuda.current_stream().wait_stream(other)
        other.wait_event(other.record_event(last))
        last.wait()
        with self.assertRaisesRegex(th.Error, "made for timing"):
            first.elapsed_time(th.cuda.Event())
        with self.assertRaisesRegex(TypeError, "a stream was expected, or the number"):
            first.record("x")
        with self.assertRaisesRegex(TypeError, "not here"):
            th.cuda.Event(interprocess=True)


class Everywhere(unittest.TestCase):
    def test_the_precision_of_products_is_that_of_functions_compiled_afterwards(self):
        self.assertEqual(th.get_float32_matmul_precision(), "highest")
        th.set_float32_matmul_precision("high")
        try:
            self.assertEqual(th.get_float32_matmul_precision(), "high")
            x = th.randn(64, 64)
            np.testing.assert_allclose(th.compile(lambda a: a @ a)(x), x.numpy() @ x.numpy(), atol=0.1)
        finally:
            th.set_float32_matmul_precision("highest")
        with self.assertRaisesRegex(ValueError, "'low'"):
            th.set_float32_matmul_precision("low")

    def test_what_pytorch_has_and_is_not_here_says_what_is(self):
        with self.assertRaisesRegex(AttributeError, "pinned memory"):
            th.ones(2).pin_memory()
        with self.assertRaisesRegex(AttributeError, "row by row"):
            th.channels_last


if __name__ == "__main__":
    unittest.main()
