"""The kinds of lines of random programs. Each writes the text of one for a writer, or None; "$" is the name of what it makes."""
import functools
import typing


class Kind(typing.NamedTuple):
    write: typing.Callable
    weight: int


def _dim(w, name):
    rank = w.of(name).ndim
    return w.random.randrange(rank) if rank else None


def view(w):
    name, r = w.pick(), w.random
    shape, d = tuple(w.of(name).shape), _dim(w, name)
    if d is None:
        return f"$ = {name}.unsqueeze(0)"
    at, e = r.randrange(max(shape[d], 1)), r.randrange(len(shape))
    before = ":, " * d
    return "$ = " + name + r.choice([
        f".narrow({d}, {at}, {max(shape[d] - at, 0)})", f".select({d}, {at})", f".select({d}, -1)", f"[{before}{at}:]",
        f"[{before}::2]",
        f"[{before}1::2]", f"[..., :{at + 1}]", f".transpose({d}, {e})", f".unsqueeze({d})", ".squeeze()",
        f".squeeze({d})", ".reshape(-1)",
        ".view(-1)", f".chunk(2, {d})[{r.randrange(2)}]", f".split(2, {d})[-1]", f".unfold({d}, 2, 1)",
        f".diagonal(0, {d}, {e})", ".flatten()",
        f".movedim({d}, {e})", f".unbind({d})[{at}]", f".unsqueeze(0).expand(2, {', '.join(['-1'] * len(shape))})",
        ".as_strided((2, 2), (1, 2))",
        f".view({list(shape)})", ".view(lib.int32).view(lib.float32)", f"[{before}None]", ".detach()", ".view_as(i0)",
        ".expand_as(i0)", ".mT",
        f"[{before}k:]", f"[{before}:k]", f".select({d}, k)", f".narrow({d}, k, 1)", f"[{before}k - 1]",
        f"[{before}-k:]", f".split([k, {name}.shape[{d}] - k], {d})[1]",
        f"[{before}{name}.shape[{d}] // 2:]", f".narrow({d}, {name}.shape[{d}] - 2, 2)",
        f".reshape({name}.shape[{d}], -1)", f".unfold({d}, k + 1, 1)"])


def compute(w):
    name, r = w.pick(), w.random
    other, d = w.like(name) or name, _dim(w, name)
    ways = [f"{name}.{op}()" for op in ("sin", "tanh", "sigmoid", "relu", "abs", "neg", "clone", "float", "double",
        "cos", "square", "t", "contiguous")]
    ways += [f"{name} {op} {other}" for op in "+-*"] + [f"{name} * {r.uniform(-2, 2):.2f}", f"{name} + k",
        f"{name} * {name}.shape[0]" if d is not None else f"{name} + 1"]
    ways += [f"lib.where({name} > 0, {other}, {name})", f"{name} > {other}", f"lib.maximum({name}, {other})",
        f"{name}.clamp(-0.5, 0.75)", f"{name}.to(lib.int32)",
             f"{name}.half()", f"lib.nn.functional.gelu({name})", f"{name}.expand_as({other}) * 2",
             f"lib.zeros_like({name})", f"{name}.new_zeros((3,))"]
    if d is not None:
        ways += [f"{name}.sum({d})", f"{name}.mean({d}, keepdim=True)", f"{name}.cumsum({d})", f"{name}.softmax({d})",
            f"{name}.amax({d})", f"{name}.flip({d})", f"lib.cat([{name}, {other}], {d})",
                 f"lib.stack([{name}, {other}], {d})", f"{name}.argmax({d})", f"{name}.sort({d})[0]",
                 f"{name}.roll(k, {d})", f"{name}.index_select({d}, lib.tensor([1, 0]))", f"{name} - {name}.mean()",
                 f"{name}[lib.tensor([0, -1])]", f"{name}.var({d})", f"{name} @ {name}.transpose(-1, -2)",
                 f"{name}.prod({d})", f"{name}.sum()", f"lib.nn.functional.pad({name}, (1, k))",
                 f"{name}.repeat_interleave(2, {d})"]
    return f"$ = {r.choice(ways)}"


@functools.lru_cache(None)
def registry():
    """The names of the library's ops that take one tensor, and of those that take two, whose shape does not depend on values."""
    import thunder
    one, two = [], []
    for row in thunder.ops():
        name, _, takes = row["schema"].partition("(")
        takes, _, gives = takes.partition(") -> ")
        needed = [part for part in takes.split(", ") if "=" not in part]
        if gives.startswith("tensor") and not name.startswith(("nonzero", "argwhere", "unique", "bincount", "one_hot",
            "empty")) and name not in _DRAWS | _ROUGH:
            if needed in (["tensor input"], ["tensor|number input"]):
                one.append(name)
            elif len(needed) == 2 and all(part.startswith("tensor") for part in needed):
                two.append(name)
    return one, two


_DRAWS = {"bernoulli", "dropout1d", "dropout2d", "dropout3d", "rand_like", "randn_like", "multinomial", "dropout",
    "alpha_dropout", "feature_alpha_dropout", "feature_dropout", "rrelu", "gumbel_softmax", "cauchy", "exponential",
    "geometric", "log_normal", "normal", "random", "uniform", "standard_gamma", "poisson"}
_ROUGH = {"masked_select", "repeat_interleave"}  # whose shapes depend on values


def of_the_registry(w):
    name, (one, two) = w.real(), registry()
    if name is None:
        return None
    if w.random.random() < 0.6:
        return f"$ = lib.{w.random.choice(one)}({name})"
    return f"$ = lib.{w.random.choice(two)}({name}, {w.like(name) or name})"


def write(w):
    name, r = w.pick(), w.random
    other, d = w.like(name) or name, _dim(w, name)
    ways = [f"{name}.mul_({r.uniform(-2, 2):.2f})", f"{name}.add_({other})", f"{name}.copy_({other})",
        f"{name}.fill_({r.uniform(-1, 1):.2f})", f"{name}.zero_()",
            f"{name}.clamp_(-0.5, 0.9)", f"{name}.masked_fill_({name} > 0.3, 0.25)", f"{name}.sin_()",
            f"{name} += {other}", f"{name} *= 2", f"{name}[...] = {other}",
            f"{name}.detach().mul_(2)", f"{name}.copy_({name}.new_ones(()))"]
    if d is not None:
        at, before = r.randrange(max(w.of(name).shape[d], 1)), ":, " * d
        ways += [f"{name}[{before}{at}] = {r.uniform(-1, 1):.2f}",
            f"{name}[{before}{at}:] = {name}[{before}{at}:].sin()",
            f"{name}[{before}{at}] += {name}[{before}{r.randrange(at + 1)}].cos()",
                 f"{name}.select({d}, {at}).mul_(3)", f"{name}.narrow({d}, 0, 1).fill_(0.5)",
                 f"{name}.transpose(0, {d})[0].add_(1)", f"{name}[{before}1:] = {name}[{before}:-1]",
                 f"{name}[{name} > 0] = 0.25",
                 f"{name}.index_fill_({d}, lib.tensor([0]), 1.5)",
                 f"{name}[lib.tensor([1, 0])] = {name}[lib.tensor([0, 1])]", f"{name}[{before}k] = 2",
                 f"{name}[{before}k:].mul_(-1)", f"{name}.add_({name}.flip({d}))",
                 f"{name}.chunk(2, {d})[0].zero_()"]
    return r.choice(ways)


def draw(w):
    name, r = w.real(), w.random
    if name is None:
        return "$ = lib.rand(2, 3)"
    return r.choice([
        "$ = lib.rand(2, 3)", "$ = lib.randn(4)", f"$ = lib.rand_like({name})", f"$ = {name} * lib.rand(())",
        f"$ = lib.nn.functional.dropout({name}, 0.5)", f"$ = lib.randn({name}.shape) + {name}",
        "$ = lib.randint(0, 5, (4,))", "$ = lib.randperm(4)", f"$ = lib.bernoulli({name}.sigmoid())", f"$ = lib.poisson({name}.abs())",
        f"{name}.uniform_()", f"{name}.normal_()", f"{name}.bernoulli_(0.5)", "$ = lib.rand(k + 1)"])


def host(w):
    name = w.real()
    return name and f"$ = {name} " + w.random.choice([
        "* scale", "+ numbers[1]", "* table['k']", "- holder.factor", "+ holder.shown", "* read()", "+ len(numbers)",
        "* (2 if flag else -1)", "+ getattr(holder, 'extra', 1.0)", "* sum(numbers)",
        "+ array[1]", "* (3 if state.training else 1)", "+ float(array.sum())", "* max(table.values())",
        "+ (lambda: scale)()", "* [n * 2 for n in numbers][1]", "+ vars(holder).get('factor', 0.5)"])


def host_data(w):
    return "$ = " + w.random.choice([
        "lib.tensor(numbers)", "lib.tensor([scale, 2.0])", "lib.tensor(array)", "lib.tensor(3.0)", "lib.tensor(scale)",
        "lib.full((4,), scale)", "lib.arange(4.0)", "lib.zeros(3)", "lib.ones(2, 3)",
        "lib.tensor(np.arange(4, dtype=np.float32))", "lib.tensor([[1, 2, 3], [4, 5, 6]])",
        "lib.tensor(np.float64(2.5))", "lib.from_numpy(array) * 1", "lib.as_tensor(array) + 0",
        "lib.tensor(array[1:])", "lib.eye(3)",
        "lib.tensor([k, 1])", "lib.arange(k + 2)", "lib.full((k, 2), 0.5)", "lib.linspace(0, 1, 4)"])


def capture(w):
    return "$ = " + w.random.choice(["captured * 1", "captured", "captured[1]", "state.weight", "state.weight * 2",
        "state.frozen", "state.buffer", "state.buffer.t()", "state.passing + 1", "captured.t()",
        "state.weight.detach()"])


def write_captured(w):
    name = w.real()
    return w.random.choice(["captured.mul_(0.5)", "captured[0].add_(1)", "state.buffer.add_(1)",
        "state.buffer[1] = 0.5", "state.passing.copy_(state.passing * 2)", "captured.t()[0].sin_()",
                            f"captured.copy_({name}.sum())" if name else "captured.neg_()",
                            "state.buffer.copy_(captured)"])


def read(w):
    name = w.real()
    return name and w.random.choice([
        f"$ = {name} * float({name}.sum())", f"$ = {name} if {name}.sum() > 0 else -{name}", f"$ = {name} + {name}.mean().item()",
        f"$ = {name} * captured.tolist()[0][1]", f"$ = {name} + float(state.buffer[1, 0])", f"$ = {name} * float(captured.numpy()[1, 1])",
        f"$ = {name} * (2 if captured.sum() > 0 else 3)", f"$ = {name} + int(captured.abs().max())"])


def without_gradient(w):
    inner = w.random.choice([compute, view, write])(w)
    return inner and f"with lib.no_grad():\n    {inner}"


KINDS = {
    "view": Kind(view, 10), "compute": Kind(compute, 8), "registry": Kind(of_the_registry, 4), "write": Kind(write, 7),
    "draw": Kind(draw, 3), "host": Kind(host, 3), "host data": Kind(host_data, 2),
    "captured": Kind(capture, 2), "writes captured": Kind(write_captured, 1), "read": Kind(read, 1), "no_grad": Kind(without_gradient, 2)}


def failing(w):
    """A line that is refused, as it stands or behind a write."""
    name, r = w.pick(), w.random
    wrong = r.choice([
        f"{name}.narrow(0, 3, 99)", f"{name}.view(7, 11)", f"{name}.select(9, 0)", f"{name} + lib.zeros(17)",
        f"lib.cat([{name}, lib.zeros(2, 9, 9, 9, 9)])", f"{name}.unsqueeze(0).expand(2, 99, 99, 99, 99)",
        f"{name}.transpose(0, 7)", f"{name}.reshape(13, -1)", "lib.zeros(2, 3) @ lib.zeros(2, 3)",
        f"{name}.squeeze(8)", f"{name}[99]", f"{name}.copy_(lib.zeros(23))", f"{name}.nothing_of_that_name()",
        f"{name}.sum(5)", f"{name}.index_select(0, lib.tensor([99]))", "lib.zeros(1).expand(3).add_(1)",
        f"{name} & 1.5", f"lib.zeros(3)[{name}.shape[0] + 5]", "{}['missing']", "[][1]", "1 // 0",
        f"lib.tensor([1, 2]).requires_grad_() + {name}", "lib.tensor([0.5, 1.0]).softmax(4)"])
    target = w.pick(lambda tensor: tensor.dtype.is_floating_point)
    return (f"{target}.add_(1)\n" if target and r.random() < 0.6 else "") + f"$ = {wrong}"
