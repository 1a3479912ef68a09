"""Nothing is left over by calls, and the interpreter may end at any time; what is known of memory and threads."""
import gc
import subprocess
import sys
import unittest

import numpy as np
import thunder as th
from thunder import nn

MANY = 300


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        return self.fc(x)


class Raising(nn.Module):
    def forward(self, x):
        raise ValueError("no")


def raise_it(x):
    raise ValueError("no")


def refused(function, *args, **named):
    try:
        function(*args, **named)
    except (th.Error, TypeError, ValueError, IndexError):
        return
    raise AssertionError("it was not refused")


class Statistics(unittest.TestCase):
    def test_what_torch_cuda_says_of_memory_is_said_of_the_cpu_too(self):
        held = th.zeros(100000)
        self.assertGreaterEqual(th.cuda.memory_allocated("cpu"), 400000)
        self.assertGreaterEqual(th.cuda.max_memory_allocated("cpu"), th.cuda.memory_allocated("cpu"))
        del held
        gc.collect()
        th.cuda.empty_cache("cpu")
        th.cuda.reset_peak_memory_stats("cpu")
        stats = th.cuda.memory_stats("cpu")
        self.assertEqual(stats["reserved_bytes"], stats["allocated_bytes"])
        self.assertEqual(stats["max_allocated_bytes"], stats["allocated_bytes"])
        self.assertEqual(stats["max_reserved_bytes"], th.cuda.max_memory_reserved(th.device("cpu")))
        th.cuda.synchronize("cpu")
        with self.assertRaises(th.Error):
            th.cuda.memory_stats("cuda:63")


class Blocks(unittest.TestCase):
    def setUp(self):
        self.x, self.array = th.ones(4, 4), np.ones((4, 4), np.float32)
        self.tree = th.compile(lambda d, *, k: {"a": d["x"] * k, "b": [d["y"], (d["x"], None, "text")]})
        self.net, self.gradients = Net(), th.value_and_grad(lambda x, y: (x * y).sum(), argnums=(0, 1))

    @staticmethod
    def extended():
        mine = th.executor("mine_py")
        mine.implements("exp")(lambda x: x.numpy() * 2)
        double = th.Pass("double_py", lambda trace: [line.replace(lambda y: y.exp() * 2) for line in trace if line.op == "exp"], before="grad")
        return th.compile(lambda x: x.exp() + mine.name.count("m"), executors=[mine], passes=[double])  # a cycle

    def cases(self):
        x, array, tree, net, kernel = self.x, self.array, self.tree, self.net, self.extended()
        yield "a tree", lambda: tree({"x": x, "y": 1.5}, k=2)
        yield "arrays", lambda: (tree({"x": array, "y": 1.5}, k=2), th.relu(array), th.cat([array, array]), array + x)
        yield "buffers", lambda: (np.asarray(x), th.from_numpy(array), th.from_numpy(array[::-1]), th.from_dlpack(array), memoryview(x))
        yield "ops", lambda: (x.sum(dim=[0, 1], keepdim=True), x.split(2), x[[0, 1], 1:], x.view(2, 8), -x // 2)
        yield "modules", lambda: (net(x), net.state_dict(), Net(), nn.Sequential(Net())(x))
        yield "gradients", lambda: self.gradients(x, x)
        yield "compiling", lambda: th.compile(lambda y: y + 1)(x)
        yield "refused arguments", lambda: (refused(tree, object(), k=1), refused(th.softmax, x, dmi=1), refused(th.sum, x, dim="x"),
                                            refused(th.full, [2], object()), refused(nn.Linear, 1), refused(x.view, 7))
        yield "exceptions inside", lambda: (refused(th.compile(raise_it), x), refused(nn.Sequential(Raising()), x))
        yield "executors and passes", lambda: self.extended()(x)
        yield "kernels", lambda: kernel(x)
        yield "refused ops inside", lambda: refused(th.compile(lambda y: th.matmul(y, y[0, :2])), x)

    def test_calls_leave_nothing(self):
        for name, call in self.cases():
            with self.subTest(name):
                for _ in range(MANY):  # fills the free lists too
                    call()
                # Free lists and tables of the interpreter grow for a while; what leaks grows in every round.
                self.assertLess(min(self.growth(call) for _ in range(3)), MANY // 2)  # one a call would be MANY

    @staticmethod
    def growth(call):
        gc.collect()
        before = sys.getallocatedblocks()
        for _ in range(MANY):
            call()
        gc.collect()
        return sys.getallocatedblocks() - before


class Ends(unittest.TestCase):
    def test_the_interpreter_ends_with_everything_in_use(self):
        program = """
import threading, time, thunder as th
from thunder import nn
net = nn.Sequential(nn.Linear(300, 300), nn.ReLU())
f = th.compile(lambda x: net(x)); f.self = f
mine = th.executor("mine"); mine.implements("exp")(lambda x: x * 2)
g = th.compile(lambda x: x.exp(), executors=[mine]); mine.f = g
def work():
    while True: f(th.ones(300, 300)), g(th.ones(3))
for _ in range(2): threading.Thread(target=work, daemon=True).start()
kept = th.compile(lambda x: x); view = memoryview(th.ones(4)); tape = th.tape(); tape.__enter__()
time.sleep(0.3)
"""
        self.ends(program)

    def test_the_interpreter_ends_while_threads_are_in_callbacks(self):
        for _ in range(8):
            self.ends("""
import threading, time, thunder as th
mine = th.executor("mine"); mine.implements("exp")(lambda x: x * 2)
g = th.compile(lambda x: x.exp(), executors=[mine])
def work():
    while True: g(th.ones(3))
for _ in range(6): threading.Thread(target=work, daemon=True).start()
time.sleep(0.05)
""")

    def test_callbacks_run_at_exit(self):
        self.ends("""
import atexit
atexit.register(lambda: print(th.compile(lambda x: x + 1)(th.ones(2)).tolist()))    # runs after what thunder registered
import thunder as th
""", "[2.0, 2.0]\n")

    def ends(self, program, output=""):
        result = subprocess.run([sys.executable, "-X", "dev", "-c", program], capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual((result.returncode, result.stderr, result.stdout), (0, "", output))


class Reports(unittest.TestCase):
    def test_prepare_compiles_and_runs_nothing(self):
        ran = th.zeros(1)

        @th.compile
        def f(x):
            ran.add_(1)
            return x @ x + 1
        f.prepare(th.ones(8, 8))
        self.assertEqual((ran.item(), th.stats(f)["misses"]), (0, 1))
        self.assertTrue(f.memory_report())
        f(th.ones(8, 8))
        self.assertEqual((ran.item(), th.stats(f)["misses"]), (1, 1))

    def test_threads_and_kept_memory_can_be_set(self):
        th.set_num_threads(1)
        self.assertEqual(th.ones(64, 64).matmul(th.ones(64, 64))[0, 0].item(), 64)
        th.set_num_threads(0)
        th.set_memory_cache(0)
        self.assertTrue(th.memory())
        th.set_memory_cache(1 << 30)

    def test_what_is_no_count_is_refused_by_its_value(self):
        for call, what in ((th.set_num_threads, "set_num_threads: count"), (th.set_memory_cache, "set_memory_cache: bytes")):
            for number in (-1, 1 << 70):
                with self.assertRaisesRegex(th.Error, f"{what} must be from 0 to [0-9]+, got {number}$") as caught:
                    call(number)
                self.assertEqual(caught.exception.code, th.Code.INVALID_ARGUMENT)
            with self.assertRaises(TypeError):
                call(1.5)
        th.set_num_threads(np.int64(0))


if __name__ == "__main__":
    unittest.main()
