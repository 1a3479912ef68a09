"""A state_dict of torchvision's ResNet-50, of Hugging Face's GPT-2 and of its BERT, made of names and shapes with
random values, loads into modules written as theirs are, and they compute what numpy makes of it."""
import unittest

import numpy as np
import state_dict_models as models
import thunder as th
from thunder import nn


def drawn(shapes, seed):
    """By name in the order of the shapes: means, shifts and weights that keep what goes through them of one size."""
    random = np.random.default_rng(seed)
    state = {}
    for name, shape in shapes:
        if name.endswith("num_batches_tracked"):
            state[name] = np.array(7, np.int64)
        elif name.endswith("running_var"):
            state[name] = random.uniform(0.5, 1.5, shape).astype(np.float32)
        elif len(shape) < 2:
            state[name] = (random.normal(1 if name.endswith("weight") else 0, 0.1, shape)).astype(np.float32)
        else:
            inputs = shape[1] if "embeddings" in name or len(shape) == 2 else np.prod(shape[1:])
            state[name] = (random.standard_normal(shape, np.float32) / np.sqrt(np.float32(inputs)))
    return state


class StateDicts(unittest.TestCase):
    def check(self, net, state, inputs, wanted):
        net.eval()
        self.assertEqual({name: tuple(t.shape) for name, t in net.state_dict().items()},
                         {name: array.shape for name, array in state.items()})
        self.assertEqual(str(net.load_state_dict(state)), "<All keys matched successfully>")
        for name, tensor in net.state_dict().items():
            np.testing.assert_array_equal(np.asarray(tensor), state[name], err_msg=name)
        given = [th.tensor(array) for array in inputs]
        for call in (net, th.compile(net)):
            made = call(*given)
            for ours, theirs in zip(made if isinstance(made, tuple) else (made,), wanted):
                np.testing.assert_allclose(np.asarray(ours), theirs, rtol=1e-4, atol=1e-4 * np.abs(theirs).max())

    def test_of_resnet50_gives_the_same_classes(self):
        state = drawn(models.resnet50_shapes(10), 1)
        parameters = [array for name, array in state.items() if "running" not in name and "num" not in name]
        self.assertEqual((len(state), sum(array.size for array in parameters)), (320, 23508032 + 2048 * 10 + 10),
                         "torchvision's has as many, with 10 classes")
        x = np.random.default_rng(2).standard_normal((2, 3, 32, 32), np.float32)
        self.check(models.ResNet50(10), state, [x], [models.resnet50_numpy(state, x.astype(np.float64))])

    def test_of_gpt2_gives_the_same_logits_by_tied_weights(self):
        state = drawn(models.gpt2_shapes(), 3)
        state["lm_head.weight"] = state["transformer.wte.weight"]
        tokens = np.random.default_rng(4).integers(0, models.VOCABULARY, (2, 13))
        net = models.GPT2LMHeadModel()
        self.check(net, state, [tokens], [models.gpt2_numpy(state, tokens)])
        net.transformer.wte.weight.fill_(2.0)
        self.assertTrue((np.asarray(net.lm_head.weight) == 2).all(), "they are one")

    def test_of_bert_gives_the_same_sequence_and_pooled_output(self):
        state = drawn(models.bert_shapes(), 5)
        random = np.random.default_rng(6)
        tokens, types = random.integers(0, models.VOCABULARY, (2, 13)), random.integers(0, 2, (2, 13))
        self.check(models.BertModel(), state, [tokens, types], models.bert_numpy(state, tokens, types))

    def test_buffers_that_are_not_persistent_are_no_part_of_it(self):
        class Rotary(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("inv_freq", th.tensor([1.0, 0.1]), persistent=False)
                self.register_buffer("seen", th.zeros(1))
                self.register_buffer("absent", None)
                self.register_parameter("bias", None)
                self.scale = nn.Parameter(th.ones(2))

            def forward(self, x):
                return x * self.inv_freq * self.scale + (0 if self.bias is None else self.bias)
        net = nn.Sequential(Rotary())
        self.assertEqual(list(net.state_dict()), ["0.scale", "0.seen"], "parameters come first, as in PyTorch")
        self.assertEqual([name for name, _ in net.named_buffers()], ["0.inv_freq", "0.seen"])
        self.assertEqual([name for name, _ in net.named_parameters("model")], ["model.0.scale"])
        self.assertEqual((net.named_parameters(recurse=False), net[0].absent), ([], None))
        net.load_state_dict({"0.scale": np.full(2, 3.0, np.float32), "0.seen": np.zeros(1, np.float32)})
        self.assertEqual(net(th.ones(2)).tolist(), np.float32([3, 0.3]).tolist())
        net[0].inv_freq = th.tensor([2.0, 2.0])
        self.assertEqual(list(net.state_dict()), ["0.scale", "0.seen"], "it is what it was")
        self.assertEqual(net.double()[0].inv_freq.dtype, th.float64)
        self.assertEqual(net.get_parameter("0.scale").tolist(), [3, 3])
        self.assertIs(net.get_submodule("0"), net[0])
        with self.assertRaisesRegex(AttributeError, "no buffer '0.inv_frek'.*inv_freq"):
            net.get_buffer("0.inv_frek")

    def test_names_may_be_changed_and_let_go_by_hooks(self):
        net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
        state = {name: np.asarray(tensor) + 1 for name, tensor in net.state_dict().items() if "num" not in name}
        other = {name.replace("1.weight", "1.gamma"): array for name, array in state.items()} | {"1.extra": np.zeros(1)}
        calls = []

        def rename(module, given, prefix, metadata, strict, missing, unexpected, errors):
            calls.append((module is net[1], prefix, strict))
            given[prefix + "weight"] = given.pop(prefix + "gamma")

        def forgive(module, keys):
            keys.unexpected_keys.remove("1.extra")
        with net[1].register_load_state_dict_pre_hook(rename), net.register_load_state_dict_post_hook(forgive):
            self.assertEqual(str(net.load_state_dict(other)), "<All keys matched successfully>", "a count of batches may be missing")
        self.assertEqual((calls, "1.gamma" in other), ([(True, "1.", True)], True))
        self.assertEqual(net[1].weight.tolist(), state["1.weight"].tolist())
        keys = net.load_state_dict(other, strict=False)
        self.assertEqual((keys.missing_keys, keys.unexpected_keys), (["1.weight"], ["1.gamma", "1.extra"]))

    def test_may_be_assigned(self):
        net = nn.Linear(2, 1)
        given = {"weight": th.ones(1, 2).half(), "bias": th.zeros(1).half()}
        net.load_state_dict(given, assign=True)
        self.assertEqual((net.weight.dtype, [name for name, _ in net.named_parameters()]), (th.float16, ["weight", "bias"]))
        given["weight"].fill_(2.0)
        self.assertEqual(net.weight.tolist(), [[2.0, 2.0]], "it is the same tensor")

    def test_with_names_of_wrappers_is_refused_and_says_how_they_go(self):
        net = models.BertModel()
        state = {"bert." + name: array for name, array in drawn(models.bert_shapes(), 7).items()}
        with self.assertRaisesRegex(RuntimeError, r'Missing.*"embeddings.word_embeddings.weight"'):
            net.load_state_dict(state)
        self.assertEqual(str(net.load_state_dict({name.removeprefix("bert."): array for name, array in state.items()})),
                         "<All keys matched successfully>")


if __name__ == "__main__":
    unittest.main()
