"""Sixteen kinds of models with random weights, each a function that gives (model, its arguments): small enough for a test where `tiny`, else at
sizes that are of use on two cores. The first result is the loss."""
import torch
from torch import nn


def _ids(vocab, *shape):
    return torch.randint(1, vocab, shape)


def _either(tiny, small, large):
    """Options that differ between the sizes."""
    return small if tiny else large


def bert(tiny=False):
    from transformers import BertConfig, BertForSequenceClassification
    size = _either(tiny, dict(vocab_size=64, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48,
                              max_position_embeddings=32), dict(num_hidden_layers=6))
    config = BertConfig(hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, **size)
    ids = _ids(64, 2, 12) if tiny else _ids(1000, 2, 128)
    return BertForSequenceClassification(config), dict(input_ids=ids, labels=torch.tensor([0, 1]))


def gpt2(tiny=False):
    from transformers import GPT2Config, GPT2LMHeadModel
    size = _either(tiny, dict(vocab_size=64, n_positions=32, n_embd=32, n_layer=2, n_head=4), dict(vocab_size=8000, n_layer=6))
    config = GPT2Config(resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, **size)
    ids = _ids(64, 2, 12) if tiny else _ids(1000, 1, 128)
    return GPT2LMHeadModel(config), dict(input_ids=ids, labels=ids, use_cache=False)


def _decoder(config, model, tiny, length=128, **more):
    import transformers
    size = _either(tiny, dict(vocab_size=64, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
                              num_key_value_heads=2, max_position_embeddings=32),
                   dict(vocab_size=1000, hidden_size=512, intermediate_size=1376, num_hidden_layers=6, num_attention_heads=8,
                        num_key_value_heads=4, max_position_embeddings=256))
    ids = _ids(64, 2, 12) if tiny else _ids(1000, 1, length)
    made = getattr(transformers, config)(**size, **more)
    return getattr(transformers, model)(made), dict(input_ids=ids, labels=ids, use_cache=False)


def llama(tiny=False):
    return _decoder("LlamaConfig", "LlamaForCausalLM", tiny)


def mistral(tiny=False):
    return _decoder("MistralConfig", "MistralForCausalLM", tiny, sliding_window=8 if tiny else 64)


def qwen2(tiny=False):
    return _decoder("Qwen2Config", "Qwen2ForCausalLM", tiny)


def mixtral(tiny=False):
    model, inputs = _decoder("MixtralConfig", "MixtralForCausalLM", tiny, length=64, num_local_experts=4, num_experts_per_tok=2)
    model.config._experts_implementation = "batched_mm"
    return model, inputs


def t5(tiny=False):
    from transformers import T5Config, T5ForConditionalGeneration
    size = _either(tiny, dict(vocab_size=64, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4),
                   dict(vocab_size=8000, d_model=512, d_ff=1024, num_layers=4, num_heads=8))
    config = T5Config(dropout_rate=0.0, decoder_start_token_id=0, **size)
    ids, labels = (_ids(64, 2, 10), _ids(64, 2, 7)) if tiny else (_ids(1000, 2, 96), _ids(1000, 2, 32))
    return T5ForConditionalGeneration(config), dict(input_ids=ids, labels=labels, use_cache=False)


def whisper(tiny=False):
    from transformers import WhisperConfig, WhisperForConditionalGeneration
    size = _either(tiny, dict(vocab_size=64, num_mel_bins=8, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
                              decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48, max_source_positions=16,
                              max_target_positions=32),
                   dict(vocab_size=8000, d_model=384, encoder_layers=4, decoder_layers=4, encoder_attention_heads=6,
                        decoder_attention_heads=6, encoder_ffn_dim=1536, decoder_ffn_dim=1536, max_source_positions=300))
    config = WhisperConfig(dropout=0.0, pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1, suppress_tokens=None,
                           begin_suppress_tokens=None, **size)
    features, labels = (torch.randn(2, 8, 32), _ids(64, 2, 7)) if tiny else (torch.randn(1, 80, 600), _ids(1000, 1, 32))
    return WhisperForConditionalGeneration(config), dict(input_features=features, labels=labels, use_cache=False)


def vit(tiny=False):
    from transformers import ViTConfig, ViTForImageClassification
    size = _either(tiny, dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, image_size=16, patch_size=4),
                   dict(num_hidden_layers=6))
    config = ViTConfig(hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, **size)
    edge = 16 if tiny else 224
    return ViTForImageClassification(config), dict(pixel_values=torch.randn(2, 3, edge, edge), labels=torch.tensor([0, 1]))


def clip(tiny=False):
    from transformers import CLIPConfig, CLIPModel
    size = _either(tiny, dict(hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4),
                   dict(hidden_size=384, intermediate_size=1536, num_hidden_layers=4, num_attention_heads=6))
    text = _either(tiny, dict(vocab_size=64, max_position_embeddings=16), dict(vocab_size=8000))
    vision = _either(tiny, dict(image_size=16, patch_size=4), dict(image_size=224, patch_size=32))
    width = 16 if tiny else 512
    config = CLIPConfig(text_config=dict(size, eos_token_id=2, projection_dim=width, **text),
                        vision_config=dict(size, projection_dim=width, **vision), projection_dim=width)
    ids, images = (_ids(64, 2, 8), torch.randn(2, 3, 16, 16)) if tiny else (_ids(1000, 4, 32), torch.randn(4, 3, 224, 224))
    return CLIPModel(config), dict(input_ids=ids, pixel_values=images, return_loss=True)


def swin(tiny=False):
    from transformers import SwinConfig, SwinForImageClassification
    size = _either(tiny, dict(image_size=16, patch_size=2, embed_dim=16, depths=[2, 2], num_heads=[2, 4], window_size=4),
                   dict(depths=[2, 2, 2, 2]))
    config = SwinConfig(hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, drop_path_rate=0.0, **size)
    images, labels = (torch.randn(2, 3, 16, 16), [0, 1]) if tiny else (torch.randn(1, 3, 224, 224), [0])
    return SwinForImageClassification(config), dict(pixel_values=images, labels=torch.tensor(labels))


def convnext(tiny=False):
    from transformers import ConvNextConfig, ConvNextForImageClassification
    size = _either(tiny, dict(image_size=32, hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1]), dict(depths=[2, 2, 4, 2]))
    edge = 32 if tiny else 224
    return ConvNextForImageClassification(ConvNextConfig(**size)), dict(pixel_values=torch.randn(2, 3, edge, edge), labels=torch.tensor([0, 1]))


def mamba(tiny=False):
    from transformers import MambaConfig, MambaForCausalLM
    size = _either(tiny, dict(vocab_size=64, hidden_size=32, state_size=4, conv_kernel=4), dict(vocab_size=1000, hidden_size=256))
    ids = _ids(64, 2, 6) if tiny else _ids(1000, 1, 24)
    return MambaForCausalLM(MambaConfig(num_hidden_layers=2, use_cache=False, **size)), dict(input_ids=ids, labels=ids)


class WithLoss(nn.Module):
    """A network of images and the loss of its classes."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, images, labels):
        logits = self.net(images)
        return nn.functional.cross_entropy(logits, labels), logits


def _classifier(name, tiny, **more):
    import torchvision
    net = getattr(torchvision.models, name)(num_classes=5 if tiny else 100, **more)
    batch, edge = (4, 64) if tiny else (8, 224)
    return WithLoss(net), dict(images=torch.randn(batch, 3, edge, edge), labels=torch.arange(batch))


def resnet18(tiny=False):
    return _classifier("resnet18", tiny)


def mobilenet_v3(tiny=False):
    return _classifier("mobilenet_v3_small", tiny, dropout=0.0)


class UNet(nn.Module):
    """Down, across and up with skips, group norms, attention in the middle, as diffusion models have it."""

    def __init__(self, width, groups, heads):
        super().__init__()

        def block(i, o):
            return nn.Sequential(nn.GroupNorm(groups, i), nn.SiLU(), nn.Conv2d(i, o, 3, padding=1))
        self.inside = nn.Conv2d(3, width, 3, padding=1)
        self.down = nn.ModuleList([block(width, width), block(width, 2 * width)])
        self.middle = block(2 * width, 2 * width)
        self.attention = nn.MultiheadAttention(2 * width, heads, batch_first=True)
        self.up = nn.ModuleList([block(4 * width, width), block(2 * width, width)])
        self.out = nn.Conv2d(width, 3, 3, padding=1)

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


def unet(tiny=False):
    edge = 16 if tiny else 64
    return (UNet(8, 4, 2) if tiny else UNet(64, 8, 4)), dict(images=torch.randn(2, 3, edge, edge))


ALL = (bert, gpt2, llama, mistral, qwen2, t5, whisper, vit, clip, swin, convnext, resnet18, mobilenet_v3, mixtral, unet, mamba)
