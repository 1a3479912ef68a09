"""The training that losses.lua did, from its weights and rows, in PyTorch; how far the losses are apart, and how far PyTorch's are from its own
where attention is computed by its MATH backend, which rounds otherwise. losses.py FOLDER"""
import json
import sys

import torch
import torch.nn.functional as F
from gpt2 import GPT2
from torch.nn.attention import SDPBackend, sdpa_kernel

DTYPES = {"F32": torch.float32, "I64": torch.int64, "BF16": torch.bfloat16}
TYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "autocast": torch.float32}
BACKENDS = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.CUDNN_ATTENTION, SDPBackend.MATH]
RATE = 3e-4


def read(path):
    """A safetensors file."""
    data = open(path, "rb").read()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + length])
    header.pop("__metadata__", None)
    out = {}
    for name, entry in header.items():
        begin, end = (8 + length + at for at in entry["data_offsets"])
        out[name] = torch.frombuffer(bytearray(data[begin:end]), dtype=DTYPES[entry["dtype"]]).view(entry["shape"])
    return out


def load(net, weights):
    """Weights of GPT-2's published files are [in, out]."""
    ours = {"attn.c_attn": "c_attn", "attn.c_proj": "c_proj", "mlp.c_fc": "c_fc", "mlp.c_proj": "c_out"}
    state = {}
    for name, value in weights.items():
        for theirs, mine in ours.items():
            if f".{theirs}." in name:
                name = name.replace(theirs, mine)
                value = value.t() if name.endswith("weight") else value
                break
        state[name] = value
    net.load_state_dict(state)


def train(name, rises, rows, weights, backends):
    torch.backends.cuda.matmul.allow_tf32 = False
    net = GPT2()
    load(net, weights)
    net = net.to(TYPES[name]).cuda()
    optimizer = torch.optim.AdamW(net.parameters(), lr=RATE, weight_decay=0.1)
    losses = []
    for i, tokens in enumerate(rows.cuda()):
        if rises:
            optimizer.param_groups[0]["lr"] = RATE * (i + 1) / len(rows)
        optimizer.zero_grad()
        with torch.autocast("cuda", torch.bfloat16, enabled=name == "autocast"), sdpa_kernel(backends):
            loss = F.cross_entropy(net(tokens[:, :-1]).flatten(0, 1).float(), tokens[:, 1:].flatten())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return torch.tensor(losses)


def apart(a, b):
    distance = (a - b).abs()
    return f"at most {distance.max():.2e} (step {int(distance.argmax())}), at the end {distance[-1]:.2e}"


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else "."
    kept, weights = read(f"{folder}/losses.safetensors"), read(f"{folder}/weights.safetensors")
    print(f"PyTorch {torch.__version__}")
    for name in TYPES:
        for schedule in ("constant", "rising"):
            arguments = (name, schedule == "rising", kept["rows"], weights)
            theirs, own = train(*arguments, BACKENDS), train(*arguments, [SDPBackend.MATH])
            print(f"{name}, {schedule} rate: loss {theirs[0]:.6f}, after 10 steps {theirs[10]:.6f}, after {len(theirs) - 1} {theirs[-1]:.6f}; "
                  f"ours apart {apart(kept[f'{name} {schedule}'], theirs)}; PyTorch's MATH {apart(own, theirs)}")


if __name__ == "__main__":
    main()
