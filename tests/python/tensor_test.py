"""Tensors in Python: memory shared with numpy, operators, indexing, printing, pickling."""
import copy
import gc
import pickle
import sys
import unittest

import numpy as np
import thunder as th
from thunder import nn

th.seed(0)  # the same numbers at each run


class Memory(unittest.TestCase):
    def test_from_numpy_and_numpy_share_memory(self):
        array = np.arange(6, dtype=np.float32).reshape(2, 3)
        tensor = th.from_numpy(array)
        array[0, 0] = 9
        self.assertEqual(tensor[0, 0].item(), 9)
        tensor.numpy()[1, 2] = 7
        self.assertEqual(array[1, 2], 7)

    def test_every_dtype_crosses_both_ways(self):
        for name in ("bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float16", "float32", "float64"):
            array = np.array([[0, 1], [1, 0]], dtype=name)
            tensor = th.from_numpy(array)
            self.assertIs(tensor.dtype, getattr(th, name))
            self.assertEqual(np.asarray(tensor).dtype, array.dtype)
            np.testing.assert_array_equal(np.asarray(tensor), array)
            array[0, 0] = 1
            self.assertEqual(tensor[0, 0].item(), 1, "the memory is shared")
            if name != "bool":  # of which numpy exports none
                self.assertIs(th.from_dlpack(array).dtype, tensor.dtype)
            self.assertIs(th.from_dlpack(tensor.__dlpack__()).dtype, tensor.dtype)
            self.assertEqual(pickle.loads(pickle.dumps(tensor)).dtype, tensor.dtype)

    def test_narrow_numbers_come_out_as_they_are(self):
        for dtype, values in ((th.int8, [-128, 127]), (th.uint16, [0, 65535]), (th.int16, [-32768, 5]), (th.uint32, [0, 2 ** 32 - 1]),
                              (th.uint64, [1, 2 ** 64 - 1]), (th.float16, [0.5, -65504.0])):
            tensor = th.from_numpy(np.array(values, dtype=dtype.name))
            self.assertEqual(tensor.tolist(), values)
            self.assertEqual([x.item() for x in tensor], values)
            self.assertEqual(th.tensor(values[0], dtype=dtype).item(), values[0])

    def test_casts_have_pytorchs_names(self):
        x = th.tensor([1.5, -2.0])
        self.assertEqual([x.half().dtype, x.short().dtype, x.char().dtype, x.abs().byte().dtype], [th.half, th.short, th.int8, th.uint8])
        self.assertEqual(th.nn.Linear(2, 1).half().weight.dtype, th.float16)

    def test_wide_unsigned_integers_meet_only_their_own_and_reals(self):
        x = th.from_numpy(np.array([1, 2], dtype=np.uint16))
        self.assertIs((x + 1).dtype, th.uint16)
        self.assertIs((x * 0.5).dtype, th.float32)
        with self.assertRaisesRegex(th.Error, "add: promotion of uint16, uint32 and uint64 with other integers or bool is not supported, got u16 and i32"):
            x + th.tensor([1, 2], dtype=th.int32)

    def test_strided_arrays_are_shared_and_reversed_ones_copied(self):
        array = np.arange(12, dtype=np.int64).reshape(3, 4)
        shared = th.from_numpy(array.T)
        self.assertEqual(shared.tolist(), array.T.tolist())
        array[0, 1] = 100
        self.assertEqual(shared[1, 0].item(), 100)
        self.assertEqual(th.from_numpy(array[::-1]).tolist(), array[::-1].tolist())

    def test_read_only_arrays_stay_read_only(self):
        array = np.ones(3, dtype=np.float32)
        array.flags.writeable = False
        tensor = th.from_numpy(array)
        self.assertFalse(np.asarray(tensor).flags.writeable)
        with self.assertRaises(th.Error):
            tensor.add_(1)

    def test_dlpack_shares_both_ways(self):
        array = np.arange(4, dtype=np.float32)
        tensor = th.from_dlpack(array)
        array[0] = 5
        self.assertEqual(tensor.tolist(), [5, 1, 2, 3])
        back = np.from_dlpack(tensor)
        array[1] = 6
        self.assertEqual(back[1], 6)
        self.assertEqual(tensor.__dlpack_device__(), (1, 0))

    def test_a_capsule_is_consumed_once(self):
        for capsule in (th.ones(2).__dlpack__(), th.ones(2).__dlpack__(max_version=(1, 0))):
            self.assertEqual(th.from_dlpack(capsule).tolist(), [1, 1])
            with self.assertRaises(TypeError):
                th.from_dlpack(capsule)

    def test_an_array_outlives_its_tensor_and_the_reverse(self):
        array = np.asarray(th.full([1000], 3.0))
        tensor = th.from_numpy(np.full(1000, 4, dtype=np.float32))
        gc.collect()
        self.assertEqual(array.sum(), 3000)
        self.assertEqual(tensor.sum().item(), 4000)

    def test_borrowed_memory_is_given_back(self):
        array = np.ones(8, dtype=np.float32)
        before = sys.getrefcount(array)
        tensors = [th.from_numpy(array), th.from_dlpack(array), th.relu(array)]
        self.assertGreater(sys.getrefcount(array), before)
        del tensors
        self.assertEqual(sys.getrefcount(array), before)

    def test_functions_of_numpy_take_tensors_that_have_elements(self):
        np.testing.assert_array_equal(np.exp(th.zeros(2)), [1, 1])
        np.testing.assert_array_equal(np.sum(th.ones(3, 2), axis=0, keepdims=True), [[3, 3]])
        self.assertEqual(np.concatenate([th.zeros(1), np.ones(1)]).tolist(), [0, 1])
        self.assertEqual(th.cat([np.ones((1, 2), np.float32), th.zeros(1, 2)]).tolist(), [[1, 1], [0, 0]])
        with self.assertRaisesRegex(TypeError, "traced"):
            th.compile(np.exp)(th.zeros(2))

    def test_numpy_operands_give_tensors(self):
        array = np.ones(2, dtype=np.float32)
        for value in (array + th.ones(2), th.ones(2) + array, np.float32(1) + th.ones(2)):
            self.assertIsInstance(value, th.Tensor)
            self.assertEqual(value.tolist(), [2, 2])


class Values(unittest.TestCase):
    def test_tensor_takes_python_values_and_copies(self):
        self.assertIs(th.tensor([1, 2]).dtype, th.int64)
        self.assertIs(th.tensor([1.0, 2]).dtype, th.float32)
        self.assertIs(th.tensor([True]).dtype, th.bool)
        self.assertIs(th.tensor(np.zeros(2)).dtype, th.float64)
        self.assertIs(th.tensor([1, 2], dtype="float64").dtype, th.float64)
        self.assertIs(th.tensor([1, 2], dtype=np.float32).dtype, th.float32)
        array = np.ones(2, dtype=np.float32)
        tensor = th.tensor(array)
        array[0] = 2
        self.assertEqual(tensor.tolist(), [1, 1])
        with self.assertRaises(TypeError):
            th.tensor(["a"])

    def test_operators_in_place_keep_the_tensor(self):
        x = y = th.tensor([1.0, 2.0])
        x += 1
        x *= 2
        self.assertIs(x, y)
        self.assertEqual(y.tolist(), [4, 6])

    def test_max_and_min_of_all_and_of_pairs(self):
        x = th.tensor([1.0, 3.0])
        self.assertEqual((x.max().item(), x.min().item(), th.max(x, th.tensor(2.0)).tolist(), th.min(x, th.tensor(2.0)).tolist()),
                         (3, 1, [2, 3], [1, 2]))
        with self.assertRaisesRegex(TypeError, "maximum"):
            th.max(x, 2.0)
        with self.assertRaisesRegex(TypeError, "amin"):
            x.min((0, 1))

    def test_pythons_float_is_double_precision_as_a_dtype(self):
        self.assertEqual((th.zeros(1, dtype=float).dtype, th.ones(1).to(float).dtype, th.tensor([1.5]).dtype),
                         (th.float64, th.float64, th.float32))

    def test_max_and_min_along_a_dim_give_values_and_indices(self):
        x = th.tensor([[1.0, 5.0, 5.0], [7.0, -2.0, 0.0]])
        values, indices = x.max(1)
        self.assertEqual((values.tolist(), indices.tolist()), ([5, 7], [1, 0]))
        least = th.min(x, 0, keepdim=True)
        self.assertEqual((least.values.tolist(), least.indices.tolist()), ([[1, -2, 0]], [[0, 1, 1]]))
        self.assertEqual(th.tensor([True, False]).min(0).indices.item(), 1)
        self.assertEqual(th.tensor([3, 200, 7], dtype=th.uint8).min(0).values.item(), 3)
        predict = th.compile(lambda x: x.max(-1)[1])
        self.assertEqual(predict(x).tolist(), [1, 0])

    def test_min_along_a_dim_is_right_for_every_dtype(self):
        least = -2 ** 63
        for x, at in ((th.tensor([3, least, 5]), 1), (th.tensor([7, -2 ** 31], dtype=th.int32), 1), (th.tensor([0, 255], dtype=th.uint8), 0),
                      (th.tensor([True, False, False]), 1), (th.tensor([1.0, -np.inf, -np.inf]), 1)):
            values, indices = x.min(0)
            self.assertEqual((values.item(), indices.item()), (min(x.tolist()), at), x)
        nan = th.tensor([-1.0, np.nan, np.nan])
        self.assertEqual((str(nan.min(0).values.item()), nan.min(0).indices.item(), nan.max(0).indices.item()), ("nan", 1, 1))
        self.assertEqual(th.compile(lambda x: x.min(0))(th.tensor([3, least])).indices.item(), 1)
        self.assertEqual(th.grad(lambda x: x.min(0).values)(th.tensor([2.0, 1.0])).tolist(), [0, 1])

    def test_where_keeps_the_tensors_elements_where_the_condition_holds(self):
        x = th.tensor([1.0, -2.0])
        self.assertEqual(x.where(x > 0, th.zeros(2)).tolist(), [1, 0])
        self.assertEqual(th.where(x > 0, x, 0.0).tolist(), [1, 0])

    def test_numbers_are_refused_where_a_tensor_belongs(self):
        x = th.ones(2, 2)
        for call in (lambda: th.mean(3), lambda: th.softmax(1, 0), lambda: th.matmul(x, 2), lambda: th.layer_norm(1, [1]),
                     lambda: th.embedding(x, 1), lambda: th.cross_entropy(x, 1)):
            with self.assertRaisesRegex((th.Error, TypeError, ValueError), "must be a tensor"):
                call()

    def test_pytorchs_gradients_are_explained(self):
        with self.assertRaisesRegex(RuntimeError, "grad_of"):
            th.ones(1).backward()
        self.assertEqual((th.ones(1).requires_grad, th.ones(1).grad), (False, None))

    def test_bits_are_read_as_another_dtype(self):
        random = np.random.default_rng(0)
        for names in (("int8", "uint8"), ("int16", "float16"), ("int32", "float32", "uint32"), ("int64", "float64")):
            for a, b in ((a, b) for a in names for b in names):
                x = random.integers(1, 100, (4, 6)).astype(a)

                def written(t):
                    bits = t.view(getattr(th, b))
                    bits[1:3] = 1
                    before = t.clone()
                    t[0] = 2
                    return before, bits.clone()
                wanted = x.copy()
                wanted.view(b)[1:3] = 1
                before = wanted.copy()
                wanted[0] = 2
                for way in (written, th.compile(written), th.compile(written, fullgraph=False)):
                    t = th.tensor(x)
                    got = way(t)
                    for mine, its in zip((*got, t), (before, wanted.view(b), wanted)):
                        self.assertTrue(np.array_equal(mine.numpy(), its), (a, b))
                self.assertTrue(np.array_equal(th.tensor(x).t().view(dtype=getattr(th, b)).numpy(), np.ascontiguousarray(x.T).view(b)))
        whole = th.tensor([[1.0, 2.0]])
        self.assertEqual((whole.view(th.uint8).shape, whole.view(th.int64).shape, whole.view(th.uint8).view(th.float32).tolist()), ((1, 8), (1, 1), [[1, 2]]))
        self.assertEqual(th.func.vmap(lambda row: row.view(th.int32))(th.ones(2, 3)).tolist(), [[0x3f800000] * 3] * 2)
        with self.assertRaisesRegex(th.Error, "no multiple"):
            th.ones(3).view(th.float64)

    def test_an_operand_that_is_none_is_refused(self):
        with self.assertRaisesRegex(TypeError, "unsupported operand"):
            th.ones(2) + "x"

    def test_numbers_of_python(self):
        self.assertEqual(float(th.tensor(2.5)), 2.5)
        self.assertEqual(int(th.tensor(2)), 2)
        self.assertTrue(th.tensor([True]))
        self.assertEqual(f"{th.tensor(1.23456):.2f}", "1.23")
        self.assertEqual([10, 20][th.tensor(1)], 20)
        self.assertEqual(th.tensor(1.5, dtype=th.bfloat16).item(), 1.5)
        with self.assertRaises(ValueError):
            th.ones(2).item()

    def test_shape_and_length(self):
        x = th.zeros(2, 3)
        self.assertEqual((x.shape, x.ndim, len(x), x.numel(), x.size(-1), x.nbytes), ((2, 3), 2, 2, 6, 3, 24))
        self.assertEqual(th.zeros((2, 3)).shape, th.zeros([2, 3]).shape)
        self.assertEqual([row.tolist() for row in th.tensor([[1], [2]])], [[1], [2]])
        with self.assertRaises(TypeError):
            len(th.tensor(1))

    def test_repr_shows_elements_and_unusual_dtypes(self):
        self.assertEqual(repr(th.tensor([1.0, 2.5])), "tensor([1.0000, 2.5000])")
        self.assertEqual(repr(th.tensor([1], dtype=th.int32)), "tensor([1], dtype=thunder.int32)")
        self.assertIn("bfloat16", repr(th.ones(2).bfloat16()))

    def test_to_takes_dtypes_and_devices(self):
        x = th.ones(2)
        self.assertIs(x.to(th.float64).dtype, th.float64)
        self.assertIs(x.to("int64").dtype, th.int64)
        self.assertEqual(repr(x.to("cpu").device), "cpu")
        self.assertIs(x.to(device="cpu", dtype=th.bool).dtype, th.bool)

    def test_a_device_that_is_not_there_is_refused(self):
        with self.assertRaisesRegex(th.Error, "zeros.*there is no device cuda:97"):
            th.zeros(2, device="cuda:97")

    def test_gpus_are_counted_in_traced_functions_as_outside(self):
        outside, inside = (th.cuda.is_available(), th.cuda.device_count()), []

        def asks(x):
            inside.append((th.cuda.is_available(), th.cuda.device_count()))
            return x * 2

        def asks_before_sum(x):
            return asks(x).sum()
        self.assertEqual(th.compile(asks)(th.ones(3)).tolist(), [2, 2, 2])
        self.assertEqual(th.func.grad(asks_before_sum)(th.ones(3)).tolist(), [2, 2, 2])
        self.assertEqual(inside, [outside] * len(inside))
        self.assertGreaterEqual(len(inside), 2)

    def test_of_a_traced_function_have_the_layout_and_bytes_that_they_will_have(self):
        views = {"itself": lambda x: x, "t": lambda x: x.T, "contiguous": lambda x: x.T.contiguous(), "a row": lambda x: x[1], "a column": lambda x: x[:, 1],
                 "rows": lambda x: x[1:], "columns": lambda x: x[:, 1:], "steps": lambda x: x[::2], "one column": lambda x: x[:, :1], "expanded": lambda x: x[:1].expand(3, 4),
                 "unsqueezed": lambda x: x.T.unsqueeze(0), "reshaped": lambda x: x.T.reshape(12), "permuted": lambda x: x.reshape(3, 2, 2).permute(0, 2, 1),
                 "an op's": lambda x: x.T + 1, "a copy": lambda x: x.T.clone(), "another dtype": lambda x: x.double(), "a number": lambda x: x.sum(),
                 "no elements": lambda x: x[:0], "written": lambda x: x.clone().T.add_(1), "cat": lambda x: th.cat([x.T, x.T]), "made": lambda x: th.zeros(2, 5),
                 "split": lambda x: x.split(2, 1)[1], "diagonal": lambda x: x.diagonal(), "a view's view": lambda x: x.T[1:].T, "int8": lambda x: x.to(th.int8)}

        def known(x):
            made = [view(x) for view in views.values()]
            return [made_one.is_contiguous() for made_one in made], [made_one.nbytes for made_one in made], [x * (3 if made_one.is_contiguous() else 2) for made_one in made]
        dense = th.arange(12.0).reshape(3, 4)
        for x in (dense, th.arange(12.0).reshape(4, 3).T, th.arange(24.0).reshape(3, 8)[:, ::2], th.arange(4.0).reshape(1, 4).expand(3, 4)):
            layouts, sizes, results = known(x)
            for options in ({}, {"fullgraph": False}, {"dynamic": True}):
                f = th.compile(known, **options)
                for _ in range(2):
                    got = f(x)
                    self.assertEqual(dict(zip(views, got[0])), dict(zip(views, layouts)), options)
                    self.assertEqual(dict(zip(views, got[1])), dict(zip(views, sizes)), options)
                    self.assertEqual([t.tolist() for t in got[2]], [t.tolist() for t in results])
        f = th.compile(lambda x: x * x.nbytes, dynamic=True)
        self.assertEqual([f(th.ones(n)).tolist()[0] for n in (3, 5, 9)], [12, 20, 36])

    def test_copies_and_pickles_are_what_was_said_of_the_tensor(self):
        x = th.ones(2).requires_grad_()
        with th.tape():
            (x * x).sum().backward()
        x.note = ["mine"]
        frozen, plain = nn.Parameter(th.ones(2), requires_grad=False), th.ones(2)
        for make in (copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))):
            for one in (x, frozen, nn.Parameter(th.ones(2)), plain, nn.Parameter(th.ones(2)).bfloat16()):
                made = make(one)
                self.assertEqual((made.requires_grad, isinstance(made, nn.Parameter)), (one.requires_grad, isinstance(one, nn.Parameter)))
        made = copy.deepcopy(x)
        self.assertEqual((made.grad.tolist(), made.note), ([2, 2], ["mine"]))
        made.grad.zero_(), made.note.append("too")
        self.assertEqual((x.grad.tolist(), x.note), ([2, 2], ["mine"]))
        self.assertIsNone(pickle.loads(pickle.dumps(x)).grad)

    def test_pickles_and_copies_are_equal_and_apart(self):
        for x in (th.randn(2, 3), th.tensor(3), th.ones(2).bfloat16(), th.zeros(0, 2), th.randn(3, 2).T):
            for y in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
                self.assertTrue(x.equal(y))
        self.assertIs(pickle.loads(pickle.dumps(th.float32)), th.float32)
        self.assertIs(pickle.loads(pickle.dumps(th.add)), th.add)
        self.assertEqual(repr(pickle.loads(pickle.dumps(th.ones(1).device))), "cpu")


class Indexing(unittest.TestCase):
    def test_keys_mean_what_they_mean_in_numpy(self):
        array = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
        x = th.from_numpy(array)
        keys = [0, -1, (1, 2), (slice(None), 1), (Ellipsis, -1), None, (None, Ellipsis, None), slice(0, 2, 2),
                (0, slice(1, None), slice(None, -1)), [1, 0], (slice(None), [0, 2]), (slice(None), slice(None), [0, 2]),
                ([0, 1], [1, 2]), (0, [1, 2]), ([0, 1], slice(None), [1, 2]), np.array([True, False])]
        for key in keys:
            np.testing.assert_array_equal(np.asarray(x[key]), array[key], err_msg=str(key))

    def test_assignment_writes_in_place(self):
        array = np.zeros((4, 5), dtype=np.float32)
        x = th.zeros(4, 5)
        for target in (array, x):
            target[1] = 3
            target[:, 2] = np.arange(4, dtype=np.float32)
            target[[0, 1], [3, 4]] = 8
            target[2:, :2] = 1
        np.testing.assert_array_equal(np.asarray(x), array)

    def test_assignment_by_indices_in_the_middle_is_numpys(self):
        values = np.arange(24, dtype=np.float32)
        for key, shape in (((slice(None), [2, 0]), (2, 2, 4)), ((slice(None), slice(None), [1]), (2, 3, 1)), ((slice(None), [0, 1], [1, 2]), (2, 2)),
                           ((slice(None), [[0, 1]]), (1, 2, 4)), ((slice(None), [0, 2]), (4,)),
                           (([1, 0], slice(None), [1, 2]), (2, 3)), ((slice(None), [2]), ())):
            array, x = np.zeros((2, 3, 4), dtype=np.float32), th.zeros(2, 3, 4)
            value = values[:np.prod(shape, dtype=int)].reshape(shape) + 1
            array[key] = value
            x[key] = th.tensor(value)
            np.testing.assert_array_equal(np.asarray(x), array, err_msg=str(key))

    def test_masks_pick_and_fill(self):
        array = np.arange(6, dtype=np.float32).reshape(2, 3)
        x = th.tensor(array)
        rows, columns = np.array([False, True]), np.array([True, False, True])
        for key in (array > 2, rows, (slice(None), columns), (0, columns), (array > 2, None)):
            np.testing.assert_array_equal(np.asarray(x[key]), array[key], err_msg=str(key))
        x[x > 2] = 0
        self.assertEqual(x.tolist(), [[0, 1, 2], [0, 0, 0]])

        @th.compile
        def positive(y):
            y = y.clone()
            y[y < 0] = 0.0
            return y
        self.assertEqual(positive(th.tensor([-1.0, 2.0])).tolist(), [0, 2])
        with self.assertRaisesRegex(th.Error, r"index: the shape of its result depends on values.*where\(mask"):
            th.compile(lambda y: y[y > 0])(th.ones(2))

    def test_what_is_out_of_range_is_an_index_error(self):
        x = th.zeros(2, 3)
        for key in (2, (0, 3), (0, 0, 0), (Ellipsis, Ellipsis)):
            with self.assertRaises(IndexError):
                x[key]
        with self.assertRaises(TypeError):
            x["a"]


class Ops(unittest.TestCase):
    def test_name_the_argument_that_does_not_fit_64_bits(self):
        big, x = 1 << 70, th.ones(2)
        for call, what in ((lambda: th.zeros([2, big]), "zeros: argument 'size'"), (lambda: x.view(big), "view: argument 'size'"),
                           (lambda: x.sum(dim=-big), "sum: argument 'dim'"), (lambda: x.add(big), "add: argument 'other'"),
                           (lambda: th.compile(lambda x, n: x * n)(x, big), "mul: argument 'other'"), (lambda: th.seed(big), "seed: the number"),
                           (lambda: th.compile(lambda x: x, recompile_limit=big)(x), "option 'recompile_limit'")):
            with self.assertRaisesRegex(OverflowError, f"{what} must fit 64 bits, got -?{big}$"):
                call()

    def test_every_op_is_documented_and_callable(self):
        self.assertGreater(len(th.ops()), 80)
        for row in th.ops():
            op = getattr(th, row["name"])
            self.assertTrue(callable(op), row["name"])
            self.assertTrue(op.__doc__, row["name"])

    def test_numpys_names_of_dims_are_taken_as_pytorch_takes_them(self):
        x = th.arange(6).float().reshape(2, 3)
        self.assertEqual(x.sum(axis=0, keepdims=True).tolist(), [[3, 5, 7]])
        self.assertEqual(th.softmax(x * 0, axis=1).tolist(), th.softmax(x * 0, dim=1).tolist())
        self.assertEqual(th.cat([x, x], axis=1).shape, (2, 6))
        self.assertEqual(x.max(axis=1, keepdims=True).values.tolist(), [[2], [5]])
        self.assertEqual(repr(th.nn.Softmax(axis=1)), "Softmax(dim=1)")
        with self.assertRaisesRegex(th.Error, "'dim' is given twice"):
            x.sum(0, axis=1)

    def test_unknown_keywords_name_what_is_near_and_what_there_is(self):
        for call, why in ((lambda: th.softmax(th.ones(2), dmi=1), r"'dmi' \(did you mean 'dim'\?\); it takes input, dim, dtype$"),
                          (lambda: th.zeros(2, bogus=1), "'bogus'; there are device, dtype, size$"),
                          (lambda: th.zeros(2, pin_memory=True), "'pin_memory'.*not in libthunder.*it takes size"),
                          (lambda: th.nn.Linear(2, 3, bais=False), "'bais'.*'bias'")):
            with self.assertRaisesRegex(TypeError, "unexpected keyword argument " + why):
                call()

    def test_arguments_by_position_by_name_and_gathered(self):
        x = th.arange(6).float().reshape(2, 3)
        self.assertEqual(x.sum(dim=1).tolist(), x.sum(1).tolist())
        self.assertEqual(x.sum(dim=[0, 1], keepdim=True).shape, (1, 1))
        self.assertEqual(x.permute(1, 0).shape, x.permute([1, 0]).shape)
        self.assertEqual(x.view(3, 2).shape, (3, 2))
        self.assertEqual(th.cat([x, x], dim=1).shape, (2, 6))
        self.assertEqual([part.shape for part in x.split(2, dim=1)], [(2, 2), (2, 1)])
        values, indices = th.max_pool2d_with_indices(th.ones(1, 1, 2, 2), 2)
        self.assertEqual((values.shape, indices.dtype), ((1, 1, 1, 1), th.int64))


if __name__ == "__main__":
    unittest.main()
