"""The training that losses.lua did, from its weights and batches, in PyTorch; how far the losses are apart, and how far PyTorch's are from its own
where it rounds otherwise: with attention by its MATH backend, or with convolutions of channels-last operands. losses.py FOLDER [NAME]"""
import json
import mmap
import sys

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from gpt2 import GPT2
from llama import Llama
from resnet50 import resnet50

DTYPES = {"F32": torch.float32, "I64": torch.int64, "BF16": torch.bfloat16}
TYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "autocast": torch.float32}
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
BACKENDS = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.CUDNN_ATTENTION, SDPBackend.MATH]


def read(path):
    """A safetensors file, mapped; what is written to its tensors stays here."""
    with open(path, "rb") as file:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + length])
    header.pop("__metadata__", None)
    return {name: torch.frombuffer(data, dtype=DTYPES[entry["dtype"]], offset=8 + length + entry["data_offsets"][0],
                                   count=torch.Size(entry["shape"]).numel()).view(entry["shape"]) for name, entry in header.items()}


def renamed(weights, names):
    """The weights, where a name holds a key of `names` between dots, or at its beginning, with its value in the place of that."""
    out = {}
    for name, value in weights.items():
        dotted = f".{name}"
        for theirs, mine in names.items():
            dotted = dotted.replace(f".{theirs}.", f".{mine}.")
        out[dotted[1:]] = value
    return out


class Text:
    def __init__(self, kept):
        self.rows = kept["rows"]

    def optimizer(self, net, rate):
        return torch.optim.AdamW(net.parameters(), lr=rate, weight_decay=0.1)

    def loss(self, net, step, dtype, otherwise):
        tokens = self.rows[step].to(DEVICE)
        with sdpa_kernel([SDPBackend.MATH] if otherwise else BACKENDS):
            return F.cross_entropy(net(tokens[:, :-1]).flatten(0, 1).float(), tokens[:, 1:].flatten())

    def clip(self, net):
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)


class Gpt(Text):
    def __init__(self, size, kept):
        super().__init__(kept)
        self.size = size

    def make(self, weights):
        """Weights of GPT-2's published files are [in, out]."""
        names = {"attn.c_attn": "c_attn", "attn.c_proj": "c_proj", "mlp.c_fc": "c_fc", "mlp.c_proj": "c_out"}
        net, state = GPT2(self.size, 256), renamed(weights, names)
        net.load_state_dict({name: value.t() if ".c_" in name and name.endswith("weight") else value for name, value in state.items()})
        return net


class Llama1B(Text):
    def make(self, weights):
        names = {"model.embed_tokens": "embed", "model.layers": "layers", "model.norm": "norm", "lm_head": "head", "input_layernorm": "norm_1",
                 "post_attention_layernorm": "norm_2"}
        names |= {f"self_attn.{x}_proj": x for x in "qkvo"} | {f"mlp.{x}_proj": x for x in ("gate", "up", "down")}
        net = Llama()
        net.load_state_dict(renamed(weights, names))
        return net


class Pictures:
    def __init__(self, kept):
        self.images, self.labels = kept["images"], kept["labels"]

    def make(self, weights):
        names, at = {"conv1": "0", "bn1": "1"}, 4
        for stage, blocks in enumerate((3, 4, 6, 3)):
            for i in range(blocks):
                names[f"layer{stage + 1}.{i}"] = str(at)
                at += 1
        names["fc"] = str(at + 2)
        state = {}
        for name, value in weights.items():
            theirs = next(key for key in names if name.startswith(f"{key}."))
            state[names[theirs] + name[len(theirs):]] = value
        net = resnet50(10)
        net.load_state_dict(state)
        return net

    def optimizer(self, net, rate):
        return torch.optim.SGD(net.parameters(), lr=rate, momentum=0.9)

    def loss(self, net, step, dtype, otherwise):
        at = step % len(self.images)
        images, labels = self.images[at].to(DEVICE, dtype), self.labels[at].to(DEVICE)
        if otherwise:
            images, net = images.to(memory_format=torch.channels_last), net.to(memory_format=torch.channels_last)
        return F.cross_entropy(net(images).float(), labels)

    def clip(self, net):
        pass


MODELS = {"gpt2": lambda kept: Gpt("gpt2", kept), "gpt2-xl": lambda kept: Gpt("gpt2-xl", kept), "llama": Llama1B, "resnet50": Pictures}


def train(case, weights, kind, schedule, steps, otherwise):
    """schedule: "constant R", or "rising to R"."""
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    rate = float(schedule.split()[-1])
    net = case.make(weights).to(TYPES[kind]).to(DEVICE)
    optimizer = case.optimizer(net, rate)
    losses = []
    for step in range(steps):
        if schedule.startswith("rising"):
            optimizer.param_groups[0]["lr"] = rate * (step + 1) / steps
        optimizer.zero_grad()
        with torch.autocast(DEVICE, torch.bfloat16, enabled=kind == "autocast"):
            loss = case.loss(net, step, TYPES[kind], otherwise)
        loss.backward()
        case.clip(net)
        optimizer.step()
        losses.append(loss.item())
    return torch.tensor(losses)


def apart(a, b):
    distance = (a - b).abs()
    return f"at most {distance.max():.2e} (step {int(distance.argmax())}), at the end {distance[-1]:.2e}"


def main():
    folder, name = sys.argv[1] if len(sys.argv) > 1 else ".", sys.argv[2] if len(sys.argv) > 2 else "gpt2"
    kept, weights = read(f"{folder}/{name}-losses.safetensors"), read(f"{folder}/{name}.safetensors")
    case = MODELS[name](kept)
    print(f"PyTorch {torch.__version__}")
    for key in kept:
        kind, _, schedule = key.partition(" ")
        if kind not in TYPES:
            continue
        ours = kept[key]
        theirs, own = (train(case, weights, kind, schedule, len(ours), otherwise) for otherwise in (False, True))
        fifth = len(ours) // 5
        print(f"{name}, {kind}, {schedule}: loss {theirs[0]:.6f}, after {fifth} steps {theirs[fifth]:.6f}, after {len(theirs) - 1} {theirs[-1]:.6f}; "
              f"ours apart {apart(ours, theirs)}; PyTorch rounding otherwise {apart(own, theirs)}", flush=True)


if __name__ == "__main__":
    main()
