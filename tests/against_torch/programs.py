"""Random programs of views, writes, reads and gradients, run by PyTorch and by the library: op by op, compiled, and in segments."""
import random

import numpy as np

SHAPES = [(4, 6), (6,), (3, 4), (2, 3, 4), (5, 5)]


class Program:
    """The text of a function of one to three tensors, which both libraries understand."""

    def __init__(self, seed, reads):
        self.random, self.lines, self.known, self.reads = random.Random(seed), [], {}, reads
        self.inputs = [self.random.choice(SHAPES) for _ in range(self.random.randint(1, 3))]
        for number, shape in enumerate(self.inputs):
            self.make(f"i{number} * 1", shape)
        for _ in range(self.random.randint(6, 14)):
            self.random.choice([self.view, self.view, self.compute, self.compute, self.write, self.write, self.read])()
        kept = self.random.sample(sorted(self.known), min(4, len(self.known)))
        self.lines.append("return " + " + ".join(f"({name} * lib.cos({name} * 0.5)).sum()" for name in kept))

    @property
    def text(self):
        names = ", ".join(f"i{number}" for number in range(len(self.inputs)))
        return f"def program({names}):\n" + "".join(f"    {line}\n" for line in self.lines)

    def make(self, value, shape):
        name = f"v{len(self.known)}"
        self.lines.append(f"{name} = {value}")
        self.known[name] = tuple(shape)

    def pick(self, wanted=lambda shape: True):
        names = [name for name, shape in self.known.items() if wanted(shape)]
        return self.random.choice(names) if names else None

    def view(self):
        name = self.pick()
        shape, r = list(self.known[name]), self.random
        ways = [(f"{name}.unsqueeze(0)", [1, *shape])] if len(shape) < 4 else []
        if len(shape) > 1:
            a, b = r.sample(range(len(shape)), 2)
            swapped = list(shape)
            swapped[a], swapped[b] = shape[b], shape[a]
            ways += [(f"{name}.transpose({a}, {b})", swapped), (f"{name}.reshape(-1)", [int(np.prod(shape))]), (f"{name}.diagonal(0, {a}, {b})", [
                size for at, size in enumerate(shape) if at not in (a, b)] + [min(shape[a], shape[b])])]
        if shape:
            d = r.randrange(len(shape))
            if shape[d] > 1:
                low = r.randrange(shape[d] - 1)
                high = r.randint(low + 1, shape[d])
                ways.append((f"{name}.narrow({d}, {low}, {high - low})", shape[:d] + [high - low] + shape[d + 1:]))
                ways.append((f"{name}.select({d}, {r.randrange(shape[d])})", shape[:d] + shape[d + 1:]))
                ways.append((f"{name}[{':, ' * d}::2]", shape[:d] + [(shape[d] + 1) // 2] + shape[d + 1:]))
        if ways:
            self.make(*r.choice(ways))

    def compute(self):
        name = self.pick()
        shape, r = self.known[name], self.random
        other = self.pick(lambda it: it == shape)
        ways = [(f"lib.{op}({name})", shape) for op in ("sin", "tanh", "sigmoid", "relu")] + [(f"lib.exp(lib.sin({name}))", shape)]
        ways += [(f"{name} {op} {other}", shape) for op in "+-*"] + [(f"{name} * {r.uniform(-2, 2):.2f}", shape),
                                                                   (f"lib.where({name} > 0, {other}, {name})", shape)]
        if len(shape) == 2:
            right = self.pick(lambda it: len(it) == 2 and it[0] == shape[1])
            ways += [(f"lib.softmax({name}, 1)", shape), (f"{name}.cumsum(0)", shape)]
            if right:
                ways.append((f"{name} @ {right} * 0.1", (shape[0], self.known[right][1])))
        if shape:
            d = r.randrange(len(shape))
            ways.append((f"{name}.mean({d}, keepdim=True) + {name}", shape))
            ways.append((f"{name}.sum({d})", shape[:d] + shape[d + 1:]))
        self.make(*r.choice(ways))

    def write(self):
        name = self.pick()
        shape, r = self.known[name], self.random
        other = self.pick(lambda it: it == shape)
        ways = [f"{name}.mul_({r.uniform(-2, 2):.2f})", f"{name}.add_(lib.sin({other}))", f"{name}.copy_(lib.tanh({other}))", f"{name}.fill_({r.uniform(-1, 1):.2f})",
                f"{name}.clamp_(-0.5, 0.9)", f"{name}.masked_fill_({name} > 0.3, 0.25)"]
        if shape:
            at = r.randrange(shape[0])
            ways += [f"{name}[{at}] = {r.uniform(-1, 1):.2f}", f"{name}[{at}:] = lib.sin({name}[{at}:])", f"{name}[{at}] += {name}[{r.randrange(shape[0])}].sin()"]
        self.lines.append(r.choice(ways))

    def read(self):
        name = self.pick()
        if self.reads:
            self.lines.append(f"if {name}.sum().item() > {self.random.uniform(-1, 1):.2f}: {name}.mul_(0.5)")


def function_of(program, library):
    names = {"lib": library}
    exec(program.text, names)
    return names["program"]


def by_pytorch(program, arrays, torch):
    """[value, gradients, gradients of the sum of the squares of these]; the value alone where PyTorch does not differentiate it, since
    a write overwrote what it needs."""
    with torch.no_grad():
        alone = function_of(program, torch)(*map(torch.tensor, arrays))
    inputs = [torch.tensor(array, requires_grad=True) for array in arrays]
    try:
        value = function_of(program, torch)(*inputs)
        first = torch.autograd.grad(value, inputs, create_graph=True, allow_unused=True, materialize_grads=True)
        squares = sum((one ** 2).sum() for one in first)
        second = (torch.autograd.grad(squares, inputs, allow_unused=True, materialize_grads=True) if squares.requires_grad
                  else [torch.zeros_like(one) for one in inputs])
    except RuntimeError:
        return [alone.numpy()]
    return [one.detach().numpy() for one in (value, *first, *second)]


def by_ours(program, arrays, th, way):
    """The same by the library."""
    f, count = function_of(program, th), tuple(range(len(arrays)))

    def whole(*inputs):
        def squares(*inputs):
            return sum((one ** 2).sum() for one in th.grad(f, argnums=count)(*inputs))
        value, first = th.value_and_grad(f, argnums=count)(*inputs)
        return (value, *first, *th.grad(squares, argnums=count)(*inputs))
    return [one.numpy() for one in way(whole)(*map(th.tensor, arrays))]


def ways(th, reads):
    yield "op by op", lambda f: f
    yield "in segments", lambda f: th.compile(f, fullgraph=False)
    if not reads:
        yield "compiled", th.compile
        yield "compiled for any size", lambda f: th.compile(f, dynamic=True)


def differences(count, first=0):
    """(seed, how it ran, what differs) of so many programs; half of them read values."""
    import thunder as th
    import torch
    for seed in range(first, first + count):
        program = Program(seed, seed % 2 == 1)
        arrays = [np.random.default_rng([seed, at]).standard_normal(shape).astype(np.float32) for at, shape in enumerate(program.inputs)]
        wanted = by_pytorch(program, arrays, torch)
        if not all(np.isfinite(one).all() for one in wanted):
            yield seed, "", None
            continue
        for name, way in ways(th, program.reads):
            try:
                got = by_ours(program, arrays, th, way)
            except Exception as error:
                yield seed, name, f"refused: {type(error).__name__}: {error}"
                continue
            wrong = [at for at, (mine, its) in enumerate(zip(got, wanted))
                     if mine.shape != its.shape or not np.allclose(mine, its, rtol=2e-3, atol=2e-3 * max(1, abs(its).max()))]
            yield seed, name + " with gradients" * (len(wanted) > 1), f"results {wrong} differ" if wrong else None


def main(count, first=0):
    tried = whole = refused = wrong = 0
    for seed, name, what in differences(count, first):
        tried += bool(name)
        whole += name.endswith("gradients")
        if what:
            refused += what.startswith("refused")
            wrong += not what.startswith("refused")
            print(f"program {seed}, {name}: {what}")
    print(f"{count} programs, {tried} runs beside PyTorch, {whole} of them with gradients, {refused} refused, {wrong} differ")
    return wrong + refused
