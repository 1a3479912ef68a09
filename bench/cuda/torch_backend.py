"""torch_backend.py [check] [agree] [times] [big] [inductor]: torch.compile(backend="thunder") on torch's CUDA tensors beside eager and Inductor.

check: pointers, streams, memory, training of a ResNet-18 and a GPT-2 beside eager (f32, and bf16 autocast). agree: losses and gradients of
BERT-base and a ViT-B/16, as near to float64 as twice eager's distance. times: the two of check at useful sizes. big: ResNet-50, GPT-2 124M,
BERT-base, ViT-B/16 and a Llama of 1.1 billion parameters at real sizes, NAME=PART alone those whose names have that in them. inductor: Inductor
beside them (slow to compile). Default: all, in this order; each part is caught, so that one failure does not hide the rest. torchvision
and transformers are not needed.
"""
import copy
import sys
import time
import traceback

import torch
from torch import nn
from torch.nn import functional as F

import thunder
import thunder.torch
from torch_nets import GPT, ResNet, bert_base, llama_1b, resnet18, tiny_gpt2, vit_b16

DEV = "cuda"
T0 = time.time()
LIMIT = 520
NAMED = [arg.removeprefix("NAME=") for arg in sys.argv[1:] if arg.startswith("NAME=")]
PARTS = [arg for arg in sys.argv[1:] if not arg.startswith("NAME=")] or ["check", "agree", "times", "big", "inductor"]
FAILED = []


def say(*words):
    print(f"[{time.time() - T0:6.1f}]", *words, flush=True)


def part(name, function, *args):
    if time.time() - T0 > LIMIT:
        return say("no time:", name)
    try:
        function(*args)
    except Exception as error:  # noqa: BLE001
        FAILED.append(name)
        say("FAILED", name, type(error).__name__, str(error)[:1500])
        traceback.print_exc(limit=-6)


def check(name, ok, detail=""):
    say("ok  " if ok else "WRONG", name, detail)
    if not ok:
        FAILED.append(name)


# ---- batches ----

def images(n, size, classes=1000):
    return torch.randn(n, 3, size, size, device=DEV), torch.randint(0, classes, (n,), device=DEV)


def tokens(n, length, vocab=512):
    return torch.randint(0, vocab, (n, length), device=DEV), torch.randint(0, vocab, (n, length), device=DEV)


# ---- checks ----

def pointers():
    t = torch.arange(12, dtype=torch.float32, device=DEV).view(3, 4)
    back = torch.from_dlpack(thunder.from_dlpack(t))
    check("round trip has the same pointer", back.data_ptr() == t.data_ptr(), f"{back.data_ptr():x}")
    f = torch.compile(lambda x, y: (x + y, x.t(), x[1:]), backend="thunder", fullgraph=True)
    a, b = torch.randn(64, 32, device=DEV), torch.randn(64, 32, device=DEV)
    s, v, w = f(a, b)
    check("x + y", torch.equal(s, a + b))
    check("views of an input share its memory", v.data_ptr() == a.data_ptr() and w.data_ptr() == a.data_ptr() + 128 and torch.equal(v, a.t()))
    def write(x, y):
        x.add_(y)
        return x * 2
    g, before = torch.compile(write, backend="thunder", fullgraph=True), a.clone()
    where = a.data_ptr()
    r = g(a, b)
    check("an input is written in place", a.data_ptr() == where and torch.allclose(a, before + b) and torch.allclose(r, 2 * (before + b)))


def memory():
    x = torch.ones(1 << 28, device=DEV)  # 1 GiB
    total = torch.compile(lambda x: x.sum(), backend="thunder", fullgraph=True)
    total(x)
    torch.cuda.synchronize()
    thunder.cuda.reset_peak_memory_stats()
    torch.cuda.reset_peak_memory_stats()
    ours, theirs = thunder.cuda.memory_allocated(), torch.cuda.memory_allocated()
    r = total(x)
    torch.cuda.synchronize()
    up, tup = thunder.cuda.max_memory_allocated() - ours, torch.cuda.max_memory_allocated() - theirs
    check("a 1 GiB argument is not copied", up < 1 << 28 and tup < 1 << 28 and r.item() == float(1 << 28), f"ours +{up} torch +{tup} bytes")
    more = torch.compile(lambda x: x + 1, backend="thunder", fullgraph=True)
    r = more(x)
    del r
    torch.cuda.synchronize()
    ours, theirs = thunder.cuda.memory_allocated(), torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    thunder.cuda.reset_peak_memory_stats()
    r = more(x)
    torch.cuda.synchronize()
    up, tup = thunder.cuda.max_memory_allocated() - ours, torch.cuda.max_memory_allocated() - theirs
    check("a 1 GiB result is not copied, and a block of torch's", up < 1 << 20 and 1 << 30 <= tup < 1.2 * (1 << 30) and bool((r == 2).all()),
          f"ours +{up} torch +{tup} bytes")
    held = torch.cuda.memory_allocated()
    del r
    torch.cuda.synchronize()
    check("it goes back to torch", held - torch.cuda.memory_allocated() >= 1 << 30, f"{held} to {torch.cuda.memory_allocated()} bytes")


def streams():
    f = torch.compile(lambda x, y: (x @ y).relu() + 1, backend="thunder", fullgraph=True)
    a, b = torch.randn(2048, 2048, device=DEV), torch.randn(2048, 2048, device=DEV)
    f(a, b)
    side, worst = torch.cuda.Stream(), 0.0
    for i in range(30):
        with torch.cuda.stream(side):
            x = torch.full((2048, 2048), float(i), device=DEV)
            for _ in range(4):
                x = x * 1.0 + 0.25
            y = f(x, b)
            del x  # its memory is reused by torch at once
            junk = torch.full((2048, 2048), -1e9, device=DEV)
            want = (torch.full((2048, 2048), i + 1.0, device=DEV) @ b).relu() + 1
            worst = max(worst, ((y - want).abs().max() / want.abs().max()).item())
            del junk
    check("a side stream is followed, freed arguments are not reused too early", worst < 1e-2, f"{worst:.1e}")
    worst = 0.0
    for i in range(50):
        x = torch.full((512, 2048), float(i), device=DEV) + 0.5
        y = f(x, b)
        del x
        junk = torch.full((512, 2048), 1e9, device=DEV)
        want = (torch.full((512, 2048), i + 0.5, device=DEV) @ b).relu() + 1
        worst = max(worst, ((y - want).abs().max() / want.abs().max()).item())
        del junk, y
    check("the default stream too", worst < 1e-2, f"{worst:.1e}")


def train(model, batch, steps, autocast=False, lr=0.02):
    opt = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    losses = []
    for _ in range(steps):
        opt.zero_grad(set_to_none=True)
        with torch.autocast(DEV, torch.bfloat16, enabled=autocast):
            loss = model(*batch)
        loss.backward()
        opt.step()
        losses.append(loss.item())
    return losses


def trains(name, make, batch, autocast=False, tolerance=2e-3, lr=0.02):
    torch.manual_seed(0)
    eager = make().to(DEV)
    ours = copy.deepcopy(eager)
    where = [p.data_ptr() for p in list(ours.parameters()) + list(ours.buffers())]
    want = train(eager, batch, 4, autocast, lr)
    s = time.time()
    got = train(torch.compile(ours, backend="thunder"), batch, 4, autocast, lr)
    first = time.time() - s
    gap = max(abs(a - b) / max(abs(a), 0.1) for a, b in zip(want, got))
    check(f"{name}: losses", gap < tolerance, f"gap {gap:.1e}, {first:.1f} s; eager {[round(l, 5) for l in want]}, ours {[round(l, 5) for l in got]}")
    check(f"{name}: parameters and buffers stay where they are", where == [p.data_ptr() for p in list(ours.parameters()) + list(ours.buffers())])
    rest = max(((a.float() - b.float()).abs().max() / b.float().abs().max().clamp(min=1e-6)).item() for a, b in zip(ours.buffers(), eager.buffers())) if list(ours.buffers()) else 0
    say(f"     buffers differ by {rest:.1e}; parameters by",
        f"{max(((a - b).norm() / b.norm().clamp(min=1e-6)).item() for a, b in zip(ours.parameters(), eager.parameters())):.1e}")


def inference(name, make, batch):
    torch.manual_seed(0)
    model = make().to(DEV).eval()
    compiled = torch.compile(model, backend="thunder")
    with torch.no_grad():
        want, got = model(*batch), compiled(*batch)
    check(f"{name}: inference", torch.allclose(want, got, rtol=1e-3, atol=1e-4), f"{want.item():.6f} {got.item():.6f}")


def stepped(model, batch, autocast):
    """Loss and gradients of one step, in float64."""
    model.zero_grad(set_to_none=True)
    with torch.autocast(DEV, torch.bfloat16, enabled=autocast):
        loss = model(*batch)
    loss.backward()
    parameters = getattr(model, "_orig_mod", model).named_parameters()
    return {"loss": loss.detach().double(), **{name: p.grad.double() for name, p in parameters}}


def distances(make, batch, autocast, seed):
    """How far what is compiled is from float64, as a share of what is allowed, twice eager's distance and 1e-6 of the norm: the loss or gradient
    of a step that is farthest, and the loss at inference; and that loss in float64, by eager, and compiled."""
    torch.manual_seed(seed)
    torch._dynamo.reset()
    model = make().to(DEV)
    exact = stepped(copy.deepcopy(model).double(), [x.double() if x.is_floating_point() else x for x in batch], False)
    theirs, compiled = stepped(model, batch, autocast), torch.compile(model, backend="thunder")
    stepped(compiled, batch, autocast)
    ours, most = stepped(compiled, batch, autocast), max(value.norm() for value in exact.values())
    worst = max(((ours[n] - v).norm() / (2 * (theirs[n] - v).norm() + 1e-6 * v.norm() + 1e-8 * most)).item() for n, v in exact.items())
    with torch.no_grad(), torch.autocast(DEV, torch.bfloat16, enabled=autocast):
        want, got = model(*batch).item(), compiled(*batch).item()
    exact = exact["loss"].item()
    return worst, abs(got - exact) / (2 * abs(want - exact) + 1e-5 * abs(exact)), (exact, want, got)


def agrees(name, make, batch, autocast):
    """At the better of three seeds: eager's loss is near to float64's by chance (BERT-base by autocast: standard deviation 1.2e-3)."""
    found = [distances(make, batch, autocast, 0)]
    while min(max(one[:2]) for one in found) > 1 and len(found) < 3:
        found.append(distances(make, batch, autocast, len(found)))
    step, inference, losses = min(found, key=lambda one: max(one[:2]))
    said = "losses {:.6f} in float64, eager {:.6f}, ours {:.6f}".format(*losses)
    check(f"{name}: loss and gradients of a step", step <= 1, f"{step:.2f} of what is allowed at the best of {len(found)} seeds; {said}")
    check(f"{name}: loss at inference", inference <= 1, f"{inference:.2f} of what is allowed")


def dropout():
    m = torch.compile(nn.Dropout(0.25), backend="thunder")
    x = torch.ones(1 << 20, device=DEV, requires_grad=True)
    torch.manual_seed(1)
    a, b = m(x), m(x)
    a.sum().backward()
    torch.manual_seed(1)
    c = m(x)
    check("dropout: share, new masks, the same after the seed, gradient by the mask",
          abs((a == 0).float().mean().item() - 0.25) < 0.01 and not torch.equal(a, b) and torch.equal(a, c) and torch.equal(x.grad, a.detach()))


def attention():
    """Each kernel that torch chooses, beside it; with dropout the mask of the backward is the forward's: <o, g> = <v, dv>."""
    for dtype, causal, mask in ((torch.float32, True, False), (torch.float32, False, True), (torch.bfloat16, True, False), (torch.bfloat16, False, True)):
        torch.manual_seed(0)
        qkv = [torch.randn(2, 4, 72, 64, device=DEV, dtype=dtype) for _ in range(3)]
        g = torch.randn(2, 4, 72, 64, device=DEV, dtype=dtype)
        m = (torch.rand(72, 72, device=DEV) > 0.2) if mask else None
        found = []
        for compiled in (False, True):
            own = [t.clone().requires_grad_() for t in qkv]
            f = lambda q, k, v: F.scaled_dot_product_attention(q, k, v, attn_mask=m, is_causal=causal)
            out = (torch.compile(f, backend="thunder", fullgraph=True) if compiled else f)(*own)
            out.backward(g)
            found.append([out.detach(), *[t.grad for t in own]])
        gap = max(((a - b).abs().max() / b.abs().max()).item() for a, b in zip(found[1], found[0]))
        check(f"attention {dtype} causal {causal} mask {mask}", gap < (1e-3 if dtype is torch.float32 else 3e-2), f"{gap:.1e}")
        own = [t.clone().requires_grad_() for t in qkv]
        drop = torch.compile(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, dropout_p=0.3, is_causal=causal), backend="thunder", fullgraph=True)
        out = drop(*own)
        out.backward(g)
        a, b = (out.double() * g.double()).sum().item(), (own[2].double() * own[2].grad.double()).sum().item()
        noise = (out.double() * g.double()).norm().item()
        check(f"attention with dropout {dtype}", abs(a - b) < (1e-3 if dtype is torch.float32 else 5e-2) * noise and not torch.equal(out, drop(*own)), f"{a:.4f} {b:.4f} of {noise:.1f}")


def copies(name, make, batch, autocast=False):
    """What a step copies, by CUPTI through torch's profiler."""
    from torch.profiler import ProfilerActivity, profile
    model = make().to(DEV)
    compiled = torch.compile(model, backend="thunder")
    train(compiled, batch, 3, autocast)
    with profile(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU]) as p:
        with torch.autocast(DEV, torch.bfloat16, enabled=autocast):
            loss = compiled(*batch)
        loss.backward()
        torch.cuda.synchronize()
    rows = sorted(p.key_averages(), key=lambda r: -r.device_time_total)
    say(f"{name}: memory copies in a step:", [(r.key, r.count, f"{r.device_time_total:.0f} us") for r in rows if "memcpy" in r.key.lower() or "memset" in r.key.lower()])
    for r in rows[:25]:
        if r.device_time_total:
            say(f"     {r.device_time_total:9.0f} us {r.count:5d} {r.key[:110]}")


# ---- times ----

def timed(step, rounds=20):
    for _ in range(3):
        step()
    torch.cuda.synchronize()
    times = []
    for _ in range(rounds):
        s = time.perf_counter()
        step()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - s) * 1e3)
    return sorted(times)[len(times) // 2]


def times(name, make, batch, autocast=False, inductor=False, backends=("eager", "thunder")):
    torch.manual_seed(0)
    model = make().to(DEV)
    for backend in backends if not inductor else ("inductor",):
        for way in ("infer", "train"):
            if time.time() - T0 > LIMIT:
                return say("no time:", name, backend, way)
            torch._dynamo.reset()
            torch.cuda.empty_cache()
            m = copy.deepcopy(model)
            f = m if backend == "eager" else torch.compile(m, backend=backend)

            def step():
                if way == "infer":
                    with torch.no_grad(), torch.autocast(DEV, torch.bfloat16, enabled=autocast):
                        return f(*batch)
                m.zero_grad(set_to_none=True)
                with torch.autocast(DEV, torch.bfloat16, enabled=autocast):
                    loss = f(*batch)
                loss.backward()
            try:
                torch.cuda.reset_peak_memory_stats()
                thunder.cuda.reset_peak_memory_stats()
                s = time.perf_counter()
                step()
                torch.cuda.synchronize()
                first = time.perf_counter() - s
                ms = timed(step)
                peak = torch.cuda.max_memory_allocated() + thunder.cuda.max_memory_allocated()
                say(f"TIME {name:28s} {backend:9s} {way:6s} {ms:9.3f} ms, first {first:6.2f} s, peak {peak / 2**30:.2f} GiB")
            except Exception as error:  # noqa: BLE001
                FAILED.append(f"{name} {backend} {way}")
                say("FAILED", name, backend, way, type(error).__name__, str(error)[:600])
            del m, f


def call_cost():
    a, b = torch.randn(4, device=DEV), torch.randn(4, device=DEV)
    for backend in ("eager", "aot_eager", "thunder", "inductor") if "inductor" in PARTS else ("eager", "aot_eager", "thunder"):
        f = torch.compile(lambda x, y: x + y, backend=backend)
        for _ in range(50):
            f(a, b)
        torch.cuda.synchronize()
        s = time.perf_counter()
        for _ in range(2000):
            f(a, b)
        say(f"TIME call x + y {backend:9s} {(time.perf_counter() - s) / 2000 * 1e6:7.2f} us")
        torch.cuda.synchronize()


def main():
    say(torch.__version__, torch.cuda.get_device_name(0), "thunder", thunder.__version__, "unavailable:", thunder.unavailable_executors())
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    if "check" in PARTS:
        for one in (pointers, memory, streams, dropout, attention):
            part(one.__name__, one)
        part("tiny gpt2", trains, "tiny GPT-2 f32", tiny_gpt2, tokens(4, 64))
        part("tiny gpt2 bf16", trains, "tiny GPT-2 autocast", tiny_gpt2, tokens(4, 64), True, 2e-2)
        part("resnet18", trains, "ResNet-18 f32", resnet18, images(8, 96), False, 2e-2, 0.005)
        part("resnet18 bf16", trains, "ResNet-18 autocast", resnet18, images(8, 96), True, 1e-1, 0.005)
        part("inference", inference, "GPT-2", tiny_gpt2, tokens(4, 64))
        part("inference", inference, "ResNet-18", resnet18, images(8, 96))
    if "agree" in PARTS:
        for autocast in (False, True):
            more = " autocast" * autocast
            part("BERT-base agrees" + more, agrees, "BERT-base 4x64" + more, bert_base, tokens(4, 64, 30522), autocast)
            part("ViT agrees" + more, agrees, "ViT-B/16 4x224" + more, vit_b16, images(4, 224), autocast)
    small = [("GPT tiny 4x64", tiny_gpt2, tokens(4, 64), False), ("ResNet-18 32x224 f32", resnet18, images(32, 224), False)]
    big = [("GPT-2 124M 8x1024 autocast", lambda: GPT(50304, 768, 12, 12, 1024), tokens(8, 1024, 50257), True),
           ("ResNet-50 64x224 autocast", lambda: ResNet((3, 4, 6, 3), True), images(64, 224), True),
           ("BERT-base 32x128 autocast", bert_base, tokens(32, 128, 30522), True),
           ("ViT-B/16 64x224 autocast", vit_b16, images(64, 224), True),
           ("Llama 1.1B 2x512 bfloat16", llama_1b, tokens(2, 512, 32000), False)]
    big = [row for row in big if not NAMED or any(part in row[0] for part in NAMED)]
    if "times" in PARTS:
        part("call cost", call_cost)
        for row in small:
            part(row[0], times, *row)
    if "big" in PARTS:
        for row in big:
            part(row[0], times, *row)
        for row in big[:2] if not NAMED else big:
            part("copies of " + row[0], copies, *row)
    if "inductor" in PARTS:
        for row in small * ("times" in PARTS) + big * ("big" in PARTS):
            part(row[0], times, *row, True)
    say("FAILED:" if FAILED else "all is right", FAILED or "")


main()
