#!/usr/bin/env python3
"""export_models.py FOLDER [WORD...]: small models of PyTorch, torchvision and transformers with random weights, exported by both exporters at
opsets 18 and 23, each with inputs at two sizes and what ONNX Runtime gives for them: NAME.onnx, NAME.npz. Needs torch, torchvision,
transformers, onnx and onnxruntime; what an exporter refuses is named and left out."""
import pathlib
import sys
import warnings

warnings.simplefilter("ignore")
try:
    import numpy as np
    import onnx
    import onnxruntime as ort
    import torch
    import torchvision
    import transformers as tf
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(0)

torch.manual_seed(0)
ort.set_default_logger_severity(3)
IDS, PIXELS = "ids", "pixels"


def first(output):
    """The tensors of a model's output that are compared."""
    if isinstance(output, torch.Tensor):
        return output
    if isinstance(output, dict) and "out" in output:
        return output["out"]
    for name in ("logits", "last_hidden_state", "logits_per_image"):
        if getattr(output, name, None) is not None:
            return getattr(output, name)
    return output[0]


class Plain(torch.nn.Module):
    """A model of transformers as a function of tensors that gives one."""

    def __init__(self, model, names):
        super().__init__()
        self.model, self.names = model, names

    def forward(self, *inputs):
        return first(self.model(**dict(zip(self.names, inputs)), **({"use_cache": False} if self.cached() else {})))

    def cached(self):
        return hasattr(getattr(self.model, "config", None), "use_cache")


def text(model, vocabulary=64, names=("input_ids",), decoder=False):
    def inputs(size):
        batch, length = (2, 6) if size == 0 else (3, 9)
        made = [torch.randint(0, vocabulary, (batch, length))]
        made += [torch.ones(batch, length, dtype=torch.int64) if n == "attention_mask" else torch.randint(0, vocabulary, (batch, length))
                 for n in names[1:]]
        return tuple(made)
    return Plain(model.eval(), names), inputs, list(names), {0: "batch", 1: "length"}


def image(model, size=32, wrap=True, batches=(2, 3)):
    return (Plain(model.eval(), ("pixel_values",)) if wrap else First(model.eval())), lambda which: (
        torch.randn(batches[which], 3, size, size),), ["pixel_values" if wrap else "x"], {0: "batch"}


class First(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x):
        return first(self.model(x))


class Lstm(torch.nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.cell = getattr(torch.nn, kind)(8, 16, num_layers=2, batch_first=True, bidirectional=True)
        self.out = torch.nn.Linear(32, 4)

    def forward(self, x):
        return self.out(self.cell(x)[0])


class Clip(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids, pixel_values):
        return self.model(input_ids=input_ids, pixel_values=pixel_values).logits_per_image


class EncoderDecoder(torch.nn.Module):
    def __init__(self, model, name):
        super().__init__()
        self.model, self.name = model, name

    def forward(self, x, decoder_input_ids):
        return self.model(**{self.name: x}, decoder_input_ids=decoder_input_ids, use_cache=False).logits


SMALL = dict(vocab_size=64, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64)
VISION = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, image_size=32, patch_size=8)


def models():
    yield "bert", lambda: text(tf.BertModel(tf.BertConfig(**SMALL, max_position_embeddings=64)), names=("input_ids", "attention_mask"))
    yield "distilbert", lambda: text(tf.DistilBertModel(tf.DistilBertConfig(vocab_size=64, dim=32, n_layers=2, n_heads=4, hidden_dim=64)))
    yield "roberta", lambda: text(tf.RobertaModel(tf.RobertaConfig(**SMALL, max_position_embeddings=64)))
    yield "gpt2", lambda: text(tf.GPT2LMHeadModel(tf.GPT2Config(vocab_size=64, n_embd=32, n_layer=2, n_head=4, n_positions=64)))
    yield "llama", lambda: text(tf.LlamaForCausalLM(tf.LlamaConfig(**SMALL, num_key_value_heads=2, max_position_embeddings=64)))
    yield "qwen3", lambda: text(tf.Qwen3ForCausalLM(tf.Qwen3Config(**SMALL, num_key_value_heads=2, head_dim=8)))
    yield "mistral", lambda: text(tf.MistralForCausalLM(tf.MistralConfig(**SMALL, num_key_value_heads=2)))
    yield "t5", lambda: (EncoderDecoder(tf.T5ForConditionalGeneration(tf.T5Config(
        vocab_size=64, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4)).eval(), "input_ids"),
        lambda s: (torch.randint(0, 64, (2 + s, 6 + s)), torch.randint(0, 64, (2 + s, 4 + s))), ["input_ids", "decoder_input_ids"],
        {0: "batch", 1: None})
    yield "whisper", lambda: (EncoderDecoder(tf.WhisperForConditionalGeneration(tf.WhisperConfig(
        vocab_size=64, d_model=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=4, decoder_attention_heads=4,
        encoder_ffn_dim=64, decoder_ffn_dim=64, num_mel_bins=8, max_source_positions=16, max_target_positions=16, pad_token_id=0, bos_token_id=1,
        eos_token_id=2, decoder_start_token_id=1, suppress_tokens=None, begin_suppress_tokens=None)).eval(), "input_features"),
        lambda s: (torch.randn(2 + s, 8, 32), torch.randint(0, 64, (2 + s, 5))), ["input_features", "decoder_input_ids"], {0: "batch"})
    yield "clip", lambda: (Clip(tf.CLIPModel(tf.CLIPConfig(
        text_config=dict(**SMALL, max_position_embeddings=16, eos_token_id=63, bos_token_id=62), vision_config=VISION, projection_dim=16)).eval()),
        lambda s: (torch.randint(0, 64, (2 + s, 8)), torch.randn(2 + s, 3, 32, 32)), ["input_ids", "pixel_values"], {0: "batch"})
    yield "vit", lambda: image(tf.ViTModel(tf.ViTConfig(**VISION)))
    yield "swin", lambda: image(tf.SwinModel(tf.SwinConfig(image_size=32, patch_size=4, embed_dim=16, depths=[2, 2], num_heads=[2, 4], window_size=4)))
    yield "deit", lambda: image(tf.DeiTModel(tf.DeiTConfig(**VISION)))
    vision = torchvision.models
    yield "resnet18", lambda: image(vision.resnet18(num_classes=10), 64, False)
    yield "mobilenet_v2", lambda: image(vision.mobilenet_v2(num_classes=10, width_mult=0.25), 64, False)
    yield "mobilenet_v3", lambda: image(vision.mobilenet_v3_small(num_classes=10, width_mult=0.25), 64, False)
    yield "efficientnet_b0", lambda: image(vision.efficientnet_b0(num_classes=10), 64, False)
    yield "squeezenet", lambda: image(vision.squeezenet1_1(num_classes=10), 64, False)
    yield "densenet121", lambda: image(vision.densenet121(num_classes=10), 64, False)
    yield "googlenet", lambda: image(vision.googlenet(num_classes=10, init_weights=False, aux_logits=False), 64, False)
    yield "shufflenet", lambda: image(vision.shufflenet_v2_x0_5(num_classes=10), 64, False)
    yield "convnext", lambda: image(vision.convnext_tiny(num_classes=10), 32, False)
    yield "regnet", lambda: image(vision.regnet_y_400mf(num_classes=10), 64, False)
    yield "fcn", lambda: image(vision.segmentation.fcn_resnet50(weights=None, weights_backbone=None, num_classes=4), 64, False)
    yield "deeplab", lambda: image(vision.segmentation.deeplabv3_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=4), 64, False)
    yield "lraspp", lambda: image(vision.segmentation.lraspp_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=4), 64, False)
    yield "lstm", lambda: (Lstm("LSTM").eval(), lambda s: (torch.randn(2 + s, 5, 8),), ["x"], {0: "batch"})
    yield "gru", lambda: (Lstm("GRU").eval(), lambda s: (torch.randn(2 + s, 5, 8),), ["x"], {0: "batch"})


def dims_of(dims, name):
    return {d: n or f"{name}_length" for d, n in dims.items()}


def export(name, make, folder):
    for exporter, opset in (("dynamo", 18), ("dynamo", 23), ("script", 18)):
        label = f"{name}_{exporter}_{opset}"
        path = folder / f"{label}.onnx"
        if path.with_suffix(".npz").exists():
            continue
        try:
            torch.manual_seed(0)
            model, inputs, names, dims = make()
            example = inputs(0)
            if exporter == "dynamo":
                shapes = [{d: torch.export.Dim(n) if d == 0 else torch.export.Dim.DYNAMIC for d, n in dims_of(dims, i).items()} for i in names]
                batch = torch.export.Dim("batch", min=2, max=64)
                shapes = [{d: (batch if n == "batch" else s[d]) for d, n in dims_of(dims, i).items()} for s, i in zip(shapes, names)]
                args = {"dynamo": True, "dynamic_shapes": {"inputs": tuple(shapes)} if isinstance(model, Plain) else tuple(shapes),
                        "external_data": False}
            else:
                args = {"dynamo": False, "dynamic_axes": {i: dims_of(dims, i) for i in names}}
            with torch.no_grad():
                torch.onnx.export(model, example, str(path), input_names=names, output_names=["y"], opset_version=opset, verbose=False, **args)
            session = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
            kept = {}
            for size in (0, 1):
                given = {i.name: t.numpy() for i, t in zip(session.get_inputs(), inputs(size))}
                kept |= {f"in{size}.{n}": a for n, a in given.items()}
                kept |= {f"out{size}.{o.name}": a for o, a in zip(session.get_outputs(), session.run(None, given))}
            np.savez(path.with_suffix(".npz"), **kept)
            print(f"{label}: {path.stat().st_size / 1e6:.1f} MB", flush=True)
        except Exception as e:
            path.unlink(missing_ok=True)
            print(f"{label}: not exported: {type(e).__name__}: {str(e).splitlines()[0][:160] if str(e) else ''}", flush=True)


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        raise SystemExit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in models():
        if len(sys.argv) == 2 or any(w in name for w in sys.argv[2:]):
            export(name, make, folder)


if __name__ == "__main__":
    main()
