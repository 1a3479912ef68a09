"""Makes and drops tensors, functions and compiled functions in random order, with the collector running in between."""
import gc
import random
import threading
import weakref

import thunder_swig as th

random.seed(1)
slots, compiled, alive = {}, {}, weakref.WeakSet()


def tensor():
    return random.choice(list(slots.values())) if slots else th.tensor([[1.0, 2.0], [3.0, 4.0]])


def make_function():
    captured, own = tensor(), None
    own = th.compile(lambda a: a * captured if own else a, executors="host")
    alive.add(own)
    compiled[random.randrange(4)] = random.choice([own, own.value_and_grad()])


def call_function():
    try:
        for f in compiled.values():
            f(tensor())
            break
    except th.Error:
        pass


def fail():
    try:
        th.compile(lambda a: {}["no"])(tensor())
    except KeyError:
        return
    raise SystemExit("no exception came back")


def other_thread():
    thread = threading.Thread(target=lambda: slots.__setitem__(random.randrange(12), tensor().neg()))
    thread.start()
    thread.join()


acts = [
    lambda: slots.__setitem__(random.randrange(12), th.tensor([[random.random(), 2.0], [3.0, 4.0]])),
    lambda: slots.__setitem__(random.randrange(12), tensor() * 0.5 + tensor().tanh()),
    lambda: slots.pop(random.randrange(12), None),
    lambda: compiled.pop(random.randrange(4), None),
    make_function, call_function, fail, other_thread, gc.collect,
]
for _ in range(800):
    random.choice(acts)()
slots.clear()
compiled.clear()
th._raised.clear()
gc.collect()
if len(alive) > 0:
    raise SystemExit(f"{len(alive)} compiled functions that hold themselves were never collected")
print("tortured")
