"""Random programs: the text of a module with a function, the arguments that it is called with, what it captures and what of the host it
reads. Our package and PyTorch both run it, as `lib`."""
import functools
import itertools
import random
import sys
import types
import typing

import numpy as np

import lines

SIZES, PLACES = (4, 6, 5, 4), (1, 2, 3,
    1)  # of each call, where they vary: the size of the first argument, and an integer

HOST = '''
scale, flag, numbers, table = 0.5, True, [1.0, -2.0, 0.5, 3.0], {"k": 2, "x": -1.5}
array = np.array([0.5, -1.0, 2.0, 1.5], np.float32)


class Holder:
    factor = 2.0

    @property
    def shown(self):
        return self.factor + 1


class State(lib.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = lib.nn.Parameter(lib.tensor([0.5, -1.0, 1.5, 0.25]))
        self.frozen = lib.nn.Parameter(lib.tensor([2.0, -0.5, 1.0]), requires_grad=False)
        self.register_buffer("buffer", lib.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
        self.register_buffer("passing", lib.tensor([0.5, 0.75]), persistent=False)


def closure(inner):
    def read():
        return inner

    def change(value):
        nonlocal inner
        inner = value
    return read, change


holder, state = Holder(), State()
captured = lib.tensor([[0.5, 1.0, -1.0], [2.0, 0.25, -0.5]])
read, change = closure(1.25)
'''

CHANGE = '''
scale, flag, holder.factor, holder.extra, table["k"], numbers[1] = -0.75, False, 3.0, 0.5, 3, 4.0
numbers.append(2.5)
array[1] = 7.0
change(-2.0)
state.eval()
'''


class Argument(typing.NamedTuple):
    """A tensor among the arguments: the text of its shape, where n is the size that varies, its dtype, how it lies, and its gradient."""
    shape: str
    dtype: str = "float32"
    layout: str = "{}"
    grad: bool = False

    @property
    def text(self):
        made = f"of(({self.shape}), {self.dtype!r})"
        return self.layout.format(made) + (".requires_grad_()" if self.grad else "")


# How an argument lies: dense, turned, every second element, behind others.
LAYOUTS = ["{}"] * 4 + ["{}.t().contiguous().t()", "lib.stack([{0}, {0}], -1)[..., 0]", "lib.cat([{0}, {0}])[-n:]"]

ARGUMENTS = '''
def arguments(n, k, seed):
    random = np.random.default_rng(seed)

    def of(shape, dtype):
        drawn = random.standard_normal(shape) if dtype.startswith("float") else random.integers(-4, 5, shape)
        return lib.tensor(drawn.astype(dtype))
    return {}, k
'''


_NUMBERS = itertools.count()


@functools.lru_cache(16)
def _code(text):
    return compile(text, "program.py", "exec")


class Program:
    """Arguments, lines of (kind, text), and the names that are returned."""

    def __init__(self, arguments, body, results, fails=False):
        self.arguments, self.body, self.results, self.fails = arguments, body, results, fails

    @property
    def kinds(self):
        """What its lines do: the keys of lines.KINDS."""
        return {kind for kind, _ in self.body}

    @property
    def precision(self):
        """Of its results: that of the narrowest dtype that it computes in."""
        texts = [argument.dtype for argument in self.arguments] + [text for _, text in self.body]
        return "float16" if any("half()" in text or text == "float16" for text in texts) else "float32"

    def text(self, library="thunder"):
        names = [f"i{at}" for at in range(len(self.arguments))]
        made = ARGUMENTS.format(", ".join(argument.text for argument in self.arguments))
        body = "".join(f"    {line}\n" for _, text in self.body for line in text.splitlines())
        return (f"import numpy as np\nimport {library} as lib\n{HOST}\n{made}\n\ndef program({', '.join(names)}, k):\n{body}"
                f"    return {', '.join(self.results)},\n")

    def module(self, library):
        """A fresh namespace with all of it, that of a module which is there by its name, as Dynamo wants it."""
        name = f"program_{next(_NUMBERS)}"
        sys.modules.pop(f"program_{int(name[8:]) - 8}", None)
        module = sys.modules[name] = types.ModuleType(name)
        exec(_code(self.text(library.__name__)), vars(module))
        return vars(module)


class Writer:
    """Writes a program line by line, each of which is tried in every size before it is kept."""

    def __init__(self, seed, libraries, count):
        self.random = random.Random(seed)
        self.libraries, self.known, self.body = libraries, [], []
        self.arguments = [self._argument(at) for at in range(self.random.randint(1, 3))]
        self.worlds = [self._world(library, at) for library in libraries for at in range(len(SIZES) - 1)]
        self.known = [f"i{at}" for at in range(len(self.arguments))]
        tries = 0
        while len(self.body) < count and tries < 10 * count:
            tries += 1
            kind = self.random.choices(list(lines.KINDS), [row.weight for row in lines.KINDS.values()])[0]
            self.attempt(kind, lines.KINDS[kind].write(self))

    def _argument(self, at):
        shape = "n, 3" if at == 0 else self.random.choice(["n, 3", "4,", "2, 3", "3, 4", "2, 3, 4"])
        layouts = LAYOUTS if shape == "n, 3" else LAYOUTS[:4]
        dtype = self.random.choices(["float32", "float64", "int64", "float16"], [6, 1, 1, 1])[0]
        return Argument(shape, dtype, self.random.choice(layouts), dtype != "int64" and self.random.random() < 0.6)

    def _world(self, library, at):
        names = Program(self.arguments, [], ["0"]).module(library)
        *tensors, k = names["arguments"](SIZES[at], PLACES[at], 0)
        with library.no_grad():
            return names | {f"i{number}": tensor.detach().clone() for number, tensor in enumerate(tensors)} | {"k": k}

    # ---- what the kinds of lines ask ----

    def of(self, name):
        """The tensor, in the first size."""
        return self.worlds[0][name]

    def pick(self, wanted=lambda tensor: True):
        """The name of a tensor, of later ones rather; None where there is none."""
        names = [name for name in self.known if wanted(self.of(name))]
        return self.random.choice(names[-6:] if self.random.random() < 0.7 else names) if names else None

    def real(self):
        return self.pick(lambda tensor: tensor.dtype.is_floating_point)

    def like(self, name):
        """One of the same shape."""
        shape = self.of(name).shape
        return self.pick(lambda tensor: tensor.shape == shape and tensor.dtype.is_floating_point)

    # ---- lines ----

    def attempt(self, kind, text):
        """Keeps a line that all sizes take; of a value, not of a write, as a new name."""
        if text is None:
            return False
        name = f"v{len(self.known)}"
        text = text.replace("$", name)
        for world in self.worlds:
            try:
                with np.errstate(all="ignore"):
                    exec(text, world)
            except Exception:
                return False
        made = self.worlds[0].get(name)
        if made is not None:
            if not hasattr(made, "data_ptr") or made.numel() > 150 or made.ndim > 4:
                return False
            self.known.append(name)
        self.body.append((kind, text))
        return True

    def failing(self):
        """A last line that no size takes; whether one was found."""
        for _ in range(20):
            text = lines.failing(self)
            try:
                exec((text or "0").replace("$", "failed"), dict(self.worlds[0]))
            except Exception:
                self.body.append(("fails", text.replace("$", "failed")))
                return True
        return False


def program_of(seed, libraries):
    """The program of a seed: one in eight ends in a line that fails, unless it reads values: segments keep what those before it wrote."""
    writer = Writer(seed, libraries, 4 + seed % 7)
    fails = seed % 8 == 7 and all(kind != "read" for kind, _ in writer.body) and writer.failing()
    later = writer.known[len(writer.arguments):]
    results = writer.random.sample(later, min(len(later), 3))
    if writer.random.random() < 0.25 or not results:
        results.append(writer.random.choice(writer.known))
    if fails:
        results.append("failed")
    return Program(writer.arguments, writer.body, results, fails)
