"""New tensors. Their dtypes and devices are those that torch found: defaults are its own."""
from .._rows import op, row, type_of


def _filled(number):
    def made(node, size, **kind):
        return op["full"](list(size), number, *type_of(node))
    return made


def _filled_like(number):
    def made(node, self, **kind):
        return op["full"](list(self.shape), number, *type_of(node))
    return made


def _new(number):
    def made(node, self, size, *stride, **kind):
        return op["full"](list(size), number, *type_of(node))
    return made


for _name, _number in (("zeros", 0), ("ones", 1), ("empty", 0)):  # what torch leaves as memory was is zero here
    row(_name, node=True)(_filled(_number))
    row(f"{_name}_like", node=True)(_filled_like(_number))
    row(f"new_{_name}", node=True)(_new(_number))
row("new_empty_strided", node=True)(_new(0))


@row("empty_strided", "empty_permuted", node=True)
def empty_strided(node, size, stride, **kind):
    return op["full"](list(size), 0, *type_of(node))


@row("full", node=True)
def full(node, size, fill_value, **kind):
    return op["full"](list(size), fill_value, *type_of(node))


@row("full_like", node=True)
def full_like(node, self, fill_value, **kind):
    return op["full"](list(self.shape), fill_value, *type_of(node))


@row("new_full", node=True)
def new_full(node, self, size, fill_value, **kind):
    return op["full"](list(size), fill_value, *type_of(node))


@row("scalar_tensor", node=True)
def scalar_tensor(node, s, **kind):
    return op["full"]([], s, *type_of(node))


@row("arange", node=True)
def arange(node, end, **kind):
    return op["arange"](0, end, 1, *type_of(node))


@row("arange.start", "arange.start_step", node=True)
def arange_from(node, start, end, step=1, **kind):
    return op["arange"](start, end, step, *type_of(node))


@row("prims.iota", node=True)
def iota(node, length, start=0, step=1, **kind):
    return op["arange"](0, length, 1, *type_of(node)) * step + start


@row("linspace", node=True)
def linspace(node, start, end, steps, **kind):
    return op["linspace"](start, end, steps, *type_of(node))


@row("eye", node=True)
def eye(node, n, m=None, **kind):
    return op["eye"](n, m, *type_of(node))
