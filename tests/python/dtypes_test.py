"""What dtypes are like, and in which they meet, as torch.finfo, iinfo, promote_types, can_cast and result_type say."""
import unittest

import numpy as np
import thunder as th


class Dtypes(unittest.TestCase):
    def test_finfo_is_that_of_numpy(self):
        for dtype in (th.float16, th.float32, th.float64):
            ours, theirs = th.finfo(dtype), np.finfo(dtype.name)
            for name in ("bits", "min", "max", "eps", "tiny", "smallest_normal", "smallest_subnormal", "resolution"):
                self.assertEqual(np.array(getattr(ours, name), theirs.dtype), np.array(getattr(theirs, name), theirs.dtype), (dtype, name))
        self.assertEqual(th.finfo(), th.finfo(th.float32))
        brain = th.finfo(th.bfloat16)
        self.assertEqual((brain.bits, brain.max, brain.eps, brain.resolution), (16, 3.3895313892515355e38, 0.0078125, 0.01))
        self.assertEqual(str(th.finfo(th.float16)),
                         "finfo(resolution=0.001, min=-65504.0, max=65504.0, eps=0.0009765625, smallest_normal=6.103515625e-05, "
                         "tiny=6.103515625e-05, dtype=float16)")

    def test_iinfo_is_that_of_numpy(self):
        for dtype in (th.uint8, th.int8, th.uint16, th.int16, th.uint32, th.int32, th.uint64, th.int64):
            ours, theirs = th.iinfo(dtype), np.iinfo(dtype.name)
            self.assertEqual((ours.bits, ours.min, ours.max), (theirs.bits, theirs.min, theirs.max))
        self.assertEqual(repr(th.iinfo(th.int8)), "iinfo(min=-128, max=127, dtype=int8)")

    def test_numbers_of_uint64_keep_all_bits(self):
        x, most = th.zeros(2, dtype=th.uint64), 2**64 - 1
        for way in (lambda f: f, th.compile):
            self.assertEqual(way(lambda x: x + most)(x).tolist(), [most, most])
            self.assertEqual(way(lambda x: th.where(x == 0, 2**63, x))(x).tolist(), [2**63, 2**63])
            self.assertEqual(way(lambda x: x.clone().fill_(most - 1))(x).tolist(), [most - 1] * 2)
        self.assertEqual(th.full((1,), most, dtype=th.uint64).item(), most)
        for refused in (lambda: th.zeros(2, dtype=th.int64) + most, lambda: most > th.zeros(2, dtype=th.int64), lambda: th.full((1,), most)):
            with self.assertRaisesRegex(th.Error, "the value 18446744073709551615 cannot be converted to int64 without overflow"):
                refused()

    def test_the_other_kind_is_refused(self):
        for make, message in ((lambda: th.finfo(th.int32), "takes a real dtype, got int32; iinfo is for it"),
                              (lambda: th.iinfo(th.float16), "takes a dtype of integers, got float16; finfo is for it"),
                              (lambda: th.iinfo(th.bool), "takes a dtype of integers, got bool"), (lambda: th.finfo("f4"), "a dtype was expected")):
            with self.assertRaisesRegex(TypeError, message):
                make()

    def test_types_meet_as_in_pytorch(self):
        self.assertEqual(th.promote_types(th.float16, th.bfloat16), th.float32)
        self.assertEqual(th.promote_types(th.uint8, th.int8), th.int16)
        self.assertEqual(th.promote_types(th.int64, th.float16), th.float16)
        with self.assertRaisesRegex(th.Error, "uint16, uint32 and uint64.*got u16 and i32"):
            th.promote_types(th.uint16, th.int32)
        self.assertEqual([th.can_cast(th.float32, th.int32), th.can_cast(th.int32, th.bool), th.can_cast(th.float64, th.float16),
                          th.can_cast(th.bool, th.uint8), th.can_cast(th.int64, th.int8)], [False, False, True, True, True])
        x, scalar = th.ones(2, dtype=th.int32), th.tensor(1.0, dtype=th.float64)
        self.assertEqual([th.result_type(x, 1), th.result_type(x, 1.0), th.result_type(x, scalar), th.result_type(x, True),
                          th.result_type(x.float(), scalar), th.result_type(2, 1.5)],
                         [th.int32, th.float32, th.float64, th.int32, th.float32, th.float32])
        with self.assertRaisesRegex(TypeError, "a tensor or a number was expected, got str"):
            th.result_type(x, "1")


if __name__ == "__main__":
    unittest.main()
