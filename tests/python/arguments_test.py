"""Every op that th.ops() lists, each argument as every other kind of value: it works, or is refused by the op's name."""
import inspect
import math
import unittest

import numpy as np

import thunder as th

th.seed(0)  # the same numbers at each run

X = th.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
INTEGERS, BOOLEANS = th.tensor([0, 1]), X > 2
NOTHING = object()  # the argument is left out


def traced():
    """A value of a function that was traced."""
    kept = []
    th.compile(lambda t: kept.append(t) or t, executors="host")(X)
    return kept[0]


# What an argument is where it is not the one that is tried.
BY_NAME = {"index": INTEGERS, "target": INTEGERS, "mask": BOOLEANS, "condition": BOOLEANS, "size": [2, 3], "shape": [3, 2], "dims": [1, 0],
           "normalized_shape": [3], "kernel_size": [1, 1], "pad": [1, 1]}
BY_KIND = {"Tensor | float": X, "Sequence[Tensor]": [X, X], "int": 1, "float": 0.5, "bool": True, "str": "mean", "Sequence[int]": [1],
           "Sequence[float]": [0.5], "dtype": "float32", "device": "cpu"}
ENDED = traced()
OTHERS = [NOTHING, None, 2, 300, 2**63 - 1, -2**63, 2**70, -7, 1.5, 1e300, math.nan, True, "mean", "", "\ud800", "float32", b"bytes", [], [1, 2], [2**62, 4],
          [2**70], ["a"], [X], [X, 3], [None], {"key": X}, (1, 2), {1}, X, th.ones(0), th.ones(1, 2, 1, 3, 1), th.tensor(1.5), th.tensor(2),
          th.tensor(1.5, dtype="float64"), th.tensor(1.5, dtype="bfloat16"), th.tensor(True), np.float32(2), np.arange(3), np.array(["a"]), ENDED, print,
          object(), type, 1j, th.nn.ReLU(), iter([1]), X.shape]


def arguments(parameters, tried, other):
    """The keywords of a call, of which one is another."""
    given = {}
    for name, p in parameters.items():
        if name == tried:
            given[name] = other
        elif p.default is inspect.Parameter.empty and not p.annotation.endswith(" | None"):
            given[name] = BY_NAME.get(name, BY_KIND[p.annotation])
    if other is NOTHING:
        del given[tried]
    return given


def function_of(name):
    at = th
    for part in name.split("."):
        at = getattr(at, part)
    return at


class Arguments(unittest.TestCase):
    def mistake(self, row, call):
        """What is wrong with how a call failed; None: nothing."""
        self.calls += 1
        try:
            call()
        except MemoryError:
            return None
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
            named = row["name"].rsplit(".")[-1] in text or "out of memory" in text or "a proxy was used after" in text
            return None if named and "please report" not in text else text
        self.worked += 1
        return None

    def test_of_every_other_kind_work_or_are_refused_by_name(self):
        self.calls = self.worked = 0
        for row in th.ops():
            function = function_of(row["name"])
            parameters = inspect.signature(function).parameters
            if any(p.annotation is inspect.Parameter.empty for p in parameters.values()):
                continue  # max, min and trace are more than their ops: functions of the package
            for tried in parameters:
                for k, other in enumerate(OTHERS):
                    given = arguments(parameters, tried, other)
                    worked = self.worked
                    with self.subTest(op=row["name"], argument=tried, given=repr(other)[:60]):
                        self.assertIsNone(self.mistake(row, lambda: function(**given)))
                        if self.worked > worked and k % 3 == 0:
                            self.assertIsNone(self.mistake(row, th.compile(lambda: function(**given), executors="host")))
        self.assertGreater(self.calls, 5000)
        self.assertGreater(self.worked, 500)

    def test_that_are_numbers_stand_only_where_pytorch_takes_them(self):
        for message, call in (("mean: argument 'input' must be a tensor, got the integer 3", lambda: th.mean(3)),
                              ("matmul: argument 'other' must be a tensor, got the integer 2", lambda: th.matmul(X, 2)),
                              ("exp: argument 'input' must be a tensor, got the float 2.5", lambda: th.exp(2.5))):
            with self.assertRaisesRegex(Exception, message):
                call()
        self.assertEqual(th.where(BOOLEANS, X, 0.0).sum().item(), 18)
        self.assertEqual((th.clamp(X, 2, 3).sum().item(), th.sub(1, X).sum().item()), (16, -15))


if __name__ == "__main__":
    unittest.main()
