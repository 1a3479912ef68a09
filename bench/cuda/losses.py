"""The training that losses.lua did, from its weights and rows, in PyTorch; and how far the losses are apart. losses.py FOLDER"""
import json
import sys

import torch
import torch.nn.functional as F
from gpt2 import GPT2

DTYPES = {"F32": torch.float32, "I64": torch.int64, "BF16": torch.bfloat16}


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


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else "."
    kept = read(f"{folder}/losses.safetensors")
    for name, dtype in (("float32", torch.float32), ("bfloat16", torch.bfloat16), ("autocast", torch.float32)):
        ours = kept[name]
        torch.backends.cuda.matmul.allow_tf32 = False
        net = GPT2()
        load(net, read(f"{folder}/weights.safetensors"))
        net = net.to(dtype).cuda()
        optimizer = torch.optim.AdamW(net.parameters(), lr=3e-4, weight_decay=0.1)
        losses = []
        for tokens in kept["rows"].cuda():
            optimizer.zero_grad()
            with torch.autocast("cuda", torch.bfloat16, enabled=name == "autocast"):
                loss = F.cross_entropy(net(tokens[:, :-1]).flatten(0, 1).float(), tokens[:, 1:].flatten())
            loss.backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.item())
        theirs = torch.tensor(losses)
        apart = (ours - theirs).abs()
        print(f"{name}: PyTorch {torch.__version__} loss {losses[0]:.6f}, after 10 steps {losses[10]:.6f}, after {len(losses) - 1} {losses[-1]:.6f}; "
              f"apart at most {apart.max():.2e} (step {int(apart.argmax())}), at the end {apart[-1]:.2e}")


if __name__ == "__main__":
    main()
