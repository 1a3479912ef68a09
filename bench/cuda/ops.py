"""ops.py [FILTER]: ops one at a time, by PyTorch eager and by the library, compiled and eager, on the same tensors of a GPU: microseconds a
call, ours by theirs, and the largest difference. Prints all again at the end, the worst first, and how many are beyond 1.2 and 2. FILTER: a part of the names.

Needs torch, and the package built for its Python."""
import math
import statistics
import sys
import time

import torch

import thunder

M, K = 1 << 20, 1 << 10
DTYPES = {"f32": torch.float32, "f64": torch.float64, "bf16": torch.bfloat16, "i64": torch.int64, "bool": torch.bool}


def real(*shape, dtype="f32"):
    return lambda: torch.randn(shape, device="cuda").to(DTYPES[dtype])


def below(most, *shape, dtype="i64"):
    return lambda: torch.randint(0, most, shape, device="cuda").to(DTYPES[dtype])


def near_one(*shape):
    return lambda: 1 + 0.01 * torch.randn(shape, device="cuda")


def rising(*shape):
    return lambda: torch.randn(shape, device="cuda").sort(-1)[0]


def f(name):
    return lambda lib: getattr(lib.nn.functional, name)


# name, function of a library and tensors, tensors[, which of them gradients are for, of the sum of squares]
CASES = [
    ("add f32 64M", lambda th, a, b: a + b, [real(64 * M), real(64 * M)]),
    ("add transposed f32 8192x8192", lambda th, a, b: a + b.t(), [real(8 * K, 8 * K), real(8 * K, 8 * K)]),
    ("gelu tanh bf16 16384x3072", lambda th, a: f("gelu")(th)(a, approximate="tanh"), [real(16 * K, 3 * K, dtype="bf16")]),
    ("floor_divide i64 32M", lambda th, a, b: th.floor_divide(a, b), [below(1000, 32 * M), lambda: 1 + torch.randint(0, 9, (32 * M,), device="cuda")]),
    ("remainder i64 by 7, 32M", lambda th, a: a % 7, [below(100000, 32 * M)]),
    ("bitwise_and i64 32M", lambda th, a, b: a & b, [below(1000, 32 * M), below(1000, 32 * M)]),
    ("cat of 12, bf16 16384x256", lambda th, *a: th.cat(list(a), -1), [real(16 * K, 256, dtype="bf16")] * 12),
    ("sum f32 64M", lambda th, a: a.sum(), [real(64 * M)]),
    ("sum dim 0 bf16 16384x3072", lambda th, a: a.sum(0), [real(16 * K, 3 * K, dtype="bf16")]),
    ("sum dim 0 bf16 16384x768", lambda th, a: a.sum(0), [real(16 * K, 768, dtype="bf16")]),
    ("sum dim 1 bf16 64x4096x768", lambda th, a: a.sum(1), [real(64, 4 * K, 768, dtype="bf16")]),
    ("mul, and its sum over rows, bf16 16384x3072", lambda th, a, b: (a * b, (a * b).sum(0)), [real(16 * K, 3 * K, dtype="bf16")] * 2),
    ("amax f32 64M", lambda th, a: a.amax(), [real(64 * M)]),
    ("any 64M", lambda th, a: a.any(), [lambda: torch.zeros(64 * M, dtype=torch.bool, device="cuda")]),
    ("argmax f32 64M", lambda th, a: a.argmax(), [real(64 * M)]),
    ("prod dim 1 f32 16384x4096", lambda th, a: a.prod(1), [near_one(16 * K, 4 * K)]),
    ("softmax f32 1Mx16", lambda th, a: f("softmax")(th)(a, -1), [real(M, 16)]),
    ("softmax dim 1 f32 64x256x784", lambda th, a: f("softmax")(th)(a, 1), [real(64, 256, 784)]),
    ("softmax f32 8x1M", lambda th, a: f("softmax")(th)(a, -1), [real(8, M)]),
    ("layer_norm bf16 16384x768", lambda th, a: f("layer_norm")(th)(a, (768,)), [real(16 * K, 768, dtype="bf16")]),
    ("cumsum f32 32M", lambda th, a: th.cumsum(a, 0), [real(32 * M)]),
    ("cumsum i64 16M", lambda th, a: th.cumsum(a, 0), [below(10, 16 * M)]),
    ("cumsum dim 1 f32 4096x4096", lambda th, a: th.cumsum(a, 1), [real(4 * K, 4 * K)]),
    ("logcumsumexp dim 1 f32 4096x4096", lambda th, a: th.logcumsumexp(a, 1), [real(4 * K, 4 * K)]),
    ("sort f32 16M", lambda th, a: th.sort(a)[0], [real(16 * M)]),
    ("sort bf16 4096x4096", lambda th, a: th.sort(a, dim=-1)[0], [real(4 * K, 4 * K, dtype="bf16")]),
    ("sort f32 65536x64", lambda th, a: th.sort(a, dim=-1)[0], [real(64 * K, 64)]),
    ("argsort i64 1M", lambda th, a: th.argsort(a), [below(1 << 40, M)]),
    ("topk 50 of 1x128256", lambda th, a: th.topk(a, 50)[0], [real(1, 128256)]),
    ("topk 100 of 1x16M", lambda th, a: th.topk(a, 100)[0], [real(1, 16 * M)]),
    ("median dim 1 f32 4096x1024", lambda th, a: a.median(1)[0], [real(4 * K, K)]),
    ("searchsorted 1M in 1M", lambda th, a, b: th.searchsorted(a, b), [rising(M), real(M)]),
    ("embedding backward, 16384 of 50304x768 bf16", lambda th, w, i: f("embedding")(th)(i, w), [real(50304, 768, dtype="bf16"), below(50304, 16 * K)], 0),
    ("embedding backward, 16384 of 10 rows, bf16", lambda th, w, i: f("embedding")(th)(i, w), [real(50304, 768, dtype="bf16"), below(10, 16 * K)], 0),
    ("gather backward dim 1 f32 4096x4096", lambda th, a, i: th.gather(a, 1, i), [real(4 * K, 4 * K), below(4 * K, 4 * K, 4 * K)], 0),
    ("scatter_add f32 16M into 1M", lambda th, a, i, s: th.scatter_add(a, 0, i, s), [real(M), below(M, 16 * M), real(16 * M)]),
    ("scatter_reduce amax f32 4M into 64K", lambda th, a, i, s: th.scatter_reduce(a, 0, i, s, "amax"), [real(64 * K), below(64 * K, 4 * M), real(4 * M)]),
    ("index_add f32 65536 rows into 1000x256", lambda th, a, i, s: th.index_add(a, 0, i, s), [real(1000, 256), below(1000, 64 * K), real(64 * K, 256)]),
    ("index_put accumulate f32 1M into 1000", lambda th, a, i, s: th.index_put(a, (i,), s, True), [real(1000), below(1000, M), real(M)]),
    ("one_hot 65536 of 1000", lambda th, a: f("one_hot")(th)(a, 1000), [below(1000, 64 * K)]),
    ("histc f32 16M", lambda th, a: th.histc(a, 100, -3.0, 3.0), [real(16 * M)]),
    ("randn f32 64M", lambda th: th.randn(64 * M, device="cuda"), []),
    ("randperm 4M", lambda th: th.randperm(4 * M, device="cuda"), []),
    ("unfold 3x3 f32 16x64x56x56", lambda th, a: f("unfold")(th)(a, 3), [real(16, 64, 56, 56)]),
    ("attention causal bf16 16x12x1024x64", lambda th, q, k, v: f("scaled_dot_product_attention")(th)(q, k, v, is_causal=True), [real(16, 12, K, 64, dtype="bf16")] * 3),
    ("attention causal bf16 4x16x2048x256", lambda th, q, k, v: f("scaled_dot_product_attention")(th)(q, k, v, is_causal=True), [real(4, 16, 2 * K, 256, dtype="bf16")] * 3),
    ("conv2d 3x3 bf16 64x256x14x14", lambda th, x, w: f("conv2d")(th)(x, w, padding=1), [real(64, 256, 14, 14, dtype="bf16"), real(256, 256, 3, 3, dtype="bf16")]),
    ("conv1d 3 bf16 32x512x1024", lambda th, x, w: f("conv1d")(th)(x, w, padding=1), [real(32, 512, K, dtype="bf16"), real(512, 512, 3, dtype="bf16")]),
]


def gradient_of(function, which):
    """The gradient of the sum of squares, by the library; PyTorch's is taken by autograd."""
    gradient = thunder.grad(lambda *a: (function(thunder, *a).float() ** 2).sum(), which)
    return lambda _, *a: gradient(*a)


def microseconds(call, wait, budget=0.05):
    call()
    wait()
    start = time.perf_counter()
    call()
    wait()
    once = time.perf_counter() - start
    times = max(1, min(200, int(budget / max(once, 1e-6))))
    rounds = []
    for _ in range(5 if once < 0.2 else 1):
        start = time.perf_counter()
        for _ in range(times):
            call()
        wait()
        rounds.append((time.perf_counter() - start) / times)
    return statistics.median(rounds) * 1e6


def by_torch(function, tensors, which):
    if which is None:
        return lambda: function(torch, *tensors)
    leaf = tensors[which].detach().requires_grad_()
    given = [leaf if i == which else t for i, t in enumerate(tensors)]
    return lambda: torch.autograd.grad((function(torch, *given).float() ** 2).sum(), leaf)[0]


def difference(a, b):
    if isinstance(a, (tuple, list)):
        return max(difference(x, y) for x, y in zip(a, b))
    a, b = a.detach().to("cpu").double(), torch.from_dlpack(b.to("cpu").contiguous()).double()
    return float((a - b).abs().max()) if a.numel() else 0.0


def measure(name, function, inputs, which=None):
    tensors = [make() for make in inputs]
    own = [thunder.from_dlpack(t) for t in tensors]
    eager = (lambda th, *a: function(th, *a)) if which is None else gradient_of(function, which)
    compiled = thunder.compile(lambda *a: eager(thunder, *a))
    theirs = by_torch(function, tensors, which)
    apart = None if name.startswith("rand") else difference(theirs(), compiled(*own))
    peer = microseconds(theirs, torch.cuda.synchronize)
    mine = microseconds(lambda: compiled(*own), thunder.cuda.synchronize)
    alone = microseconds(lambda: eager(thunder, *own), thunder.cuda.synchronize)
    return {"name": name, "torch": peer, "ours": mine, "eager": alone, "apart": apart}


def row(r):
    apart = "" if r["apart"] is None else f"{r['apart']:.1e}"
    return f"{r['ours'] / r['torch']:8.2f} {r['ours']:11.1f} {r['torch']:11.1f} {r['eager']:11.1f} {apart:>8}  {r['name']}"


def main(wanted):
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}\n   ratio        ours     PyTorch  ours eager    apart", flush=True)
    rows = []
    for case in CASES:
        if wanted not in case[0]:
            continue
        try:
            rows.append(measure(*case))
            print(row(rows[-1]), flush=True)
        except Exception as error:  # the other rows are still wanted
            print(f"  failed: {case[0]}: {str(error)[:200]}", flush=True)
        torch.cuda.empty_cache()
        thunder.cuda.empty_cache()
    ratios = [r["ours"] / r["torch"] for r in rows]
    print("\nworst first:")
    for r in sorted(rows, key=lambda r: -r["ours"] / r["torch"]):
        print(row(r))
    if rows:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"{len(rows)} ops: geometric mean {mean:.2f}, {sum(r > 1.2 for r in ratios)} beyond 1.2, {sum(r > 2 for r in ratios)} beyond 2")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
