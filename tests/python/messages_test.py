"""Errors speak of what the user wrote: its lines, its names, and what to do."""
import functools
import inspect
import os
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
import traceback
import unittest

import thunder as th
from thunder import data, nn, optim

th.seed(0)  # the same numbers at each run

PACKAGE = os.path.dirname(th.__file__) + os.sep
X = th.ones(2, 3)


def parameters():
    return [th.ones(2)]


# What fails in the package's own Python, in ops, in modules, in what a compiled function calls.
WRONG = [
    lambda: nn.Sequential(nn.Linear(2, 3), nn.ReLU())(X),
    lambda: th.compile(nn.Linear(2, 3))(X),
    lambda: nn.Linear(2),
    lambda: nn.Linear(2, 3).no_such,
    lambda: nn.Linear(2, 3).load_state_dict({}),
    lambda: nn.Linear(2, 3).to(th.int64),
    lambda: nn.Linear(2, 3).cuda(97),
    lambda: X.to("cuda:97"),
    lambda: X["a"],
    lambda: X[5],
    lambda: X.storage,
    lambda: X.backward(),
    lambda: X.max(2.0),
    lambda: th.polar,
    lambda: th.tensor(["a"]),
    lambda: th.compile(lambda x: x, bogus=1),
    lambda: th.compile(lambda x: x, executors=["nothing"]),
    lambda: th.compile(lambda x: x.tolist())(X),
    lambda: th.compile(lambda x: f"{x.sum():.2f}")(X),
    lambda: th.grad(lambda x: x * 2)(X),
    lambda: th.value_and_grad(lambda x: 3)(X),
    lambda: th.trace(lambda x: x.reshape(7))(X),
    lambda: optim.SGD(parameters(), -1.0),
    lambda: optim.SGD(parameters(), 0.1).step(),
    lambda: optim.SGD(parameters(), 0.1).step([X]),
    lambda: optim.StepLR(optim.SGD(parameters(), 0.1), 0),
    lambda: data.batches([X, th.ones(5)]),
    lambda: th.save({"a": object()}, "/nowhere"),
    lambda: th.add_rules("wrong", ["a -> "]),
]


def raised_by(function):
    try:
        function()
    except Exception as error:  # any: what is looked at is its traceback
        return error
    raise AssertionError("nothing was raised")


class BesideLightning(unittest.TestCase):
    def test_files_of_lightning_thunder_among_ours_are_an_error_that_says_so(self):
        with tempfile.TemporaryDirectory() as folder:
            os.makedirs(os.path.join(folder, "thunder", "core"))
            shutil.copy(os.path.join(PACKAGE, "__init__.py"), os.path.join(folder, "thunder"))
            open(os.path.join(folder, "thunder", "core", "__init__.py"), "w", encoding="utf-8").close()
            told = subprocess.run([sys.executable, "-c", "import thunder"], cwd=folder, capture_output=True, text=True, check=False,
                                  env={**os.environ, "PYTHONPATH": folder})
        self.assertEqual(told.returncode, 1)
        self.assertRegex(told.stderr, "ImportError: files of lightning-thunder.*pip uninstall libthunder lightning-thunder")


class Tracebacks(unittest.TestCase):
    def test_no_line_of_the_package_stands_in_one(self):
        for number, wrong in enumerate(WRONG):
            with self.subTest(number):
                lines = traceback.extract_tb(raised_by(wrong).__traceback__)
                self.assertEqual([line for line in lines if line.filename.startswith(PACKAGE)], [])
                self.assertEqual(lines[-1].filename, __file__)

    def test_there_is_one(self):
        for number, wrong in enumerate(WRONG):
            with self.subTest(number):
                text = "".join(traceback.format_exception(raised_by(wrong)))
                self.assertEqual(text.count("Traceback"), 1, text)

    def test_no_message_names_a_function_of_c(self):
        for number, wrong in enumerate(WRONG):
            with self.subTest(number):
                self.assertNotRegex(str(raised_by(wrong)), r"\bthunder_[a-z]")

    def test_lines_between_ours_that_are_the_users_stay(self):
        def loss(x):
            raise KeyError("mine")
        names = [line.name for line in traceback.extract_tb(raised_by(lambda: th.grad(loss)(X)).__traceback__)]
        self.assertEqual(names[-1], "loss")

    def test_the_environment_keeps_ours(self):
        run = subprocess.run([sys.executable, "-c", "import thunder as th; th.ones(2).to('cuda:97')"], capture_output=True, text=True,
                             check=False, env={**os.environ, "THUNDER_TRACEBACK": "full"})
        self.assertIn("_tensor.py", run.stderr)

    def test_covered_functions_are_as_they_were(self):
        self.assertEqual(th.tensor.__name__, "tensor")
        self.assertIn("holds a copy", th.tensor.__doc__)
        self.assertIn("dtype", str(inspect.signature(th.tensor)))
        self.assertIs(pickle.loads(pickle.dumps(th.from_numpy)), th.from_numpy)
        self.assertIs(th.jit, th.compile)


class Arguments(unittest.TestCase):
    def test_what_is_no_list_of_parameters_says_what_is_wrong_with_it(self):
        net = nn.Linear(2, 3)
        for params, why in ((net.parameters, "not method: call it"), ([net], "parameter 0 is no tensor but Linear: list its parameters"),
                            ([1.0], "parameter 0 is no tensor but float"), ([], "SGD: the list of parameters is empty"), (X, "not one tensor")):
            with self.assertRaisesRegex((TypeError, ValueError), why):
                optim.SGD(params)
        self.assertIn("lr", repr(optim.SGD(net.named_parameters())))

    def test_pytorchs_options_of_compile_say_what_stands_for_them(self):
        with self.assertRaisesRegex(th.Error, "option 'backend' must be a string, got a boolean"):
            th.compile(lambda x: x, backend=True)
        with self.assertRaisesRegex(th.Error, "option 'compile_threads' of PyTorch's Inductor is not there: Kernels are compiled"):
            th.compile(lambda x: x, options={"compile_threads": 4})

    def test_members_of_tensors_go_by_their_names(self):
        for call, why in ((lambda: X.to("gpu"), "to: 'gpu' is no dtype.*nor a device"), (lambda: X.numpy(forse=True), r"Tensor\.numpy\(\) got"),
                          (lambda: X.size(5), "size: dim 5 is out of range"), (lambda: th.tensor([[1, 2], [3]]), "tensor: the lists are not those of one shape")):
            with self.assertRaisesRegex((TypeError, IndexError, ValueError), why):
                call()
        self.assertIsNot(X.to(th.float32, copy=True), X)
        self.assertIs(X.to("cpu", non_blocking=True), X)


class LiveNumbers(unittest.TestCase):
    def test_a_float_argument_that_is_branched_on_says_that_it_is_live_and_how_to_pass_a_constant(self):
        for read, who in ((lambda x, lr: x if lr > 0.5 else -x, r"bool\(\)"), (lambda x, lr: x * int(lr), r"int\(\)"),
                          (lambda x, lr: x * float(lr), r"float\(\)"), (lambda x, lr: x * lr.item(), r"item\(\)"),
                          (lambda x, lr: [x for _ in range(lr)], r"range\(\)"), (lambda x, lr: x.view(lr), "a size")):
            with self.assertRaisesRegex(th.Error, rf"{who}.* of a traced tensor.*Float arguments are live.*an integer.*functools\.partial") as caught:
                th.compile(read)(X, 0.7)
            self.assertEqual(caught.exception.code, th.Code.PROXY_HAS_NO_DATA)

    def test_what_the_message_says_to_do_works(self):
        def f(x, lr):
            return x * 2 if lr > 0.5 else x
        self.assertEqual(th.compile(functools.partial(f, lr=0.7))(X)[0, 0].item(), 2)
        self.assertEqual(th.compile(f)(X, 1)[0, 0].item(), 2)

    def test_floats_are_not_blamed_where_there_are_none(self):
        with self.assertRaisesRegex(th.Error, r"bool\(\) of a traced tensor.*thunder\.where\(condition, a, b\), or compile it with fullgraph=False$"):
            th.compile(lambda x: x if x.sum() > 0 else -x)(X)

    def test_several_elements_have_no_truth_and_no_number(self):
        with self.assertRaisesRegex(ValueError, r"bool\(\).*this has 6.*any\(\) and all\(\)"):
            bool(X > 0)
        with self.assertRaisesRegex(ValueError, r"float\(\).*this has 6.*tolist\(\)"):
            float(X)


class Layers(unittest.TestCase):
    def test_that_fail_are_named_by_their_path_from_the_topmost_module(self):
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.wte = nn.Embedding(10, 4)
                self.body = nn.Sequential(nn.Linear(4, 4), nn.Linear(3, 4))

            def forward(self, ids):
                return self.body(self.wte(ids))

        net, line = Net(), inspect.getsourcelines(Net.forward)[1] + 1
        here = f"{__file__}:{line}, layer "
        wrong, right = th.tensor([11]), th.tensor([1])
        compiled = th.compile(lambda ids: net(ids))
        with self.assertRaisesRegex(th.Error, r"^embedding: index 11 .* \[at layer wte\]$"):
            net(wrong)
        with self.assertRaisesRegex(th.Error, r"^linear: input has 4 features, .* \[at layer body.1\]$"):
            net(right)
        with self.assertRaisesRegex(th.Error, "^linear: input has 4 features, .* \\[at " + re.escape(here + "body.1]")):
            compiled(right)
        net.body[-1] = nn.Linear(4, 4)
        with self.assertRaisesRegex(IndexError, "Sequential: there is no child 2 among 2"):
            net.body[2] = nn.Linear(4, 4)
        with self.assertRaisesRegex(th.Error, "^embedding: index 11 .* \\[at " + re.escape(here) + "wte, run by"):
            compiled(wrong)

    def test_are_named_where_their_gradient_alone_is_run(self):
        net = nn.Sequential(nn.Embedding(10, 4))
        gradient = th.compile(lambda ids: th.grad_of(net(ids).sum(), net.parameters()))
        with self.assertRaisesRegex(th.Error, r"^embedding: index 11 .* layer 0, run by"):
            gradient(th.tensor([11]))


class Indices(unittest.TestCase):
    def test_out_of_range_are_index_errors_in_each_way_of_running(self):
        x, i = th.arange(12.0).reshape(3, 4), th.tensor([0, 2, 5])
        for f in (lambda x, i: x[i], lambda x, i: x.index_select(0, i), lambda x, i: x.gather(0, i.unsqueeze(0)), lambda x, i: x.take(i * 9),
                  lambda x, i: th.embedding(i, x), lambda x, i: x.scatter(0, i.unsqueeze(0), 1.0), lambda x, i: x.index_add(0, i, x),
                  lambda x, i: th.nll_loss(x, i), lambda x, i: th.cross_entropy(x, i), lambda x, i: th.one_hot(i, 4), lambda x, i: x.select(0, -4),
                  lambda x, i: x[:, 4]):
            ways = [f, th.compile(f), th.compile(f, dynamic=True), th.compile(f, fullgraph=False)]
            ways += [th.compile(f, executors=[executor]) for executor in ("host", "fusion")]
            for called in ways:
                with self.assertRaises(IndexError):
                    called(x, i)
        with self.assertRaises(th.Error) as caught:
            x.index_select(0, i)
        self.assertEqual((caught.exception.code, pickle.loads(pickle.dumps(type(caught.exception)))), (th.Code.OUT_OF_RANGE, type(caught.exception)))

    def test_dims_out_of_range_are_too(self):
        x = th.ones(3, 4)
        for f in (lambda x: x.sum(5), lambda x: x.unsqueeze(7), lambda x: x.transpose(0, -3), lambda x: x.flip(6), lambda x: x.squeeze(2),
                  lambda x: x.softmax(4), lambda x: th.cat([x, x], 5), lambda x: th.movedim(x, 0, 9), lambda x: x.size(2)):
            for called in (f, th.compile(f), th.compile(f, dynamic=True), th.compile(f, fullgraph=False)):
                with self.assertRaises(IndexError):
                    called(x)

    def test_other_errors_are_no_index_errors(self):
        for f in (lambda: X + th.ones(4), lambda: th.ones(3).narrow(0, 2, 9)):
            with self.assertRaises(th.Error) as caught:
                f()
            self.assertNotIsInstance(caught.exception, IndexError)


if __name__ == "__main__":
    unittest.main()
