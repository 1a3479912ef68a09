"""The smoke program in Python, over SWIG: smoke.py MODEL.safetensors DIGITS.csv"""
import concurrent.futures
import sys

import thunder_swig as th

MODEL, CSV = sys.argv[1:]


class Mine(Exception):
    def __init__(self, message, number):
        super().__init__(message)
        self.number = number


def show(label, *values):
    def words(value):
        if isinstance(value, list):
            return [word for element in value for word in words(element)]
        return [f"{value:.4f}" if isinstance(value, float) else str(value)]
    print(label, *words(list(values)))


x = th.tensor([[1.0, 2.0], [3.0, 4.0]])
show("operators", (x * 2 + 1 - x / 2).tolist())
show("negated", (-x).tolist())
show("reversed", (2 - x).tolist())
show("matmul", (x @ x).tolist())
show("named", x.sum(dim=1).tolist())
show("ops", sum(1 for row in th.describe("ops") if getattr(th, row["name"]).__doc__))
show("integers", th.tensor([2**63 - 1, -2**63, 2**53 + 1]).tolist())

f = th.compile(lambda a: (a.matmul(a) + 1).relu().sum())
show("compiled", f(x).item(), f(x).item(), "misses", f.stats()["misses"])
show("gradient", f.value_and_grad()(x)[1].tolist())

try:
    x.matmul(th.tensor([[1.0, 2.0, 3.0]]))
except th.Error as e:
    show("error", e.code, str(e))
try:
    th.compile(lambda a: a.matmul(th.ones([3, 3])))(x)
except th.Error as e:
    show("traced error", e.code)


def fails(a):
    raise Mine("mine", 42)


try:
    th.compile(fails)(x)
except Mine as e:
    show("raised", str(e), e.number)

row = th.compile(lambda a, n: (a * n).sum())
with concurrent.futures.ThreadPoolExecutor(4) as threads:
    show("threads", list(threads.map(lambda n: row(x, n).item(), [1.0, 2.0, 3.0, 4.0])))

# The gradient is twice what it should be, which shows whose it is.
th.add_op("square_plus(tensor x, float c=1.0) -> tensor", "x * x + c.", lambda a, c: a * a + c,
          vjp=lambda args, results, cotangents, wanted: [cotangents[0] * args[0] * 4])
own = th.compile(lambda a: a.square_plus().sum())
show("own op", x.square_plus().tolist(), "gradient", own.value_and_grad()(x)[1].tolist())

net = th.Module("Sequential").add(0, th.Module("Linear", 64, 32)).add(1, th.Module("ReLU")).add(2, th.Module("Linear", 32, 10))
net.load(MODEL)
rows = th.read_csv(CSV)
images = rows.slice(dim=1, start=0, end=64) / 16
labels = rows.slice(dim=1, start=64, end=65).squeeze(1).to("i64")
found = th.compile(lambda batch: net(batch).argmax(-1))(images)
show("digits", found.eq(labels).sum().item(), "of", images.shape[0], "first", found.tolist()[:10])
show("relu", th.relu.__doc__.splitlines()[1])
