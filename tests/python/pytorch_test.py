"""Names that a PyTorch user types, beside the ops: containers, checkpoints, sizes, out=, testing, nn.utils."""
import collections
import os
import tempfile
import unittest

import numpy as np
import thunder as th
from thunder import nn, optim

th.seed(0)  # the same numbers at each run


class Loops(unittest.TestCase):
    def test_clearing_gradients_changes_nothing(self):
        net = nn.Linear(2, 1)
        opt = optim.SGD(net.parameters(), lr=0.1)
        before = net.weight.tolist()
        opt.zero_grad(), opt.zero_grad(set_to_none=True), net.zero_grad(set_to_none=False)
        self.assertEqual(net.weight.tolist(), before)

    def test_a_sequential_takes_names(self):
        net = nn.Sequential(collections.OrderedDict([("fc", nn.Linear(2, 3)), ("act", nn.ReLU()), ("out", nn.Linear(3, 1))]))
        self.assertEqual(list(net.state_dict()), ["fc.weight", "fc.bias", "out.weight", "out.bias"])
        self.assertIs(net[0], net.fc)
        self.assertIs(net[-1], net.out)
        net[1] = nn.Tanh()
        self.assertIsInstance(net.act, nn.Tanh)
        self.assertEqual([name for name, _ in net[:2].named_children()], ["fc", "act"])
        x = th.ones(1, 2)
        self.assertEqual(net(x).tolist(), net.out(net.act(net.fc(x))).tolist())
        th.testing.assert_close(th.compile(net)(x), net(x))
        with self.assertRaisesRegex(TypeError, "ModuleList: its children have numbers"):
            nn.ModuleList({"a": nn.Linear(1, 1)})
        with self.assertRaisesRegex(KeyError, "a method of it"):
            nn.Sequential({"append": nn.Linear(1, 1)})

    def test_layers_take_a_dtype_and_a_device(self):
        for layer in (nn.Linear(2, 3, dtype=th.float64, device="cpu"), nn.Conv2d(1, 2, 3, dtype=th.float64), nn.LayerNorm(4, dtype=th.float64),
                      nn.Embedding(3, 2, dtype=th.float64), nn.LSTM(2, 3, dtype=th.float64), nn.MultiheadAttention(4, 2, dtype=th.float64)):
            self.assertEqual({p.dtype for p in layer.parameters()}, {th.float64}, layer)
        self.assertIs(nn.Linear(2, 3, bias=False, device=None, dtype=None).weight.dtype, th.float32)
        with self.assertRaisesRegex(TypeError, "dtyp"):
            nn.Linear(2, 3, dtyp=th.float64)

    def test_layers_draw_their_first_values_anew(self):
        for layer in (nn.Linear(4, 4), nn.BatchNorm1d(3), nn.MultiheadAttention(4, 2), nn.Conv1d(2, 2, 3)):
            shapes = {name: tensor.shape for name, tensor in layer.named_parameters()}
            for tensor in layer.parameters():
                tensor.fill_(7)
            layer.reset_parameters()
            self.assertEqual({name: tensor.shape for name, tensor in layer.named_parameters()}, shapes)
            self.assertFalse(any((tensor == 7).any().item() for tensor in layer.parameters()), layer)
        self.assertFalse(hasattr(nn.Sequential(), "reset_parameters"))


class Functions(unittest.TestCase):
    def test_of_norms_refuse_statistics_of_one_place(self):
        x = th.ones(4, 3, 1)
        for norm in (nn.InstanceNorm1d(3), th.compile(nn.InstanceNorm1d(3)), nn.functional.instance_norm, th.compile(nn.functional.instance_norm)):
            with self.assertRaisesRegex((ValueError, th.Error), "more than one place"):
                norm(x)
        self.assertEqual(nn.InstanceNorm1d(3, track_running_stats=True).eval()(x).shape, (4, 3, 1))
        self.assertEqual(nn.functional.instance_norm(x, th.zeros(3), th.ones(3), use_input_stats=False).shape, (4, 3, 1))

    def test_of_norms_write_the_running_statistics(self):
        for ways in (lambda f: f, th.compile):
            for norm, layer, training in ((nn.functional.batch_norm, nn.BatchNorm1d(3), "training"),
                                          (nn.functional.instance_norm, nn.InstanceNorm1d(3, track_running_stats=True), "use_input_stats")):
                mean, variance, x = th.zeros(3), th.ones(3), th.randn(4, 3, 5)
                made = ways(lambda x: norm(x, mean, variance, momentum=0.1, **{training: True}))(x)
                th.testing.assert_close(made, layer(x))
                th.testing.assert_close(mean, layer.running_mean)
                th.testing.assert_close(variance, layer.running_var)
                before = mean.tolist()
                norm(x, mean, variance, **{training: False})
                norm(x, None, None, **{training: True})
                self.assertEqual(mean.tolist(), before)

    def test_give_tensors_of_their_own(self):
        number, edges = th.tensor(3.0), th.tensor([0.0, 1.0, 2.0])
        for made in (th.max(number, 0).values, number.min(0).values, th.max(number, 0, True).values):
            made.fill_(7)
        th.histogram(th.rand(4), edges).bin_edges.fill_(7)
        self.assertEqual((number.item(), edges.tolist()), (3.0, [0.0, 1.0, 2.0]))
        dropped = nn.functional.dropout(th.ones(2, 3), 1.0)
        dropped[0, 1] = 5
        self.assertEqual(dropped.tolist(), [[0, 5, 0], [0, 0, 0]])

    def test_that_make_tensors_take_requires_grad(self):
        like = th.ones(2)
        made = [th.zeros(2, requires_grad=True), th.rand(2, requires_grad=True), th.full([2], 3.0, requires_grad=True), th.arange(2.0, requires_grad=True),
                th.randn_like(like, requires_grad=True), like.new_ones(2, requires_grad=True), like.new_tensor([1.0, 2.0], requires_grad=True)]
        self.assertTrue(all(x.requires_grad for x in made))
        self.assertFalse(th.zeros(2, requires_grad=False).requires_grad)
        with th.tape():
            w = th.ones(2, requires_grad=True)
            (w * 3).sum().backward()
        self.assertEqual(w.grad.tolist(), [3, 3])
        with self.assertRaisesRegex(RuntimeError, "only tensors of real numbers"):
            th.zeros(2, dtype=th.int64, requires_grad=True)
        with self.assertRaisesRegex(TypeError, "requires_grad"):
            th.add(like, like, requires_grad=True)


class Checkpoints(unittest.TestCase):
    def test_dicts_lists_and_plain_values_come_back_as_they_were(self):
        net = nn.Linear(2, 1)
        saved = {"model": net.state_dict(), "epoch": 3, "best": 0.25, "name": "é", "flag": True, "none": None, "list": [th.ones(2), (1, th.zeros(1))],
                 "by number": {0: th.ones(1), 1: {}}, "rate": np.float64(0.5), "dotted.name": th.ones(3)}
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "all.safetensors")
            th.save(saved, path)
            read = th.load(path)
            th.save(net.state_dict(), path)
            self.assertEqual(list(th.load(path)), ["bias", "weight"], "tensors alone are what any reader finds")
        self.assertEqual(read.keys(), saved.keys())
        self.assertEqual([read[name] for name in ("epoch", "best", "name", "flag", "none", "rate")], [3, 0.25, "é", True, None, 0.5])
        self.assertEqual(read["model"]["weight"].tolist(), net.weight.tolist())
        self.assertEqual((read["list"][0].tolist(), read["list"][1][0], read["list"][1][1].tolist()), ([1, 1], 1, [0]))
        self.assertIsInstance(read["list"][1], tuple)
        self.assertEqual((read["by number"][0].tolist(), read["by number"][1], read["dotted.name"].tolist()), ([1], {}, [1, 1, 1]))

    def test_what_a_file_cannot_hold_is_named(self):
        for tree, error, message in (({"a": {"b": object()}}, TypeError, "'a.b' is object"), ({"a": {(1, 2): th.ones(1)}}, TypeError, "a key at 'a' is tuple"),
                                     ({"a": {"b": th.ones(1)}, "a.b": th.ones(1)}, ValueError, "two tensors are at 'a.b'"),
                                     ([th.ones(1)], TypeError, "a dict of tensors"), ({"thunder.structure": th.ones(1)}, ValueError, "take another")):
            with self.assertRaisesRegex(error, message):
                th.save(tree, "/nowhere/file")


class Sizes(unittest.TestCase):
    def test_a_shape_is_a_tuple_that_counts(self):
        shape = th.ones(2, 3).shape
        self.assertIsInstance(shape, th.Size)
        self.assertEqual((shape, shape.numel(), th.Size([4]).numel(), th.ones(()).shape.numel(), len(shape), shape[-1]), ((2, 3), 6, 4, 1, 2, 3))
        self.assertEqual(th.zeros(shape).shape, shape)
        self.assertEqual(th.compile(lambda x, s: x.reshape(s))(th.ones(6), shape).shape, (2, 3))
        self.assertEqual(th.compile(lambda x: x.reshape(x.shape.numel()), dynamic=True)(th.ones(2, 3)).shape, (6,))


class Results(unittest.TestCase):
    def test_an_op_stores_its_results_in_out(self):
        x = th.tensor([[3.0, 1.0], [2.0, 4.0]])
        given = th.zeros(2, 2)
        self.assertIs(th.add(x, 1, out=given), given)
        self.assertEqual(given.tolist(), [[4, 2], [3, 5]])
        view = th.zeros(3, 2)
        th.matmul(x, x, out=view[:2])
        self.assertEqual(view.tolist(), [[11, 7], [14, 18], [0, 0]])
        values, places = th.zeros(2, 2), th.zeros(2, 2, dtype=th.int64)
        th.sort(x, 1, out=(values, places))
        self.assertEqual((values.tolist(), places.tolist()), ([[1, 3], [2, 4]], [[1, 0], [0, 1]]))
        self.assertEqual(th.compile(lambda x, y: th.mul(x, 2, out=y))(x, given).tolist(), [[6, 2], [4, 8]])
        self.assertEqual(given.tolist(), [[6, 2], [4, 8]])
        self.assertEqual(th.add(x, 1, out=None).tolist(), [[4, 2], [3, 5]])

    def test_out_that_does_not_fit_is_refused(self):
        x = th.ones(2)
        for call, error, message in ((lambda: th.add(x, 1, out=th.zeros(3)), ValueError, r"add: out must have the result's shape, \(2,\)"),
                                     (lambda: th.add(x, 1, out=th.zeros(2, 2)), ValueError, "tensors are not resized"),
                                     (lambda: th.add(x, 1, out=th.zeros(2, dtype=th.int64)), ValueError, "a dtype that thunder.float32 can be stored in"),
                                     (lambda: th.add(x, 1, out=3), TypeError, "out must be a tensor, not int"),
                                     (lambda: th.sort(x, out=th.zeros(2)), TypeError, "a tuple of 2 tensors"),
                                     (lambda: x.add_(1, out=x), TypeError, "unexpected keyword argument 'out'")):
            with self.assertRaisesRegex(error, message):
                call()

    def test_diagonals_blocks_and_products_are_pytorchs(self):
        self.assertEqual(th.zeros(3, 2).fill_diagonal_(5).tolist(), [[5, 0], [0, 5], [0, 0]])
        self.assertEqual(th.zeros(5, 2).fill_diagonal_(5, wrap=True).tolist(), [[5, 0], [0, 5], [0, 0], [5, 0], [0, 5]])
        self.assertEqual(th.zeros(2, 2, 2).fill_diagonal_(1).tolist(), [[[1, 0], [0, 0]], [[0, 0], [0, 1]]])
        self.assertEqual(th.block_diag(th.ones(1, 2), th.tensor([3]), th.tensor(4.0)).tolist(), [[1, 1, 0, 0], [0, 0, 3, 0], [0, 0, 0, 4]])
        self.assertEqual(th.cartesian_prod(th.tensor([1, 2]), th.tensor([3, 4])).tolist(), [[1, 3], [1, 4], [2, 3], [2, 4]])
        self.assertEqual(th.combinations(th.tensor([1, 2, 3])).tolist(), [[1, 2], [1, 3], [2, 3]])
        self.assertEqual(th.combinations(th.tensor([1, 2]), with_replacement=True).tolist(), [[1, 1], [1, 2], [2, 2]])
        with self.assertRaisesRegex(TypeError, r"squeeze_: a tensor keeps its shape: x = x.squeeze\(...\)"):
            th.ones(1, 2).squeeze_()

    def test_a_pointer_is_that_of_the_memory(self):
        array = np.ones(4, dtype=np.float32)
        x = th.from_numpy(array)
        self.assertEqual((x.data_ptr(), x[1:].data_ptr()), (array.ctypes.data, array.ctypes.data + 4))

    def test_the_precision_of_products_is_an_option_of_what_is_compiled_then(self):
        self.assertEqual(th.get_float32_matmul_precision(), "highest")
        th.set_float32_matmul_precision("high")
        try:
            self.assertEqual(th.compile(lambda x: x @ x)(th.eye(2)).tolist(), [[1, 0], [0, 1]])
        finally:
            th.set_float32_matmul_precision("highest")
        with self.assertRaisesRegex(ValueError, "'highest', 'high' or 'medium', got 'low'"):
            th.set_float32_matmul_precision("low")


class Testing(unittest.TestCase):
    def test_close_tensors_pass(self):
        close = th.testing.assert_close
        close(th.ones(2), th.ones(2) + 1e-6), close(1.0, 1.0 + 1e-8), close([th.ones(1), 2], [th.ones(1), 2]), close({"a": th.ones(1)}, {"a": th.ones(1)})
        close(th.tensor([float("nan")]), th.tensor([float("nan")]), equal_nan=True), close(np.ones(2), np.ones(2)), close(th.ones(2).bfloat16(), th.ones(2).bfloat16() + 0.01)
        close(th.ones(2), th.ones(2, dtype=th.float64), check_dtype=False), close(th.ones(1), th.tensor([1.4]), rtol=0, atol=0.5)

    def test_others_fail_with_what_differs(self):
        for actual, expected, message in ((th.ones(2), th.tensor([1.0, 2.0]), r"(?s)Mismatched elements: 1 / 2.*index \(1,\): 1.0 != 2.0"), (th.ones(2), th.ones(3), "'shape'"),
                                          (th.ones(1), th.ones(1, dtype=th.float64), "'dtype'"), (th.tensor([float("nan")]), th.tensor([float("nan")]), "close"),
                                          (th.tensor([1]), th.tensor([2]), "not equal"), ([1], [1, 2], "length"), ({"a": 1}, {"b": 1}, "keys"),
                                          ({"a": th.ones(1)}, {"a": th.zeros(1)}, r"at \['a'\]"), (1.0, 1.1, "close")):
            with self.assertRaisesRegex(AssertionError, message):
                th.testing.assert_close(actual, expected)
        with self.assertRaisesRegex(AssertionError, "^mine$"):
            th.testing.assert_close(1, 2, msg="mine")


class Utilities(unittest.TestCase):
    def test_parameters_are_one_vector_and_back(self):
        net = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
        vector = nn.utils.parameters_to_vector(net.parameters())
        self.assertEqual(vector.shape, (13,))
        nn.utils.vector_to_parameters(th.arange(13).float(), net.parameters())
        self.assertEqual((net[0].weight.tolist(), net[1].bias.tolist()), ([[0, 1], [2, 3], [4, 5]], [12]))
        with self.assertRaisesRegex(ValueError, "the vector has 5 elements, the parameters 13"):
            nn.utils.vector_to_parameters(th.ones(5), net.parameters())

    def test_sequences_are_padded_on_either_side(self):
        pad, unpad = nn.utils.rnn.pad_sequence, nn.utils.rnn.unpad_sequence
        parts = [th.tensor([1, 2, 3]), th.tensor([4])]
        self.assertEqual(pad(parts, batch_first=True).tolist(), [[1, 2, 3], [4, 0, 0]])
        self.assertEqual(pad(parts, padding_value=9).tolist(), [[1, 4], [2, 9], [3, 9]])
        self.assertEqual(pad(parts, True, padding_side="left").tolist(), [[1, 2, 3], [0, 0, 4]])
        self.assertEqual([one.tolist() for one in unpad(pad(parts), th.tensor([3, 1]))], [[1, 2, 3], [4]])

    def test_a_module_is_called_with_other_tensors(self):
        net = nn.Linear(2, 1)
        own = net.weight.tolist()
        given = {"weight": th.tensor([[2.0, 3.0]]), "bias": th.tensor([1.0])}
        self.assertEqual(th.func.functional_call(net, given, th.tensor([[1.0, 1.0]])).tolist(), [[6]])
        self.assertEqual(net.weight.tolist(), own)
        gradient = th.grad(lambda w: th.func.functional_call(net, {"weight": w}, (th.tensor([[5.0, 7.0]]),)).sum())(given["weight"])
        self.assertEqual(gradient.tolist(), [[5, 7]])
        with self.assertRaisesRegex(KeyError, "no parameter or buffer 'wieght'.*weight"):
            th.func.functional_call(net, {"wieght": given["weight"]}, th.ones(1, 2))
        stacked, buffers = th.func.stack_module_state([net, nn.Linear(2, 1)])
        self.assertEqual((stacked["weight"].shape, stacked["weight"][0].tolist(), buffers), ((2, 1, 2), own, {}))

    def test_a_module_is_called_with_other_tensors_where_it_is_traced(self):
        net, x, y = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Tanh(), nn.Linear(4, 1)), th.rand(5, 3), th.rand(5, 1)
        net.eval()
        call, params = th.func.functional_call, {name: p.clone() * 2 for name, p in net.named_parameters()}
        wanted = call(net, params, (x,))
        compiled = th.compile(lambda params, x: call(net, params, (x,)))
        self.assertTrue(th.allclose(compiled(params, x), wanted, atol=1e-6))
        self.assertTrue(th.allclose(th.compile(net)(x), net(x), atol=1e-6))  # its own tensors again

        def loss(params, x, y):
            return ((call(net, params, (x[None],))[0] - y) ** 2).sum()
        each = th.func.vmap(th.func.grad(loss), in_dims=(None, 0, 0))(params, x, y)
        for row in range(5):
            one = th.func.grad(loss)(params, x[row], y[row])
            self.assertTrue(all(th.allclose(each[name][row], one[name], atol=1e-5) for name in params))
        stacked, buffers = th.func.stack_module_state([net, net])
        both = th.func.vmap(lambda p, b: call(net, (p, b), (x,)))(stacked, buffers)
        self.assertTrue(th.allclose(both[1], net(x), atol=1e-6))

        def outer(params):  # a step inside of a step, as in MAML
            def inner(params):
                return (call(net, params, (x,)) ** 2).mean()
            gradients = th.func.grad(inner)(params)
            moved = {name: p - 0.1 * gradients[name] for name, p in params.items()}
            return (call(net, moved, (x,)) ** 2).mean()
        got, wanted = th.compile(th.func.grad(outer))(params), th.func.grad(outer)(params)
        self.assertTrue(all(th.allclose(got[name], wanted[name], atol=1e-5) for name in params))
        net.train()
        running = {name: b.clone() for name, b in net.named_buffers()}
        before = net[1].running_mean.tolist()
        moved = th.compile(lambda b, x: (call(net, b, (x,)), b["1.running_mean"])[1])(running, x)
        self.assertNotEqual(moved.tolist(), before)
        self.assertEqual(net[1].running_mean.tolist(), before)


if __name__ == "__main__":
    unittest.main()
