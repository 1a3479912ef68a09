"""A state_dict of torchvision's ResNet-50, of Hugging Face's GPT-2 and of its BERT, made of names and shapes with
random values, loads into modules written as theirs are, and they compute what numpy makes of it."""
import unittest

import numpy as np
import state_dict_models as models
import thunder as th


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

    def test_with_names_of_wrappers_is_refused_and_says_how_they_go(self):
        net = models.BertModel()
        state = {"bert." + name: array for name, array in drawn(models.bert_shapes(), 7).items()}
        with self.assertRaisesRegex(RuntimeError, r'Missing.*"embeddings.word_embeddings.weight"'):
            net.load_state_dict(state)
        self.assertEqual(str(net.load_state_dict({name.removeprefix("bert."): array for name, array in state.items()})),
                         "<All keys matched successfully>")


if __name__ == "__main__":
    unittest.main()
