"""The state_dicts of torchvision's ResNet-50 and of Hugging Face's GPT-2, Llama and BERT, freshly made, through files and as they are,
load into models of our layers, which compute the same. Runs in the environment of `bench/setup-peers models`."""
import pathlib
import tempfile
import unittest

import llama_model
import numpy as np
import state_dict_models as models
import thunder as th
import torch
import torchvision
import transformers
from safetensors.torch import save_file, save_model

FOLDER = tempfile.TemporaryDirectory()
WIDTH, LAYERS, HEADS = models.WIDTH, models.LAYERS, models.HEADS


def path(name):
    return str(pathlib.Path(FOLDER.name) / name)


class Models(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)

    def agree(self, ours, theirs, *inputs):
        """Their results, and ours as they are and compiled."""
        with torch.no_grad():
            wanted = theirs.eval()(*(torch.from_numpy(x) for x in inputs))
        wanted = [wanted] if isinstance(wanted, torch.Tensor) else [t for t in wanted.to_tuple() if isinstance(t, torch.Tensor)]
        for call in (ours.eval(), th.compile(ours)):
            made = call(*(th.tensor(x) for x in inputs))
            for one, other in zip(made if isinstance(made, tuple) else (made,), wanted, strict=True):
                np.testing.assert_allclose(np.asarray(one), other.numpy(), rtol=1e-4, atol=1e-4 * max(1, other.abs().max().item()))

    def test_resnet50_by_a_file(self):
        theirs, ours = torchvision.models.resnet50(), models.ResNet50(1000)
        for module in theirs.modules():
            if isinstance(module, torch.nn.BatchNorm2d):
                module.running_mean.normal_(0, 0.1), module.running_var.uniform_(0.5, 1.5)
        save_file(theirs.state_dict(), path("resnet50.safetensors"))
        ours.load(path("resnet50.safetensors"))
        self.assertEqual(list(ours.state_dict()), list(theirs.state_dict()))
        self.agree(ours, theirs, np.random.default_rng(1).standard_normal((1, 3, 64, 64), np.float32))

    def test_gpt2_with_tied_weights(self):
        config = transformers.GPT2Config(vocab_size=models.VOCABULARY, n_positions=models.CONTEXT, n_embd=WIDTH, n_layer=LAYERS, n_head=HEADS)
        theirs, ours = transformers.GPT2LMHeadModel(config), models.GPT2LMHeadModel()
        self.assertEqual(str(ours.load_state_dict(theirs.state_dict())), "<All keys matched successfully>")
        tokens = np.random.default_rng(2).integers(0, models.VOCABULARY, (2, 13))
        theirs.config.use_cache = False
        self.agree(ours, theirs, tokens)
        again = models.GPT2LMHeadModel()
        save_model(theirs, path("gpt2.safetensors"))  # writes the tied weight once
        again.load(path("gpt2.safetensors"))
        self.agree(again, theirs, tokens)

    def test_gpt2_with_the_names_of_its_inner_model(self):
        """The Hub's file of GPT-2 has no "transformer." in front, and masks that are no longer wanted."""
        config = transformers.GPT2Config(vocab_size=models.VOCABULARY, n_positions=models.CONTEXT, n_embd=WIDTH, n_layer=LAYERS, n_head=HEADS)
        theirs, ours = transformers.GPT2LMHeadModel(config), models.GPT2LMHeadModel()
        given = theirs.transformer.state_dict() | {f"h.{i}.attn.bias": torch.ones(1, 1, 4, 4) for i in range(LAYERS)}
        with self.assertRaisesRegex(RuntimeError, "Unexpected key.*h.0.attn.bias"):
            ours.transformer.load_state_dict(given)
        keys = ours.transformer.load_state_dict(given, strict=False)
        self.assertEqual((keys.missing_keys, keys.unexpected_keys), ([], [f"h.{i}.attn.bias" for i in range(LAYERS)]))
        theirs.config.use_cache = False
        self.agree(ours, theirs, np.random.default_rng(3).integers(0, models.VOCABULARY, (1, 9)))

    def test_llama_by_a_file(self):
        config = transformers.LlamaConfig(vocab_size=101, hidden_size=64, intermediate_size=112, num_hidden_layers=3, num_attention_heads=8,
                                          num_key_value_heads=2, rms_norm_eps=1e-5, tie_word_embeddings=False, use_cache=False)
        theirs, ours = transformers.LlamaForCausalLM(config), llama_model.LlamaForCausalLM(101, 3, 64, 8, 2, 112, 1e-5)
        self.assertEqual([name for name, _ in ours.named_buffers()], ["model.rotary_emb.inv_freq"])
        save_file(theirs.state_dict(), path("llama.safetensors"))
        ours.load(path("llama.safetensors"))
        self.agree(ours, theirs, np.random.default_rng(4).integers(0, 101, (2, 17)))

    def test_bert_as_it_is(self):
        config = transformers.BertConfig(vocab_size=models.VOCABULARY, hidden_size=WIDTH, num_hidden_layers=LAYERS, num_attention_heads=HEADS,
                                         intermediate_size=4 * WIDTH, max_position_embeddings=models.CONTEXT)
        theirs, ours = transformers.BertModel(config).eval(), models.BertModel()
        self.assertEqual(str(ours.load_state_dict(theirs.state_dict())), "<All keys matched successfully>")
        random = np.random.default_rng(5)

        class Called(torch.nn.Module):
            def forward(self, tokens, types):
                return theirs(input_ids=tokens, token_type_ids=types)
        self.agree(ours, Called(), random.integers(1, models.VOCABULARY, (2, 11)), random.integers(0, 2, (2, 11)))


if __name__ == "__main__":
    unittest.main()
