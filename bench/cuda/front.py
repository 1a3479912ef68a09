"""front.py [profile] [NAME...]: GPT-2 124M, a Llama of 1.2 billion parameters and ResNet-50 as functions of the library's own Python, and the same models by
torch.compile(backend="thunder"): milliseconds of a forward, and of a forward and backward without an optimiser, in turns, and ours by torch.compile's.

The models are torch_nets.py's, whose source is run twice: with torch, and with the package in torch's place. NAME: a part of the names. profile: the
kernels that take most of either's steps, by CUPTI through torch's profiler, instead of the times."""
import pathlib
import statistics
import sys
import time
import types

import torch

import thunder
import thunder.torch  # noqa: F401

ROUNDS, STEPS = 11, 10
HERE = pathlib.Path(__file__).parent


def module_of(file, name, own):
    """A file of this folder; own: with the package wherever it says torch."""
    text = (HERE / file).read_text(encoding="utf-8")
    if own:
        text = (text.replace("import torch\n", "import thunder as torch\n").replace("from torch import nn", "from thunder import nn")
                .replace("from torch.nn import functional as F", "from thunder.nn import functional as F").replace("import llama", "import own_llama as llama")
                .replace("import torch.nn.functional as F", "import thunder.nn.functional as F"))
    module = sys.modules[name] = types.ModuleType(name)
    module.__file__ = str(HERE / file)
    exec(compile(text, file, "exec"), module.__dict__)  # noqa: S102 - a file of this folder
    return module


def both(make, dtype, batch, cast):
    """{who: {"infer", "train": a function that runs it}}."""
    found = {}
    module_of("llama.py", "llama", False)
    nets = module_of("torch_nets.py", "nets", False)
    model = make(nets).to("cuda").to(dtype)
    compiled = torch.compile(model, backend="thunder")

    def infer():
        with torch.no_grad(), torch.autocast("cuda", torch.bfloat16, enabled=cast):
            return compiled(*batch)

    def train():
        model.zero_grad(set_to_none=True)
        with torch.autocast("cuda", torch.bfloat16, enabled=cast):
            loss = compiled(*batch)
        loss.backward()
        return loss
    found["torch.compile"] = {"infer": infer, "train": train}

    module_of("llama.py", "own_llama", True)
    own_nets = module_of("torch_nets.py", "own_nets", True)
    net = make(own_nets).to("cuda").to(getattr(thunder, str(dtype).rpartition(".")[2]))
    own_batch = [thunder.from_dlpack(x) for x in batch]

    def loss_of(*batch):
        with thunder.autocast("cuda", thunder.bfloat16, enabled=cast):
            return net(*batch)
    parameters = list(net.parameters())
    forward = thunder.compile(loss_of)

    @thunder.compile
    def step(*batch):
        loss = loss_of(*batch)
        return loss, thunder.grad_of(loss, parameters)
    found["own"] = {"infer": lambda: forward(*own_batch), "train": lambda: step(*own_batch)[0]}
    return found


def milliseconds(work):
    """Of a step, over STEPS of which none waits for the GPU but the last."""
    start = time.perf_counter()
    for _ in range(STEPS):
        work()
    torch.cuda.synchronize()
    thunder.cuda.synchronize()
    return 1e3 * (time.perf_counter() - start) / STEPS


def profile(name, works):
    """The kernels of three steps of each, the longest first: microseconds and launches of a step."""
    from torch.profiler import ProfilerActivity
    for who, work in works.items():
        with torch.profiler.profile(activities=[ProfilerActivity.CUDA]) as found:
            for _ in range(3):
                work()
            torch.cuda.synchronize()
        rows = sorted((row for row in found.key_averages() if row.device_time_total), key=lambda row: -row.device_time_total)
        print(f"{name}, {who}: {sum(row.device_time_total for row in rows) / 3:.0f} us in {sum(row.count for row in rows) / 3:.0f} kernels")
        for row in rows[:60]:
            print(f"  {row.device_time_total / 3:9.0f} us {row.count / 3:6.1f}  {row.key[:120]}", flush=True)


def measure(name, profiles, *how):
    torch._dynamo.reset()
    found = both(*how)
    for way in ("infer", "train"):
        works = {who: of[way] for who, of in found.items()}
        losses = {who: float(work()) for who, work in works.items()}
        for work in works.values():
            milliseconds(work)
        if profiles:
            profile(f"{name}, {way}", works)
            continue
        times = {who: [] for who in works}
        for _ in range(ROUNDS):
            for who, work in works.items():
                times[who].append(milliseconds(work))
        own, theirs = (statistics.median(times[who]) for who in ("own", "torch.compile"))
        spread = (max(times["torch.compile"]) - min(times["torch.compile"])) / theirs
        print(f"{name}, {way}: own Python {own:.2f} ms, torch.compile {theirs:.2f} ms (least {min(times['own']):.2f}, {min(times['torch.compile']):.2f}; "
              f"spread {spread:.0%}), ratio {own / theirs:.3f}; losses {losses['own']:.4f}, {losses['torch.compile']:.4f}", flush=True)


def tokens(n, length, vocabulary):
    return torch.randint(0, vocabulary, (n, length), device="cuda"), torch.randint(0, vocabulary, (n, length), device="cuda")


MODELS = {
    "GPT-2 124M, 16 x 1024, autocast": lambda: (lambda nets: nets.GPT(50304, 768, 12, 12, 1024), torch.float32, tokens(16, 1024, 50304), True),
    "Llama, 2 x 2048, bfloat16": lambda: (lambda nets: nets.llama_1b(), torch.bfloat16, tokens(2, 2048, 32000), False),
    "ResNet-50, 64 x 224, autocast": lambda: (lambda nets: nets.ResNet((3, 4, 6, 3), True), torch.float32, (
        torch.randn(64, 3, 224, 224, device="cuda"), torch.randint(0, 1000, (64,), device="cuda")), True),
}


def main():
    named = [word for word in sys.argv[1:] if word != "profile"]
    for name, how in MODELS.items():
        if not named or any(part in name for part in named):
            measure(name, "profile" in sys.argv, *how())


if __name__ == "__main__":
    main()
