"""fused.py [ROWS COLUMNS]: what fused.lua times, in PyTorch: eager and torch.compile, in microseconds, over the same bf16 tensors. A
backward is torch.func.vjp of the function: the gradients of all its arguments, from a cotangent."""
import sys
import time

import torch
import torch.nn.functional as F

from timed import seconds

rows, columns = (int(n) for n in sys.argv[1:3]) if len(sys.argv) > 2 else (16384, 4096)


def tensor(*shape, dtype=torch.bfloat16):
    return torch.randn(*shape, device="cuda", dtype=dtype)


def best(f, *args):
    seconds(lambda: f(*args), 4)
    return min(seconds(lambda: f(*args), 20) for _ in range(8)) * 1e6


def backward(f):
    return lambda dy, *primals: torch.func.vjp(f, *primals)[1](dy)


def show(name, f, *args):
    print(f"{name:28} {best(f, *args):8.1f} us eager {best(torch.compile(f, dynamic=False), *args):8.1f} us compile", flush=True)


x, y, dy = tensor(rows, columns), tensor(rows, columns), tensor(rows, columns)
w, b = tensor(columns), tensor(columns)
heads = x.view(1, rows, columns // 128, 128)
d_heads = dy.view(1, rows, columns // 128, 128)
angles = torch.rand(rows, 1, 128, device="cuda") * 6
cos, sin = angles.cos(), angles.sin()


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


def rope(v):
    first, second = v.chunk(2, -1)
    return (v * cos + torch.cat((-second, first), -1) * sin).to(v.dtype)


def adamw(p, g, m, v):
    """One step over a list of tensors, as torch.optim.AdamW(foreach=True) writes it; the state is changed in place."""
    torch._foreach_mul_(p, 1 - 1e-3 * 0.1)
    torch._foreach_lerp_(m, g, 1 - 0.9)
    torch._foreach_mul_(v, 0.999)
    torch._foreach_addcmul_(v, g, g, 1 - 0.999)
    root = torch._foreach_sqrt(v)
    torch._foreach_div_(root, (1 - 0.999 ** 10) ** 0.5)
    torch._foreach_add_(root, 1e-8)
    torch._foreach_addcdiv_(p, m, root, -1e-3 / (1 - 0.9 ** 10))


begin = time.perf_counter()
while time.perf_counter() - begin < 1:  # until the clocks are up
    gelu(x)
    torch.cuda.synchronize()
show("copy (t + 1)", lambda v: v + 1, x)
show("add", lambda v, u: v + u, x, y)
show("gelu", gelu, x)
show("gelu backward", backward(gelu), dy, x)
show("swiglu", swiglu, x, y)
show("swiglu backward", backward(swiglu), dy, x, y)
show("layer_norm", layer_norm, x, w, b)
show("layer_norm backward", backward(layer_norm), dy, x, w, b)
show("rms_norm", rms_norm, x, w)
show("rms_norm backward", backward(rms_norm), dy, x, w)
show("softmax", softmax, x)
show("softmax backward", backward(softmax), dy, x)
show("rope", rope, heads)
show("rope backward", backward(rope), d_heads, heads)
show("sum of columns", lambda v: v.float().sum(0), x)
show("sum", lambda v: v.float().sum(), x)
logits, classes = tensor(4096, 50304), torch.randint(50000, (4096,), device="cuda")
show("cross_entropy 4096x50304", F.cross_entropy, logits, classes)
one = torch.ones((), device="cuda", dtype=torch.bfloat16)
show("cross_entropy backward", backward(lambda v: F.cross_entropy(v, classes)), one, logits)


def loss_and_gradient(v):
    loss, pull = torch.func.vjp(lambda u: F.cross_entropy(u, classes), v)
    return loss, pull(torch.ones((), device="cuda", dtype=torch.bfloat16))[0]


def pool(v):
    return F.max_pool2d(v, 3, stride=2, padding=1)


show("cross_entropy and gradient", loss_and_gradient, logits)
show("sort 4096x4096", lambda v: torch.sort(v, dim=-1, stable=True), tensor(4096, 4096))
show("topk 40 of 8x50304", lambda v: torch.topk(v, 40), tensor(8, 50304))
image = tensor(64, 64, 112, 112)
show("max_pool2d", pool, image)
show("max_pool2d backward", backward(pool), tensor(64, 64, 56, 56), image)

# The parameters of GPT-2 124M, in float32.
shapes = [(50304, 768), (1024, 768), (768,), (768,)] + 12 * [(2304, 768), (2304,), (768, 768), (768,), (3072, 768), (3072,), (768, 3072),
                                                              (768,), (768,), (768,), (768,), (768,)]
lists = [[tensor(*shape, dtype=torch.float32) for shape in shapes] for _ in range(3)] + [[torch.ones(*shape, device="cuda") for shape in shapes]]
show("AdamW, 124M in 148 tensors", adamw, *lists)
parameters = [torch.nn.Parameter(p) for p in lists[0]]
for parameter, gradient in zip(parameters, lists[1]):
    parameter.grad = gradient
optimizer = torch.optim.AdamW(parameters, lr=1e-3, weight_decay=0.1, fused=True)
print(f"{'AdamW, fused=True':28} {best(optimizer.step):8.1f} us eager", flush=True)
