"""kernels.py [ROWS COLUMNS]: what kernels.lua times, in PyTorch: eager and torch.compile, in microseconds, over the same bf16 tensors."""
import sys

import torch
import torch.nn.functional as F

from timed import seconds

rows, columns = (int(n) for n in sys.argv[1:3]) if len(sys.argv) > 2 else (16384, 4096)


def tensor(*shape):
    return torch.randn(*shape, device="cuda", dtype=torch.bfloat16)


def best(f, *args):
    seconds(lambda: f(*args), 4)
    return min(seconds(lambda: f(*args), 20) for _ in range(8)) * 1e6


def backward(f):
    def run(v, dy, *rest):
        v = v.detach().requires_grad_()
        return torch.autograd.grad((f(v, *rest).float() * dy.float()).sum(), v)[0]

    return run


def show(name, f, *args):
    print(f"{name:28} {best(f, *args):8.1f} us eager {best(torch.compile(f, dynamic=False), *args):8.1f} us compile", flush=True)


x, y, dy = tensor(rows, columns), tensor(rows, columns), tensor(rows, columns)
w, b = tensor(columns), tensor(columns)


def gelu(v):
    return F.gelu(v, approximate="tanh")


def swiglu(v, g):
    return F.silu(g) * v


def layer_norm(v, s, t):
    return F.layer_norm(v, (columns,), s, t)


def rms_norm(v, s):
    return F.rms_norm(v, (columns,), s)


def softmax(v):
    return F.softmax(v, -1)


begin = time.perf_counter()
while time.perf_counter() - begin < 1:  # until the clocks are up
    gelu(x)
    torch.cuda.synchronize()
show("copy (t + 1)", lambda v: v + 1, x)
show("add", lambda v, u: v + u, x, y)
show("gelu", gelu, x)
show("gelu backward", backward(gelu), x, dy)
show("swiglu", swiglu, x, y)
show("swiglu backward", backward(swiglu), x, dy, y)
show("layer_norm", layer_norm, x, w, b)
show("layer_norm backward", backward(layer_norm), x, dy, w, b)
show("rms_norm", rms_norm, x, w)
show("rms_norm backward", backward(rms_norm), x, dy, w)
show("softmax", softmax, x)
show("softmax backward", backward(softmax), x, dy)
show("sum of columns", lambda v: v.float().sum(0), x)
show("sum", lambda v: v.float().sum(), x)
logits, classes = tensor(4096, 50304), torch.randint(50000, (4096,), device="cuda")
show("cross_entropy 4096x50304", F.cross_entropy, logits, classes)
