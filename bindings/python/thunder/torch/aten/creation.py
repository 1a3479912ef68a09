"""New tensors. Their dtypes and devices are those that torch found: defaults are its own."""
from .._rows import op, row, type_of


def _filled(number):
    def made(like, size, **kind):
        return op["full"](list(size), number, *type_of(like))
    return made


def _filled_like(number):
    def made(like, self, **kind):
        return op["full"](list(self.shape), number, *type_of(like))
    return made


def _new(number):
    def made(like, self, size, *stride, **kind):
        return op["full"](list(size), number, *type_of(like))
    return made


for _name, _number in (("zeros", 0), ("ones", 1), ("empty", 0)):  # what torch leaves as memory was is zero here
    row(_name, results=True)(_filled(_number))
    row(f"{_name}_like", results=True)(_filled_like(_number))
    row(f"new_{_name}", results=True)(_new(_number))
row("new_empty_strided", results=True)(_new(0))


@row("empty_strided", "empty_permuted", results=True)
def empty_strided(like, size, stride, **kind):
    return op["full"](list(size), 0, *type_of(like))


@row("full", results=True)
def full(like, size, fill_value, **kind):
    return op["full"](list(size), fill_value, *type_of(like))


@row("full_like", results=True)
def full_like(like, self, fill_value, **kind):
    return op["full"](list(self.shape), fill_value, *type_of(like))


@row("new_full", results=True)
def new_full(like, self, size, fill_value, **kind):
    return op["full"](list(size), fill_value, *type_of(like))


@row("scalar_tensor", results=True)
def scalar_tensor(like, s, **kind):
    return op["full"]([], s, *type_of(like))


@row("arange", results=True)
def arange(like, end, **kind):
    return op["arange"](0, end, 1, *type_of(like))


@row("arange.start", "arange.start_step", results=True)
def arange_from(like, start, end, step=1, **kind):
    return op["arange"](start, end, step, *type_of(like))


@row("prims.iota", results=True)
def iota(like, length, start=0, step=1, **kind):
    return op["arange"](0, length, 1, *type_of(like)) * step + start


@row("linspace", results=True)
def linspace(like, start, end, steps, **kind):
    return op["linspace"](start, end, steps, *type_of(like))


@row("eye", results=True)
def eye(like, n, m=None, **kind):
    return op["eye"](n, m, *type_of(like))
