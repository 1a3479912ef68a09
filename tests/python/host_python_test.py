"""The second table of docs/compiled-functions.md: what of Python's own a compiled function sees. Each row is programs here, and is written from
what they show: host_python_test.py --write."""
import array
import collections
import contextlib
import contextvars
import functools
import itertools
import os
import pathlib
import queue
import random
import sys
import threading
import time
import types
import unittest
import warnings
import weakref

import numpy as np

import thunder as th

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "compiled-functions.md"
HEAD = "| what of Python's own the function reads | seen |\n|---|---|\n"


class Holder:
    shared = 2

    def __init__(self, factor=2):
        self.factor, self.table = factor, {"hidden": factor}

    @property
    def twice(self):
        return 2 * self.factor

    def __getattr__(self, name):
        return self.table[name]

    def __enter__(self):
        return self.factor

    def __exit__(self, *error):
        pass

    def scaled(self, table, x):
        return x * table["a"]


class Inner(Holder):
    def read(self):
        return super().shared


class Descriptor:
    def __init__(self):
        self.factor = 2

    def __get__(self, owner, cls=None):
        return self.factor


class Subclass(list):
    pass


def how(f, change):
    """Whether a change is seen at the next call, or what is said at the first one."""
    compiled = th.compile(f)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            before = compiled(th.ones(2)).tolist()
            compiled(th.ones(3))
        except (TypeError, th.Error):
            return "error"
    told = [str(one.message) for one in said if "sharp_edges" in str(one.message)]
    if told:
        try:
            th.compile(f, sharp_edges="error")(th.ones(2))
        except th.Error:
            return "a warning" if len(told) == 1 else f"{len(told)} warnings"
        return "a warning, and no error"
    change()
    after = compiled(th.ones(2)).tolist()
    return "guarded" if after != before and after == f(th.ones(2)).tolist() else "never"


def namespaces():
    space, local = types.SimpleNamespace(a=2), threading.local()
    local.a = 2
    yield lambda x: x * space.a, lambda: setattr(space, "a", 5)
    yield lambda x: x * local.a, lambda: setattr(local, "a", 5)


def views():
    table = {"a": 2}
    proxy, values, chain, own = types.MappingProxyType(table), table.values(), collections.ChainMap({}, table), collections.UserDict(a=2)
    for f in (lambda x: x * proxy["a"], lambda x: x * sum(values), lambda x: x * chain["a"]):
        yield f, lambda: table.update(a=table["a"] + 1)
    yield lambda x: x * own["a"], lambda: own.update(a=5)


def queues():
    items, line = collections.deque([2]), queue.Queue()
    yield lambda x: x * items[0], lambda: items.appendleft(5)
    yield lambda x: x * (1 + line.qsize()), lambda: line.put(1)


def numbers():
    for holder in (array.array("i", [2]), bytearray([2])):
        yield lambda x, holder=holder: x * holder[0], lambda holder=holder: holder.__setitem__(0, 5)
    elements = bytearray([2])
    view = memoryview(elements)
    yield lambda x: x * view[0], lambda: elements.__setitem__(0, 5)


def of_context():
    variable = contextvars.ContextVar("variable", default=2)
    yield lambda x: x * variable.get(), lambda: variable.set(5)


def weak():
    holder = Holder()
    reference, by_name, proxy = weakref.ref(holder), weakref.WeakValueDictionary(a=holder), weakref.proxy(holder)
    for f in (lambda x: x * reference().factor, lambda x: x * by_name["a"].factor, lambda x: x * proxy.factor):
        yield f, lambda: setattr(holder, "factor", holder.factor + 1)


def deep():
    innermost = {"a": 2}
    outer = functools.reduce(lambda inside, _: {"in": inside}, range(6), innermost)
    yield lambda x: x * outer["in"]["in"]["in"]["in"]["in"]["in"]["a"], lambda: innermost.update(a=5)


def attributes():
    items, tensor = Subclass([1]), th.ones(1)
    items.factor = tensor.factor = 2
    yield lambda x: x * items.factor, lambda: setattr(items, "factor", 5)
    yield lambda x: x * tensor.factor, lambda: setattr(tensor, "factor", 5)


def members():
    inner, holder, descriptor = Inner(), Holder(), Descriptor()
    with_descriptor = type("WithDescriptor", (), {"factor": descriptor})()
    meta = type("Meta", (type,), {"factor": 2})
    made = meta("Made", (), {})
    yield lambda x: x * inner.read(), lambda: setattr(Holder, "shared", Holder.shared + 1)
    yield lambda x: x * holder.twice, lambda: setattr(holder, "factor", 5)
    yield lambda x: x * holder.hidden, lambda: holder.table.update(hidden=5)
    yield lambda x: x * with_descriptor.factor, lambda: setattr(descriptor, "factor", 5)
    yield lambda x: x * made.factor, lambda: setattr(meta, "factor", 5)


def calls():
    table, holder = {"a": 2}, Holder()

    @contextlib.contextmanager
    def opened():
        yield table["a"]

    def in_opened(x):
        with opened() as factor:
            return x * factor

    def in_holder(x):
        with holder as factor:
            return x * factor

    def decorated(x):
        return x * table["a"]
    method = type("Partial", (Holder,), {"scaled_by": functools.partialmethod(Holder.scaled, table)})()

    @functools.singledispatch
    def dispatched(value):
        return 2
    partial, wrapped = functools.partial(lambda given, x: x * given["a"], table), functools.wraps(decorated)(lambda x: decorated(x) + 1)
    for f in (in_opened, wrapped, lambda x: partial(x), lambda x: method.scaled_by(x), lambda x: sum(map(lambda key: x * table[key], ["a"])),
              lambda x: th.grad(lambda y: (y * table["a"]).sum())(x)):
        yield f, lambda: table.update(a=table["a"] + 1)
    yield in_holder, lambda: setattr(holder, "factor", 5)
    yield lambda x: x * dispatched(1), lambda: dispatched.register(int)(lambda value: 5)


def environment():
    os.environ["THUNDER_TEST_OF_THE_HOST"] = "2"
    name, variables, get = "THUNDER_TEST_OF_THE_HOST", os.environ, os.getenv
    for f in (lambda x: x * int(os.environ[name]), lambda x: x * int(os.getenv(name)), lambda x: x * int(variables[name]), lambda x: x * int(get(name))):
        yield f, lambda: os.environ.update(THUNDER_TEST_OF_THE_HOST=os.environ["THUNDER_TEST_OF_THE_HOST"] + "0")


def elements():
    tensor, half = th.tensor([2.0]), th.tensor([2.0], dtype=th.bfloat16)
    for f in (lambda x: x * tensor.item(), lambda x: x * float(tensor), lambda x: x * tensor.tolist()[0], lambda x: x * (3 if int(tensor) % 2 else 1),
              lambda x: x * float(half), lambda x: x * float(tensor.numpy()[0]), lambda x: x * memoryview(tensor)[0],
              lambda x: x * float(np.from_dlpack(tensor)[0])):
        yield f, lambda: (tensor.add_(1), half.add_(1))


def written_arrays():
    one, other, tensor = np.ones(2), np.ones((2, 3)), th.ones(2)

    def shown(x):
        array = tensor.numpy()
        tensor.add_(1)
        return x * float(array[0])
    yield shown, lambda: None

    def writes(x):
        one[0] += 1
        return x * one[0]
    yield writes, lambda: None

    def later(x):
        made = th.tensor(other)
        other[:, 1] = 5
        return x * made.sum()
    yield later, lambda: None


def iterators():
    cycle = itertools.cycle([2, 5])
    yield lambda x: x * next(cycle), lambda: None


def clocks():
    yield lambda x: x * time.time(), lambda: None
    yield lambda x: x * random.random(), lambda: None
    yield lambda x: x * random.uniform(1, 2) * time.monotonic(), lambda: None  # is told once a function
    yield lambda x: x * len(os.listdir("/")), lambda: None
    yield lambda x: x * len(globals()), lambda: None
    yield lambda x: x * sys.getrecursionlimit(), lambda: None


ROWS = {
    "`SimpleNamespace`, `threading.local`": namespaces,
    "`MappingProxyType`, `dict.values()`, `ChainMap`, `UserDict`": views,
    "`deque`, `queue.Queue`": queues,
    "`array`, `bytearray`, `memoryview`": numbers,
    "`ContextVar`": of_context,
    "`weakref.ref`, `weakref.proxy`, `WeakValueDictionary`": weak,
    "containers in containers in containers": deep,
    "attributes of tensors and of classes made of `list`": attributes,
    "`super()`, properties, descriptors, `__getattr__`, attributes of metaclasses": members,
    "what context managers, decorators, `partial`, `partialmethod`, `singledispatch` and callbacks read": calls,
    "`os.environ`, `os.getenv`": environment,
    "numbers that it reads of captured tensors: `item()`, `float()`, `tolist()`, `numpy()`": elements,
    "an array of numpy that it writes, or of a tensor that it writes": written_arrays,
    "an iterator": iterators,
    "the clock, `random`, files, `globals()`, settings of the process": clocks,
}


def table():
    rows = []
    for what, programs in ROWS.items():
        seen = {how(f, change) for f, change in programs()}
        rows.append(f"| {what} | {' or '.join(sorted(seen))} |\n")
    return HEAD + "".join(rows)


def parts():
    """The page before the table, the table and what is behind it."""
    text = PAGE.read_text(encoding="utf-8")
    start = text.index(HEAD)
    end = text.index("\n\n", start) + 1
    return text[:start], text[start:end], text[end:]


class Table(unittest.TestCase):
    def test_is_what_happens(self):
        self.assertEqual(parts()[1], table())

    def test_nothing_is_missed(self):
        self.assertNotIn("never", table())


class Warnings(unittest.TestCase):
    def told(self, f, **options):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            compiled = th.compile(f, **options)
            compiled(th.ones(2)), compiled(th.ones(3))
        return [(str(one.message), one.filename, one.lineno) for one in said]

    def test_name_what_is_read_once_and_its_line(self):
        def timed(x):
            return x * time.time()
        (text, file, line), = self.told(timed)
        self.assertEqual((file, line), (__file__, timed.__code__.co_firstlineno + 1))
        self.assertRegex(text, r"sharp_edges: time\.time\(\) is called once, while the function is traced")
        self.assertEqual(self.told(timed, sharp_edges="allow"), [])

    def test_say_nothing_of_what_is_written_or_not_called(self):
        def printed(x):
            if x.shape[0] == 7:
                time.time()
            print(end="")
            return x * len(os.path.join("a", "b"))
        self.assertEqual(self.told(printed), [])


if __name__ == "__main__":
    if "--write" in sys.argv:
        before, _, behind = parts()
        PAGE.write_text(before + table() + behind, encoding="utf-8")
    else:
        unittest.main()
