"""Tiny random models of sixteen kinds, each with arguments: what users of torch.compile compile, small enough for a test."""
import torch
from torch import nn


def _tokens(vocab, *shape):
    return torch.randint(1, vocab, shape)


def bert():
    from transformers import BertConfig, BertForSequenceClassification
    config = BertConfig(vocab_size=64, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48,
                        max_position_embeddings=32, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    return BertForSequenceClassification(config), dict(input_ids=_tokens(64, 2, 12), labels=torch.tensor([0, 1]))


def _decoder(config, model, **more):
    made = config(vocab_size=64, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
                  max_position_embeddings=32, **more)
    ids = _tokens(64, 2, 12)
    return model(made), dict(input_ids=ids, labels=ids, use_cache=False)


def gpt2():
    from transformers import GPT2Config, GPT2LMHeadModel
    config = GPT2Config(vocab_size=64, n_positions=32, n_embd=32, n_layer=2, n_head=4, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0)
    ids = _tokens(64, 2, 12)
    return GPT2LMHeadModel(config), dict(input_ids=ids, labels=ids, use_cache=False)


def llama():
    from transformers import LlamaConfig, LlamaForCausalLM
    return _decoder(LlamaConfig, LlamaForCausalLM)


def mistral():
    from transformers import MistralConfig, MistralForCausalLM
    return _decoder(MistralConfig, MistralForCausalLM, sliding_window=8)


def qwen2():
    from transformers import Qwen2Config, Qwen2ForCausalLM
    return _decoder(Qwen2Config, Qwen2ForCausalLM)


def mixtral():
    from transformers import MixtralConfig, MixtralForCausalLM
    model, inputs = _decoder(MixtralConfig, MixtralForCausalLM, num_local_experts=4, num_experts_per_tok=2)
    model.config._experts_implementation = "batched_mm"
    return model, inputs


def t5():
    from transformers import T5Config, T5ForConditionalGeneration
    config = T5Config(vocab_size=64, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4, dropout_rate=0.0, decoder_start_token_id=0)
    return T5ForConditionalGeneration(config), dict(input_ids=_tokens(64, 2, 10), labels=_tokens(64, 2, 7), use_cache=False)


def whisper():
    from transformers import WhisperConfig, WhisperForConditionalGeneration
    config = WhisperConfig(vocab_size=64, num_mel_bins=8, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
                           decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48, max_source_positions=16,
                           max_target_positions=32, dropout=0.0, pad_token_id=0, bos_token_id=1, eos_token_id=2,
                           decoder_start_token_id=1, suppress_tokens=None, begin_suppress_tokens=None)
    return WhisperForConditionalGeneration(config), dict(input_features=torch.randn(2, 8, 32), labels=_tokens(64, 2, 7), use_cache=False)


def vit():
    from transformers import ViTConfig, ViTForImageClassification
    config = ViTConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, image_size=16, patch_size=4,
                       hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    return ViTForImageClassification(config), dict(pixel_values=torch.randn(2, 3, 16, 16), labels=torch.tensor([0, 1]))


def clip():
    from transformers import CLIPConfig, CLIPModel, CLIPTextConfig, CLIPVisionConfig
    text = CLIPTextConfig(vocab_size=64, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
                          max_position_embeddings=16, projection_dim=16, eos_token_id=2)
    vision = CLIPVisionConfig(hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4, image_size=16, patch_size=4,
                              projection_dim=16)
    config = CLIPConfig(text_config=text.to_dict(), vision_config=vision.to_dict(), projection_dim=16)
    return CLIPModel(config), dict(input_ids=_tokens(64, 2, 8), pixel_values=torch.randn(2, 3, 16, 16), return_loss=True)


def swin():
    from transformers import SwinConfig, SwinForImageClassification
    config = SwinConfig(image_size=16, patch_size=2, embed_dim=16, depths=[2, 2], num_heads=[2, 4], window_size=4, hidden_dropout_prob=0.0,
                        attention_probs_dropout_prob=0.0, drop_path_rate=0.0)
    return SwinForImageClassification(config), dict(pixel_values=torch.randn(2, 3, 16, 16), labels=torch.tensor([0, 1]))


def convnext():
    from transformers import ConvNextConfig, ConvNextForImageClassification
    config = ConvNextConfig(image_size=32, hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1])
    return ConvNextForImageClassification(config), dict(pixel_values=torch.randn(2, 3, 32, 32), labels=torch.tensor([0, 1]))


def mamba():
    from transformers import MambaConfig, MambaForCausalLM
    config = MambaConfig(vocab_size=64, hidden_size=32, state_size=4, num_hidden_layers=2, conv_kernel=4, use_cache=False)
    ids = _tokens(64, 2, 6)
    return MambaForCausalLM(config), dict(input_ids=ids, labels=ids)


class WithLoss(nn.Module):
    """A network of images and the loss of its classes."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, images, labels):
        logits = self.net(images)
        return nn.functional.cross_entropy(logits, labels), logits


def resnet18():
    import torchvision
    return WithLoss(torchvision.models.resnet18(num_classes=5)), dict(images=torch.randn(4, 3, 64, 64), labels=torch.tensor([0, 1, 2, 3]))


def mobilenet_v3():
    import torchvision
    net = torchvision.models.mobilenet_v3_small(num_classes=5, dropout=0.0)
    return WithLoss(net), dict(images=torch.randn(4, 3, 64, 64), labels=torch.tensor([0, 1, 2, 3]))


class UNet(nn.Module):
    """Down, across and up with skips, group norms, attention in the middle, as diffusion models have it."""

    def __init__(self, width=8):
        super().__init__()
        self.inside = nn.Conv2d(3, width, 3, padding=1)
        self.down = nn.ModuleList([self._block(width, width), self._block(width, 2 * width)])
        self.middle = self._block(2 * width, 2 * width)
        self.attention = nn.MultiheadAttention(2 * width, 2, batch_first=True)
        self.up = nn.ModuleList([self._block(4 * width, width), self._block(2 * width, width)])
        self.out = nn.Conv2d(width, 3, 3, padding=1)

    @staticmethod
    def _block(i, o):
        return nn.Sequential(nn.GroupNorm(4, i), nn.SiLU(), nn.Conv2d(i, o, 3, padding=1))

    def forward(self, images):
        x, kept = self.inside(images), []
        for block in self.down:
            x = block(x)
            kept.append(x)
            x = nn.functional.avg_pool2d(x, 2)
        x = self.middle(x)
        rows = x.flatten(2).transpose(1, 2)
        x = x + self.attention(rows, rows, rows, need_weights=False)[0].transpose(1, 2).view_as(x)
        for block in self.up:
            x = nn.functional.interpolate(x, scale_factor=2.0, mode="nearest")
            x = block(torch.cat([x, kept.pop()], 1))
        made = self.out(x)
        return nn.functional.mse_loss(made, images), made


def unet():
    return UNet(), dict(images=torch.randn(2, 3, 16, 16))


ALL = (bert, gpt2, llama, mistral, qwen2, t5, whisper, vit, clip, swin, convnext, resnet18, mobilenet_v3, mixtral, unet, mamba)
