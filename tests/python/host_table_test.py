"""The table of docs/compiled-functions.md: what of the host a compiled function sees. Each row of its Python column is a program here."""
import collections
import pathlib
import unittest

import thunder as th
from thunder import nn

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "compiled-functions.md"
factor, calls = 2.0, 0


def helper(x):
    return x * 2


class Holder:
    def __init__(self):
        self.factor = 2

    def scaled(self, x):
        return x * 3


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.factor = nn.Identity(), 2

    def forward(self, x):
        return self.inner(x) * self.factor


def seen(f, change, reference=None):
    """How a change is seen: "guarded" or "live"."""
    x, compiled = th.ones(2), th.compile(f)
    before = compiled(x).tolist()
    change()
    after = compiled(x).tolist()
    if after == before or after != (reference or f)(x).tolist():
        return "never"
    return "guarded" if th.stats(compiled)["misses"] == 2 else "live"


def written(f, read):
    """How what f writes is seen by read(): after two calls as after two of the function itself?"""
    compiled = th.compile(f)
    try:
        compiled(th.ones(2))
        compiled(th.ones(2) * 2)
    except (th.Error, TypeError):
        return "error"
    return "each call" if read() else "once"


def elements():
    w = th.ones(2)
    return seen(lambda x: x * w, lambda: w.fill_(3))


def float_argument():
    f = th.compile(lambda x, s: x * s)
    results = [f(th.ones(1), s).item() for s in (0.5, 0.25)]
    return "live" if results == [0.5, 0.25] and th.stats(f)["misses"] == 1 else "guarded"


def training():
    net = nn.Sequential(nn.Dropout(1.0))
    return seen(net, net.eval)


def members():
    net = Net()
    return seen(net, lambda: setattr(net, "inner", nn.Threshold(9, 7)))


def options():
    layer = nn.LeakyReLU(0.5)
    return seen(lambda x: layer(-x), lambda: setattr(layer, "negative_slope", 0.1))


def hooks():
    net = Net()
    return seen(net, lambda: net.inner.register_forward_hook(lambda module, args, output: output + 1))


def attributes():
    net = Net()
    return seen(net, lambda: setattr(net, "factor", 5))


def captured():
    value = 2

    def change():
        nonlocal value
        value = 5
    return seen(lambda x: x * value, change)


def a_global():
    return seen(lambda x: x * factor, lambda: globals().update(factor=factor + 1))


def defined_again():
    before = globals()["helper"]
    hows = {seen(lambda x: helper(x), lambda: globals().update(helper=lambda x: x * 9))}
    globals()["helper"] = before
    holder, method = Holder(), Holder.scaled
    hows.add(seen(lambda x: holder.scaled(x), lambda: setattr(Holder, "scaled", lambda self, x: x * 9)))
    Holder.scaled = method
    return " and ".join(sorted(hows))


def contents():
    table, numbers, names = {"k": 2}, [1, 2], {1}
    queue = collections.deque([1, 2])
    hows = {seen(lambda x: x * sum(queue), lambda: queue.append(5)), seen(lambda x: x * table["k"], lambda: table.update(k=5)), seen(lambda x: x * sum(numbers), lambda: numbers.append(5)),
            seen(lambda x: x * len(names), lambda: names.add(5))}
    return " and ".join(sorted(hows))


def of_objects():
    holder = Holder()
    return seen(lambda x: x * holder.factor, lambda: setattr(holder, "factor", 5))


def assigned():
    log, table, net = [], {}, Net()

    def f(x):
        log.append(x)
        table["x"], net.last = x * 1, x * 1
    return written(f, lambda: len(log) == 2 and table["x"].tolist() == [2, 2] and net.last.tolist() == [2, 2])


def made():
    f = th.compile(lambda x: th.tensor([0.0]).add_(x) * 1)
    return "each call" if [f(th.ones(1)).item() for _ in range(2)] == [1, 1] else "once"


def put_elsewhere():
    queue = collections.deque()
    return written(lambda x: queue.append(x), lambda: len(queue) == 2)


def counted():
    def f(x):
        global calls
        calls += 1
    return written(f, lambda: calls == 2)


def seeded():
    return written(lambda x: th.seed(3), lambda: True)


def printed():
    times = []
    return written(lambda x: times.append("printed"), lambda: len(times) == 2)


PROGRAMS = {
    "elements of captured tensors": elements, "a float argument": float_argument, "`train()`": training, "members and parameters": members,
    "options of layers": options, "hooks": hooks, "attributes of a module": attributes, "captured variables": captured, "globals": a_global,
    "functions and methods that are defined again": defined_again, "what lists, dicts, sets": contents, "attributes of objects": of_objects,
    "tensors that it assigns": assigned, "tensors that it makes": made, "tensors that it puts elsewhere": put_elsewhere, "numbers that it counts": counted, "`seed()`": seeded,
    "files, the clock": printed,
}


class Table(unittest.TestCase):
    def test_is_what_happens(self):
        text = PAGE.read_text(encoding="utf-8")
        rows = [line for line in text[text.index("| what the function uses |"):].split("\n\n")[0].splitlines()[2:]]
        told = {}
        for row in rows:
            what, python = (cell.strip() for cell in row.split("|")[1:3])
            name = [name for name in PROGRAMS if what.startswith(name)]
            self.assertEqual(len(name), 1, what)
            told[name[0]] = python
        self.assertEqual(told, {name: program() for name, program in PROGRAMS.items()})


if __name__ == "__main__":
    unittest.main()
