"""Sixteen kinds of models at sizes that are of use on two cores, with random weights: {name: a function that gives (model, its arguments)}.
The loss is the first result."""
import torch
from torch import nn


def _ids(*shape):
    return torch.randint(1, 1000, shape)


def _language(config, model, batch=1, length=128, **more):
    import transformers
    made = getattr(transformers, config)(vocab_size=1000, hidden_size=512, intermediate_size=1376, num_hidden_layers=6, num_attention_heads=8,
                                         num_key_value_heads=4, max_position_embeddings=256, use_cache=False, **more)
    ids = _ids(batch, length)
    return getattr(transformers, model)(made), dict(input_ids=ids, labels=ids)


def bert():
    from transformers import BertConfig, BertForSequenceClassification
    config = BertConfig(num_hidden_layers=6, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    return BertForSequenceClassification(config), dict(input_ids=_ids(2, 128), labels=torch.tensor([0, 1]))


def gpt2():
    from transformers import GPT2Config, GPT2LMHeadModel
    config = GPT2Config(vocab_size=8000, n_layer=6, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, use_cache=False)
    ids = _ids(1, 128)
    return GPT2LMHeadModel(config), dict(input_ids=ids, labels=ids)


def llama():
    return _language("LlamaConfig", "LlamaForCausalLM")


def mistral():
    return _language("MistralConfig", "MistralForCausalLM", sliding_window=64)


def qwen2():
    return _language("Qwen2Config", "Qwen2ForCausalLM")


def mixtral():
    model, inputs = _language("MixtralConfig", "MixtralForCausalLM", length=64, num_local_experts=4, num_experts_per_tok=2)
    model.config._experts_implementation = "batched_mm"
    return model, inputs


def t5():
    from transformers import T5Config, T5ForConditionalGeneration
    config = T5Config(vocab_size=8000, d_model=512, d_ff=1024, num_layers=4, num_heads=8, dropout_rate=0.0, decoder_start_token_id=0,
                      use_cache=False)
    return T5ForConditionalGeneration(config), dict(input_ids=_ids(2, 96), labels=_ids(2, 32))


def whisper():
    from transformers import WhisperConfig, WhisperForConditionalGeneration
    config = WhisperConfig(vocab_size=8000, d_model=384, encoder_layers=4, decoder_layers=4, encoder_attention_heads=6,
                           decoder_attention_heads=6, encoder_ffn_dim=1536, decoder_ffn_dim=1536, max_source_positions=300, dropout=0.0,
                           pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1, suppress_tokens=None,
                           begin_suppress_tokens=None, use_cache=False)
    return WhisperForConditionalGeneration(config), dict(input_features=torch.randn(1, 80, 600), labels=_ids(1, 32))


def vit():
    from transformers import ViTConfig, ViTForImageClassification
    config = ViTConfig(num_hidden_layers=6, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    return ViTForImageClassification(config), dict(pixel_values=torch.randn(2, 3, 224, 224), labels=torch.tensor([0, 1]))


def clip():
    from transformers import CLIPConfig, CLIPModel
    small = dict(hidden_size=384, intermediate_size=1536, num_hidden_layers=4, num_attention_heads=6)
    config = CLIPConfig(text_config=dict(small, vocab_size=8000, eos_token_id=2), vision_config=dict(small, image_size=224, patch_size=32))
    return CLIPModel(config), dict(input_ids=_ids(4, 32), pixel_values=torch.randn(4, 3, 224, 224), return_loss=True)


def swin():
    from transformers import SwinConfig, SwinForImageClassification
    config = SwinConfig(depths=[2, 2, 2, 2], hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, drop_path_rate=0.0)
    return SwinForImageClassification(config), dict(pixel_values=torch.randn(1, 3, 224, 224), labels=torch.tensor([0]))


def convnext():
    from transformers import ConvNextConfig, ConvNextForImageClassification
    config = ConvNextConfig(depths=[2, 2, 4, 2])
    return ConvNextForImageClassification(config), dict(pixel_values=torch.randn(2, 3, 224, 224), labels=torch.tensor([0, 1]))


def mamba():
    from transformers import MambaConfig, MambaForCausalLM
    config = MambaConfig(vocab_size=1000, hidden_size=256, num_hidden_layers=2, use_cache=False)
    ids = _ids(1, 24)
    return MambaForCausalLM(config), dict(input_ids=ids, labels=ids)


class WithLoss(nn.Module):
    """A network of images and the loss of its classes."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, images, labels):
        logits = self.net(images)
        return nn.functional.cross_entropy(logits, labels), logits


def _images(net, batch):
    return WithLoss(net), dict(images=torch.randn(batch, 3, 224, 224), labels=torch.arange(batch))


def resnet18():
    import torchvision
    return _images(torchvision.models.resnet18(num_classes=100), 8)


def mobilenet_v3():
    import torchvision
    return _images(torchvision.models.mobilenet_v3_small(num_classes=100, dropout=0.0), 8)


class UNet(nn.Module):
    """Down, across and up with skips, group norms, attention in the middle, as diffusion models have it."""

    def __init__(self, width=64):
        super().__init__()
        self.inside = nn.Conv2d(3, width, 3, padding=1)
        self.down = nn.ModuleList([self._block(width, width), self._block(width, 2 * width)])
        self.middle = self._block(2 * width, 2 * width)
        self.attention = nn.MultiheadAttention(2 * width, 4, batch_first=True)
        self.up = nn.ModuleList([self._block(4 * width, width), self._block(2 * width, width)])
        self.out = nn.Conv2d(width, 3, 3, padding=1)

    @staticmethod
    def _block(i, o):
        return nn.Sequential(nn.GroupNorm(8, i), nn.SiLU(), nn.Conv2d(i, o, 3, padding=1))

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
    return UNet(), dict(images=torch.randn(2, 3, 64, 64))


ALL = (bert, gpt2, llama, mistral, qwen2, t5, whisper, vit, clip, swin, convnext, resnet18, mobilenet_v3, mixtral, unet, mamba)
