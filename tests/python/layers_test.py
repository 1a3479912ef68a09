"""Layers, optimisers and schedules against what PyTorch makes of the same (layers.json, written by layers_record.py), and the
distributions of first values."""
import itertools
import json
import math
import pathlib
import unittest

import layers_cases as cases
import numpy as np
import thunder as th
from thunder import nn, optim
from thunder.optim import lr_scheduler

th.seed(0)  # the same numbers at each run

RECORDED = json.loads(pathlib.Path(__file__).with_name("layers.json").read_text())


def bfloat16(x):
    """Rounded to the nearest number of bfloat16, ties to even."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    return ((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000).astype(np.uint32).view(np.float32).astype(np.float64)


def numpy_of(tensor):
    return np.array(tensor.tolist(), np.float64).reshape(tensor.shape)


class Layers(unittest.TestCase):
    def close(self, ours, theirs, what):
        np.testing.assert_allclose(numpy_of(ours).ravel(), theirs, rtol=2e-4, atol=2e-5, err_msg=what)

    def check(self, module, row, specs, flags, compiled):
        for name, tensor in cases.fill([(n, s) for n, s in row["state"] if "num_batches" not in n], th.tensor).items():
            module.state_dict()[name].copy_(tensor)
        module.train("train" in flags)
        call = th.compile(lambda *args: module(*args)) if compiled else module
        for _ in range(2 if "train" in flags else 1):
            out = cases.leaves(call(*cases.inputs(specs, th.tensor)))
        self.assertEqual([list(t.shape) for t in out], [shape for shape, _ in row["out"]])
        for ours, (_, theirs) in zip(out, row["out"]):
            self.close(ours, theirs, "the result")
        for name, theirs in row.get("buffers", {}).items():
            self.close(module.state_dict()[name], theirs, name)

    def test_forwards_and_state_names_are_those_of_pytorch(self):
        for (text, row), (_, specs, flags) in zip(RECORDED["layers"], cases.LAYERS):
            for compiled in (False, True):
                with self.subTest(text, compiled=compiled):
                    module = eval("nn." + text)
                    self.assertEqual([[n, list(t.shape)] for n, t in module.state_dict().items()], row["state"])
                    self.check(module, row, specs, flags, compiled)

    def test_there_are_as_many_kinds_as_are_promised(self):
        self.assertGreaterEqual(len({text.partition("(")[0] for text, *_ in cases.LAYERS}), 100)
        untested = set(th.nn.kinds) - {text.partition("(")[0] for text, *_ in cases.LAYERS}
        untested = {kind for kind in untested if not kind.startswith(("Lazy", "Fractional"))}  # those of lazy_test.py
        self.assertEqual(untested, {"CTCLoss", "CircularPad1d", "CircularPad2d", "CircularPad3d", "LPPool3d",
                                    "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d", "Module", "ModuleDict", "ModuleList",
                                    "ParameterDict",
                                    "ParameterList", "RMSNorm", "Sequential", "ZeroPad1d", "ZeroPad3d"})

    def test_convolutions_pad_by_name_as_by_number(self):
        image, signal = th.tensor(cases.wave((2, 4, 7, 6))), th.tensor(cases.wave((2, 4, 7)))
        for mode in ("zeros", "reflect", "replicate", "circular"):
            for by_name, by_number in (("same", (2, 2)), ("valid", 0)):
                ours = nn.Conv2d(4, 3, (3, 5), padding=by_name, dilation=(2, 1), padding_mode=mode)
                theirs = nn.Conv2d(4, 3, (3, 5), padding=by_number, dilation=(2, 1), padding_mode=mode)
                theirs.load_state_dict(ours.state_dict())
                np.testing.assert_array_equal(numpy_of(ours(image)), numpy_of(theirs(image)), err_msg=mode)
            self.assertEqual(nn.Conv1d(4, 2, 4, padding="same", padding_mode=mode)(signal).shape, (2, 2, 7))
        with self.assertRaisesRegex(th.Error, "Conv3d: padding='same' keeps the sizes, which needs stride 1"):
            nn.Conv3d(1, 1, 3, stride=(1, 2, 1), padding="same")

    def test_unpools_put_elements_where_pools_found_them(self):
        for shape, pool, unpool in (((2, 4, 7), nn.MaxPool1d, nn.MaxUnpool1d),
                                    ((2, 3, 4, 5), nn.MaxPool2d, nn.MaxUnpool2d),
                                    ((1, 2, 5, 4, 3), nn.MaxPool3d, nn.MaxUnpool3d)):
            array = cases.wave(shape)
            values, indices = pool(2, return_indices=True)(th.tensor(array))
            flat, places = array.reshape(*shape[:2], -1), numpy_of(indices).astype(np.int64).reshape(*shape[:2], -1)
            np.testing.assert_array_equal(np.take_along_axis(flat, places, 2).ravel(), numpy_of(values).ravel())
            wanted = np.zeros_like(flat)
            np.put_along_axis(wanted, places, np.take_along_axis(flat, places, 2), 2)
            for size in (shape, shape[2:]):
                np.testing.assert_array_equal(numpy_of(unpool(2)(values, indices, output_size=size)),
                                              wanted.reshape(shape))
            np.testing.assert_array_equal(numpy_of(pool(2)(th.tensor(array))), numpy_of(values))

    def test_ctc_loss_is_the_sum_over_all_alignments(self):
        scores = cases.made("log", (4, 2, 3), 0.3)
        targets, times, lengths = np.array([[1, 2], [2, 2]]), np.array([3, 4]), np.array([2, 1])
        losses = []
        for n in range(2):
            whole = 0.0
            for path in itertools.product(range(3), repeat=int(times[n])):
                left = [c for c, _ in itertools.groupby(path) if c != 0]
                if left == targets[n, :lengths[n]].tolist():
                    whole += math.exp(sum(float(scores[t, n, c]) for t, c in enumerate(path)))
            losses.append(-math.log(whole))
        given = [th.tensor(a) for a in (scores, targets, times, lengths)]
        np.testing.assert_allclose(numpy_of(nn.CTCLoss(reduction="none")(*given)), losses, rtol=1e-5)
        np.testing.assert_allclose(numpy_of(nn.CTCLoss()(*given)), np.mean(np.array(losses) / lengths), rtol=1e-5)
        np.testing.assert_allclose(nn.functional.ctc_loss(given[0], given[1], [3, 4], (2, 1), reduction="sum").item(),
                                   sum(losses), rtol=1e-5)

    def test_what_this_pytorch_has_not_is_what_numpy_makes_of_it(self):
        signal, volume = cases.wave((2, 4, 7)), cases.wave((1, 2, 3, 4, 3))
        for layer, array, how in ((nn.CircularPad1d((2, 3)), signal, ((0, 0), (0, 0), (2, 3))),
                                  (nn.CircularPad2d((1, 2, 0, 1)), volume[0], ((0, 0), (0, 0), (0, 1), (1, 2))),
                                  (nn.CircularPad3d(1), volume, ((0, 0), (0, 0), (1, 1), (1, 1), (1, 1)))):
            np.testing.assert_array_equal(numpy_of(layer(th.tensor(array))), np.pad(array, how, mode="wrap").astype(np.float64))
        np.testing.assert_array_equal(numpy_of(nn.ZeroPad1d((2, 1))(th.tensor(signal))), np.pad(signal, ((0, 0), (0, 0), (2, 1))))
        np.testing.assert_array_equal(numpy_of(nn.ZeroPad3d(1)(th.tensor(volume))), np.pad(volume, ((0, 0), (0, 0)) + ((1, 1),) * 3))
        images = cases.made("positive", (1, 2, 4, 4, 4), 0.0)
        blocks = images.reshape(1, 2, 2, 2, 2, 2, 2, 2).astype(np.float64)
        np.testing.assert_allclose(numpy_of(nn.LPPool3d(3.0, 2)(th.tensor(images))), (blocks**3).sum((3, 5, 7)) ** (1 / 3), rtol=1e-5)
        wide = signal.astype(np.float64)
        np.testing.assert_allclose(numpy_of(nn.RMSNorm(7, eps=0.1)(th.tensor(signal))),
                                   wide / np.sqrt((wide**2).mean(-1, keepdims=True) + 0.1), rtol=1e-5)

    def test_inplace_writes_the_input(self):
        for layer in (nn.ReLU(inplace=True), nn.Hardtanh(0.0, 9.0, inplace=True)):
            x = th.tensor([-1.0, 2.0])
            self.assertEqual(layer(x).tolist(), [0.0, 2.0])
            self.assertEqual(x.tolist(), [0.0, 2.0])
        x = th.tensor([-1.0, 2.0])
        nn.ReLU()(x)
        self.assertEqual(x.tolist(), [-1.0, 2.0])
        self.assertEqual(str(nn.ReLU(inplace=True)), "ReLU(inplace=True)")

    def test_what_makes_no_sense_is_refused(self):
        x = th.ones(2, 4, 7)
        for make, message in ((lambda: nn.GroupNorm(3, 4), "multiple of num_groups, got 4 and 3"), (lambda: nn.PReLU(0), "positive, got 0"),
                              (lambda: nn.BatchNorm1d(4)(th.ones(2, 4, 3, 3)), "must have 2 or 3 dims, got f32\\[2, 4, 3, 3\\]"),
                              (lambda: nn.Conv1d(4, 2, 3, padding_mode="mirror"), "padding_mode must be .* got 'mirror'"),
                              (lambda: nn.ConvTranspose1d(4, 2, 3, padding_mode="reflect"), "must be 'zeros', got 'reflect'"),
                              (lambda: nn.ReflectionPad1d(7)(x), "of size 7 by at most 6 on a side, got 7 and 7"),
                              (lambda: nn.ConstantPad2d((1, 2, 3), 0.0), "one integer or 4, got 3"), (lambda: nn.RNN(3, 4, nonlinearity="elu"), "got 'elu'"),
                              (lambda: nn.LSTM(3, 4, proj_size=4), "proj_size must lie in \\[0, hidden_size\\), got 4"),
                              (lambda: nn.LSTM(3, 4)(th.ones(5, 2, 3), th.ones(1, 2, 4)), "given both or not at all"),
                              (lambda: nn.GRU(5, 4)(th.ones(5, 2, 3)), "weight must have shape"), (lambda: nn.EmbeddingBag(3, 2, mode="min"), "got 'min'"),
                              (lambda: nn.KLDivLoss(reduction="avg"), "got 'avg'"), (lambda: nn.L1Loss(reduction="batchmean"), "got 'batchmean'"),
                              (lambda: nn.TransformerEncoderLayer(8, 2, activation="elu"), "got 'elu'"), (lambda: nn.Dropout2d(1.5), "got 1.5")):
            with self.subTest(message), self.assertRaisesRegex((ValueError, RuntimeError), message):
                make()


class FirstValues(unittest.TestCase):
    def setUp(self):
        th.manual_seed(5)

    def uniform(self, tensor, bound):
        values = numpy_of(tensor)
        self.assertLessEqual(np.abs(values).max(), bound)
        if values.size >= 200:
            self.assertGreater(np.abs(values).max(), 0.95 * bound)
            self.assertAlmostEqual(values.var() / (bound**2 / 3), 1, delta=0.25)
            self.assertAlmostEqual(values.mean() / bound, 0, delta=0.15)

    def test_products_are_uniform_by_their_fan_in(self):
        for module, fan_in in ((nn.Linear(50, 40), 50), (nn.Conv1d(8, 30, 5, groups=2), 4 * 5), (nn.Conv3d(4, 10, 3), 4 * 27),
                               (nn.ConvTranspose1d(30, 8, 5, groups=2), 4 * 5), (nn.ConvTranspose2d(12, 6, 3), 6 * 9), (nn.Bilinear(20, 5, 8), 20)):
            for tensor in module.parameters():
                self.uniform(tensor, 1 / math.sqrt(fan_in))

    def test_recurrent_ones_by_their_width(self):
        for module in (nn.LSTM(7, 25, 2, bidirectional=True), nn.GRU(7, 25), nn.RNN(7, 25), nn.LSTMCell(7, 25), nn.GRUCell(7, 25), nn.RNNCell(7, 25)):
            for tensor in module.parameters():
                self.uniform(tensor, 1 / 5)

    def test_transformers_by_both_widths(self):
        for name, tensor in nn.Transformer(16, 2, 1, 1, 24).named_parameters():
            if len(tensor.shape) == 2:
                self.uniform(tensor, math.sqrt(6 / sum(tensor.shape)))
        for bias in ("in_proj_bias", "out_proj.bias"):
            self.assertEqual(set(nn.TransformerEncoderLayer(8, 2).state_dict()["self_attn." + bias].tolist()), {0.0})

    def test_tables_are_normal_and_scales_are_ones(self):
        for module in (nn.Embedding(200, 30), nn.EmbeddingBag(200, 30)):
            values = numpy_of(module.weight)
            self.assertAlmostEqual(values.mean(), 0, delta=0.05)
            self.assertAlmostEqual(values.std(), 1, delta=0.05)
        self.assertEqual(nn.PReLU(3, init=0.1).weight.tolist(), [np.float32(0.1)] * 3)
        for module in (nn.GroupNorm(2, 4), nn.BatchNorm3d(4), nn.InstanceNorm1d(4, affine=True)):
            self.assertEqual((module.weight.tolist(), module.bias.tolist()), ([1.0] * 4, [0.0] * 4))


class Containers(unittest.TestCase):
    def test_children_that_a_kind_makes_are_there(self):
        net = nn.Transformer(8, 2, 2, 1, 16)
        self.assertEqual([name for name, _ in net.named_children()], ["encoder", "decoder"])
        self.assertIsInstance(net.encoder.layers, nn.ModuleList)
        self.assertEqual([name for name, _ in net.encoder.layers[1].named_children()],
                         ["self_attn", "linear1", "dropout", "linear2", "norm1", "norm2", "dropout1", "dropout2"])
        mask = nn.Transformer.generate_square_subsequent_mask(3)
        self.assertEqual(mask.tolist(), [[0, -math.inf, -math.inf], [0, 0, -math.inf], [0, 0, 0]])

    def test_parameters_by_name(self):
        held = nn.ParameterDict({"a": th.ones(2), "b": th.zeros(3)})
        held["c"] = th.ones(1)
        self.assertEqual((list(held), len(held), "b" in held), (["a", "b", "c"], 3, True))
        self.assertEqual([name for name, _ in nn.Module(held=held).named_parameters()], ["held.a", "held.b", "held.c"])
        with self.assertRaisesRegex(KeyError, "there is no 'd'"):
            held["d"]

    def test_a_recurrent_network_learns(self):
        th.manual_seed(1)
        net = nn.Module(rnn=nn.LSTM(2, 16, batch_first=True), head=nn.Linear(16, 1))
        x = th.tensor(cases.wave((8, 6, 2)))
        y = x.sum([1, 2]).reshape(8, 1)
        opt = optim.Adam(net.parameters(), lr=0.02)

        @th.compile
        def train(x, y):
            out, (h, c) = net.rnn(x)
            loss = th.mse_loss(net.head(out[:, -1]), y)
            opt.step(th.grad_of(loss, net.parameters()))
            return loss

        losses = [train(x, y).item() for _ in range(60)]
        self.assertLess(losses[-1], 0.1 * losses[0])


class Optimizers(unittest.TestCase):
    def parameters(self):
        return [th.tensor(cases.wave(shape)) for _, shape in cases.PARAMETERS]

    def after(self, text, compiled):
        p = self.parameters()
        opt = eval("optim." + text, {"optim": optim, "p": p})
        step = th.compile(lambda grads: opt.step(grads)) if compiled else opt.step
        for t in range(1, cases.STEPS + 1):
            step([th.tensor(cases.wave(tuple(q.shape), t + 0.5 * number)) for number, q in enumerate(p)])
        return p, opt

    def test_ten_steps_and_state_names_are_those_of_pytorch(self):
        for text, row in RECORDED["optimizers"].items():
            for compiled in (False, True):
                with self.subTest(text, compiled=compiled):
                    p, opt = self.after(text, compiled)
                    for ours, theirs in zip(p, row["parameters"]):
                        np.testing.assert_allclose(numpy_of(ours).ravel(), theirs, rtol=1e-4, atol=1e-5)
                    state = opt.state_dict()
                    for name, theirs in row["state"].items():
                        ours = state["step" if name == "step" else name + ".0"]
                        np.testing.assert_allclose(numpy_of(ours).ravel(), theirs, rtol=2e-4, atol=1e-5, err_msg=name)

    def closure(self, p, compiled):
        def evaluate():
            loss = cases.valley(p)
            return loss, th.grad_of(loss, p)

        def taped():
            with th.tape():
                return evaluate()
        return th.compile(evaluate) if compiled else taped

    def test_steps_of_a_closure_are_those_of_pytorch(self):
        for text, row in RECORDED["closures"].items():
            for compiled in (False, True):
                with self.subTest(text, compiled=compiled):
                    p = self.parameters()
                    opt, closure = eval("optim." + text, {"optim": optim, "p": p}), self.closure(p, compiled)
                    losses = [opt.step(closure).item() for _ in row["losses"]]
                    np.testing.assert_allclose(losses, row["losses"], rtol=1e-3)
                    for ours, theirs in zip(p, row["parameters"]):
                        np.testing.assert_allclose(numpy_of(ours).ravel(), theirs, rtol=1e-3, atol=1e-3)
                    state = {name: numpy_of(tensor) for name, tensor in opt.state_dict().items()}
                    for name in ("old_dirs", "old_stps", "ro") if "state" in row else ():  # rows are used in turn
                        state[name] = np.roll(state[name], -int(state["history_count"]), 0)
                    for name, theirs in row.get("state", {}).items():
                        np.testing.assert_allclose(state[name].ravel(), theirs, rtol=2e-2, atol=1e-3, err_msg=name)

    def test_a_state_of_pytorch_s_lbfgs_goes_on_as_it_does(self):
        text = "LBFGS(p, lr=0.1, max_iter=7, history_size=3)"
        row = RECORDED["closures"][text]
        p = [th.tensor(np.array(values, np.float32).reshape(shape)) for values, (_, shape) in zip(row["parameters"], cases.PARAMETERS)]
        opt = eval("optim." + text, {"optim": optim, "p": p})
        rows = {name: np.array(value, np.float32).reshape(3, -1) for name, value in row["state"].items() if name.startswith("old")}
        state = {name: np.array(value, np.float32) for name, value in row["state"].items()}
        state |= {name: list(value) for name, value in rows.items()} | {"ro": [np.float32(x) for x in row["state"]["ro"]]}
        state |= {"n_iter": 28, "func_evals": 28, "prev_loss": 1.0, "al": [None] * 3, "H_diag": np.float32(row["state"]["H_diag"][0])}
        groups = [{"lr": 0.1, "max_iter": 7, "max_eval": 8, "tolerance_grad": 1e-7, "tolerance_change": 1e-9, "history_size": 3,
                   "line_search_fn": None, "params": [0, 1]}]
        opt.load_state_dict({"state": {0: state}, "param_groups": groups})
        self.assertEqual((opt.state_dict()["history_count"].item(), opt.lr), (3, 0.1))
        np.testing.assert_allclose(numpy_of(opt.state_dict()["old_dirs"]), rows["old_dirs"])
        losses = [opt.step(self.closure(p, True)).item() for _ in range(2)]
        np.testing.assert_allclose(losses, row["after"], rtol=1e-3)
        self.assertEqual(opt.state_dict()["n_iter"].item(), 42)
        other = optim.LBFGS(p, max_iter=7, history_size=2)
        with self.assertRaisesRegex(ValueError, "history_size of group 0 was 3, this one was made with 2"):
            other.load_state_dict({"state": {0: state}, "param_groups": groups})

    def test_a_closure_that_raises_leaves_the_parameters(self):
        p = self.parameters()
        evaluate, calls = self.closure(p, True), []

        def closure():
            calls.append(1)
            if len(calls) == 3:
                raise KeyError("mine")
            return evaluate()
        opt = optim.LBFGS(p, max_iter=1)
        opt.step(closure)
        before = [t.tolist() for t in p]
        with self.assertRaisesRegex(KeyError, "mine"):
            optim.LBFGS(p, line_search_fn="strong_wolfe").step(closure)
        self.assertEqual([t.tolist() for t in p], before)
        for wrong, message in ((lambda: evaluate()[0], "no parameter has a gradient"), (lambda: (p[0], p), "must be a real tensor of one"),
                               (evaluate()[1], "give it a function of the loss and the gradients")):
            with self.assertRaisesRegex(RuntimeError, message):
                opt.step(wrong)
        with self.assertRaisesRegex(RuntimeError, "outside of compiled functions and tapes"):
            th.compile(lambda: opt.step(evaluate))()

    def test_a_closure_is_a_part_of_a_compiled_step(self):
        p = self.parameters()
        opt, evaluate = optim.SGD(p, lr=0.02), self.closure(p, True)
        train = th.compile(lambda: opt.step(evaluate))
        losses = [train().item() for _ in range(3)]
        np.testing.assert_allclose(losses, RECORDED["closures"]["SGD(p, lr=0.02)"]["losses"], rtol=1e-4)
        self.assertEqual(th.stats(train)["misses"], 1)

    def test_others_follow_their_formulas(self):
        gradients = [cases.wave((2, 3), t).astype(np.float64) for t in range(1, 11)]
        for decoupled in (False, True):
            p, m, v, product = cases.wave((2, 3)).astype(np.float64), 0, 0, 1
            for t, g in enumerate(gradients, 1):
                g, p = (g, p * (1 - 0.05 * 0.1)) if decoupled else (g + 0.1 * p, p)
                mu, following = (0.9 * (1 - 0.5 * 0.96**(at * 0.004)) for at in (t, t + 1))
                product *= mu
                m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
                root = np.sqrt(v / (1 - 0.999**t)) + 1e-8
                p = p - 0.05 * ((1 - mu) / (1 - product) * g + following / (1 - product * following) * m) / root
            self.expect(lambda q: optim.NAdam(q, lr=0.05, weight_decay=0.1, decoupled_weight_decay=decoupled), (2, 3), gradients, p)
        p, m = cases.wave((2, 3)).astype(np.float64), np.zeros((2, 3))
        for g in gradients:
            p = p * (1 - 0.01 * 0.1) - 0.01 * np.sign(0.9 * m + 0.1 * g)
            m = 0.99 * m + 0.01 * g
        self.expect(lambda q: optim.Lion(q, lr=0.01, weight_decay=0.1), (2, 3), gradients, p)
        for shape, adjust in (((2, 3), "original"), ((5, 3), "original"), ((2, 3), "match_rms_adamw")):
            gradients = [cases.wave(shape, t).astype(np.float64) for t in range(1, 11)]
            p, m = cases.wave(shape).astype(np.float64), np.zeros(shape)
            scale = max(1, shape[0] / shape[1])**0.5 if adjust == "original" else 0.2 * max(shape)**0.5
            for g in gradients:
                m = 0.95 * m + 0.05 * g
                x = 0.05 * g + 0.95 * m
                x = x.T if shape[0] > shape[1] else x
                x = bfloat16(x)
                x = bfloat16(x / bfloat16(max(np.linalg.norm(x), 1e-7)))
                for _ in range(5):
                    gram = bfloat16(x @ x.T)
                    x = bfloat16(3.4445 * x + bfloat16(-4.775 * gram + 2.0315 * gram @ gram) @ x)
                x = x.T if shape[0] > shape[1] else x
                p = p * (1 - 0.02 * 0.1) - 0.02 * scale * x
            self.expect(lambda q: optim.Muon(q, lr=0.02, adjust_lr_fn=adjust), shape, gradients, p)
        with self.assertRaisesRegex(RuntimeError, "must be a matrix, got f32\\[3\\]; give others to AdamW"):
            optim.Muon([th.ones(3)])

    def expect(self, make, shape, gradients, wanted):
        p = th.tensor(cases.wave(shape))
        opt = make([p])
        for g in gradients:
            opt.step([th.tensor(g.astype(np.float32))])
        np.testing.assert_allclose(numpy_of(p), wanted, rtol=1e-3, atol=1e-4)

    def test_a_state_of_pytorch_loads(self):
        text = "Adam(p, lr=0.05)"
        whole, _ = self.after(text, False)
        theirs = RECORDED["optimizers"][text]["state"]
        p = self.parameters()
        opt = optim.Adam(p, lr=0.1)
        state = {0: {name: value[0] if name == "step" else np.array(value, np.float32).reshape(2, 3) for name, value in theirs.items()}}
        state[1] = {"step": 10.0, "exp_avg": np.ones(3, np.float32), "exp_avg_sq": np.ones(3, np.float32)}
        opt.load_state_dict({"state": state, "param_groups": [{"lr": 0.05, "betas": (0.9, 0.999), "eps": 1e-8, "params": [0, 1], "foreach": None}]})
        self.assertEqual((opt.lr, opt.param_groups[0]["step"]), (0.05, 10.0))
        np.testing.assert_allclose(numpy_of(opt.state_dict()["exp_avg.0"]).ravel(), theirs["exp_avg"], rtol=1e-6)
        self.assertEqual(opt.state_dict()["exp_avg_sq.1"].tolist(), [1.0] * 3)
        other = optim.Adam(self.parameters(), lr=0.3)
        other.load_state_dict(opt.state_dict())
        self.assertEqual(other.lr, 0.05)
        for wrong, message in (({"params": [0]}, "has 1 parameters, here 2"), ({"params": [0, 1], "eps": 0.5}, "eps of group 0 was 0.5")):
            with self.assertRaisesRegex(ValueError, message):
                opt.load_state_dict({"state": {}, "param_groups": [{"lr": 0.05, **wrong}]})
        with self.assertRaisesRegex(ValueError, "no 'square_avg' of parameter '0'"):
            opt.load_state_dict({"state": {0: {"square_avg": np.ones((2, 3))}}, "param_groups": [{"lr": 0.05, "params": [0, 1]}]})


class Schedules(unittest.TestCase):
    def optimizer(self):
        return optim.SGD([th.ones(1)], lr=0.8)

    def rates(self, text, metrics=None):
        o = self.optimizer()
        made, rates = eval("s." + text, {"s": lr_scheduler, "o": o}), []
        for step in range(cases.SCHEDULE_STEPS):
            self.assertEqual(made.get_last_lr(), [o.lr])
            rates.append(o.lr)
            made.step(*([metrics[step]] if metrics else []))
        return rates

    def test_rates_are_those_of_pytorch(self):
        for text, theirs in RECORDED["schedules"].items():
            with self.subTest(text):
                np.testing.assert_allclose(self.rates(text), theirs, rtol=1e-9, atol=1e-12)

    def test_beside_one_another_and_behind_rates_set_by_hand_are_those_of_pytorch(self):
        for (text, by_hand), theirs in zip(cases.COURSES, RECORDED["courses"]):
            with self.subTest(text):
                o = self.optimizer()
                made, rates = eval(text, {"s": lr_scheduler, "o": o}), []
                for step in range(cases.SCHEDULE_STEPS):
                    if step in by_hand:
                        o.param_groups[0]["lr"] = by_hand[step]
                    for one in made:
                        one.step()
                    rates.append([o.lr, *(one.get_last_lr()[0] for one in made), *(one.last_epoch for one in made if len(theirs[0]) > 1 + len(made))])
                np.testing.assert_allclose(rates, theirs, rtol=1e-9, atol=1e-12)

    def test_a_metric_decides_as_pytorch_has_it(self):
        for text, theirs in RECORDED["plateaus"].items():
            with self.subTest(text):
                np.testing.assert_allclose(self.rates(text, cases.METRICS), theirs, rtol=1e-9)

    def test_momentum_falls_as_the_rate_rises(self):
        # What PyTorch 2.11 gives: the momentum before each step, and the parameters after all.
        one_cycle, cyclic = [.95, .868826, .852806, .868826, .894402, .921694], [.9, .85, .8, .85, .9, .85]
        once, again = lambda o: lr_scheduler.OneCycleLR(o, 1.0, total_steps=8), lambda o: lr_scheduler.CyclicLR(o, .1, 1.0, step_size_up=2)
        for name, make, schedule, momenta, parameters in (
                ("SGD", lambda p: optim.SGD(p, lr=.1), once, one_cycle, [-12.46747, -28.93494]),
                ("AdamW", lambda p: optim.AdamW(p, lr=.1), once, one_cycle, [-2.25379, -5.15073]),
                ("SGD with momentum", lambda p: optim.SGD(p, lr=.1, momentum=.5), again, cyclic, [-10.04432, -24.08865]),
                ("NAdam", lambda p: optim.NAdam(p, lr=.1), again, cyclic, [-2.07354, -5.07354])):
            for compiled in (False, True):
                with self.subTest(name, compiled=compiled):
                    p, seen = th.tensor([1.0, -2.0]), []
                    o = make([p])
                    step = th.compile(lambda g: o.step([g])) if compiled else lambda g: o.step([g])
                    plan = schedule(o)
                    for i in range(6):
                        seen.append(o.param_groups[0]["momentum"])
                        step(th.tensor([.5, 1.0]) * (i + 1))
                        plan.step()
                    np.testing.assert_allclose(seen, momenta, atol=1e-6)
                    np.testing.assert_allclose(p.numpy(), parameters, rtol=1e-4)

    def test_a_step_that_is_compiled_sees_that_momentum_is_cycled_from_now_on(self):
        p = th.tensor([1.0])
        o = optim.SGD([p], lr=.1)
        step = th.compile(lambda g: o.step([g]))
        step(th.ones(1))
        lr_scheduler.CyclicLR(o, .1, 1.0, step_size_up=2)
        step(th.ones(1)), step(th.ones(1))
        np.testing.assert_allclose(p.numpy(), [1 - .1 - .1 - .1 * 1.9], rtol=1e-6)

    def test_options_that_are_open_may_be_none(self):
        o = self.optimizer()
        text = "OneCycleLR(o, 1.0, total_steps=None, epochs=5, steps_per_epoch=6, cycle_momentum=False)"
        self.assertEqual(self.rates(text), self.rates("OneCycleLR(o, 1.0, total_steps=30, cycle_momentum=False)"))
        with self.assertRaisesRegex((ValueError, RuntimeError), "option 'gamma' is missing"):
            lr_scheduler.ExponentialLR(o, gamma=None)

    def test_states_are_kept(self):
        for make in (lambda o: lr_scheduler.LambdaLR(o, lambda t: 0.5**t), lambda o: lr_scheduler.StepLR(o, 2)):
            o = self.optimizer()
            schedule = make(o)
            for _ in range(3):
                schedule.step()
            other = self.optimizer()
            again = make(other)
            other.load_state_dict(o.state_dict())  # where the rate is
            again.load_state_dict(schedule.state_dict())
            self.assertEqual((again.last_epoch, again.get_last_lr()), (3, schedule.get_last_lr()))
            again.step(), schedule.step()
            self.assertEqual(other.lr, o.lr)

    def test_what_makes_no_sense_is_refused(self):
        o, other = self.optimizer(), self.optimizer()
        s = lr_scheduler
        step, metric = s.StepLR(o, 2), s.ReduceLROnPlateau(o)
        for make, message in ((lambda: metric.step(), "needs the metric"), (lambda: step.step(0.5), "takes no metric"),
                              (lambda: s.SequentialLR(o, [step, s.StepLR(other, 2)], [3]), "different optimizers"),
                              (lambda: s.SequentialLR(o, [step, step], [3, 4]), "2 schedules need 1 milestones, got 2"),
                              (lambda: s.SequentialLR(o, [step, metric], [3]), "needs a metric at each step"),
                              (lambda: s.SequentialLR(o, [], []), "the list of schedules is empty"),
                              (lambda: s.SequentialLR(o, [step, s.LambdaLR(o, lambda t: 1.0)], [3]), "calls a function"),
                              (lambda: s.MultiStepLR(o, [5, 3]), "ascending steps, got \\[5, 3\\]"), (lambda: s.OneCycleLR(o, 1.0), "must be positive"),
                              (lambda: s.CyclicLR(o, 0.1, 1.0, mode="square"), "got 'square'"),
                              (lambda: s.OneCycleLR(o, 1.0, total_steps=5, max_momentum=1.5), "max_momentum must lie between 0 and 1, got 1.5"),
                              (lambda: s.OneCycleLR(optim.Adagrad([th.ones(2)]), 1.0, total_steps=5), "neither|cycle_momentum=False"),
                              (lambda: s.LambdaLR(o, [lambda t: 1.0] * 2), "2 functions for 1 parameter groups")):
            with self.subTest(message), self.assertRaisesRegex((ValueError, TypeError, RuntimeError), message):
                make()


if __name__ == "__main__":
    unittest.main()
