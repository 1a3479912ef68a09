"""Compiled functions in Python: arguments, gradients, errors, threads, what the collector sees."""
import collections
import copy
import dataclasses
import gc
import threading
import traceback
import types
import unittest
import weakref

import numpy as np
import thunder as th

th.seed(0)  # the same numbers at each run

Pair = collections.namedtuple("Pair", "first second")


@dataclasses.dataclass
class Batch:
    images: object
    labels: object = None


class Arguments(unittest.TestCase):
    def test_a_program_is_compiled_once_for_equal_arguments(self):
        f = th.compile(lambda x, y: x * 2 + y)
        for _ in range(3):
            self.assertEqual(f(th.ones(2), th.ones(2)).tolist(), [3, 3])
        self.assertEqual(th.stats(f)["misses"], 1)
        f(th.ones(3), th.ones(3))
        self.assertEqual(th.stats(f)["misses"], 2)
        self.assertIn("0", th.last_miss(f))

    def test_numpy_arrays_and_live_floats(self):
        f = th.compile(lambda x, factor: x * factor)
        self.assertEqual(f(np.ones(2, np.float32), 2.0).tolist(), [2, 2])
        self.assertEqual(f(np.ones(2, np.float32), 3.0).tolist(), [3, 3])
        self.assertEqual(th.stats(f)["misses"], 1)

    def test_a_float_where_an_op_takes_a_number_is_a_guarded_constant(self):
        norm = th.compile(lambda x, eps: th.layer_norm(x, [2], eps=eps))
        x = th.tensor([[1.0, 3.0]])
        for eps in (1e-5, 1e-5, 3.0):
            self.assertAlmostEqual(norm(x, eps)[0, 1].item(), 1 / (1 + eps) ** 0.5, 5)
        self.assertEqual(th.stats(norm)["misses"], 2)
        self.assertEqual(th.compile(lambda x, v: th.pad(x, [1, 0], value=v))(x, 7.0).tolist(), [[7, 1, 3]])

    def test_integers_and_strings_are_constants_with_a_guard(self):
        f = th.compile(lambda x, n, mode: x + n if mode == "add" else x * n)
        self.assertEqual([f(th.ones(1), 3, "add").item(), f(th.ones(1), 3, "mul").item(), f(th.ones(1), 4, "mul").item()], [4, 3, 4])
        self.assertEqual(th.stats(f)["misses"], 3)

    def test_modules_are_compiled_in_place(self):
        net = th.nn.Sequential(th.nn.Linear(3, 2), th.nn.Tanh())
        x = th.ones(4, 3)
        plain = net(x)
        net.compile(cache="symbolic values")
        same = lambda a, b: th.allclose(a, b, atol=1e-6)
        self.assertTrue(same(net(x), plain))
        other = copy.deepcopy(net)
        with th.set_stance("fail_on_recompile"):
            self.assertTrue(same(net(x), plain))
            with self.assertRaisesRegex(th.Error, "fail_on_recompile"):
                other(x)  # a program is of one module
        other[0].weight.copy_(th.zeros(2, 3))
        self.assertTrue(same(other(x), th.tanh(other[0].bias).expand(4, 2)) and same(net(x), plain))
        self.assertTrue(same(th.compile(lambda x: net(x) * 2)(x), plain * 2))
        net.compile(disable=True)
        with th.set_stance("fail_on_recompile"):
            self.assertEqual(net(th.ones(9, 3)).shape, (9, 2))

    def test_a_compile_tells_its_progress_and_is_cancelled_by_an_exception(self):
        told = []
        f = th.compile(lambda x: (x @ x).exp(), progress=lambda *at: told.append(at))
        f(th.ones(3, 3))
        stages = list(dict.fromkeys(stage for stage, _, _ in told))
        self.assertEqual(stages[0], "trace")
        self.assertLess(stages.index("grad"), stages.index("claim"))
        self.assertLess(stages.index("claim"), stages.index("prepare"))
        self.assertTrue(all(0 <= done < total for _, done, total in told))
        calls = len(told)
        f(th.ones(3, 3))
        self.assertEqual(len(told), calls)

        cancel = True

        def progress(stage, done, total):
            if cancel and stage == "prepare":
                raise InterruptedError("enough")
        g = th.compile(lambda x: x * 2, progress=progress)
        with self.assertRaisesRegex(InterruptedError, "enough"):
            g(th.ones(2))
        cancel = False
        self.assertEqual(g(th.ones(2)).tolist(), [2, 2])
        with self.assertRaisesRegex(TypeError, "option 'progress' must be a function, got int"):
            th.compile(lambda x: x, progress=1)

    def test_guards_that_are_filtered_out_are_not_checked(self):
        seen = []

        def none_of(guards):
            seen.extend(guards)
            return [guard.name != "1" for guard in guards]
        f = th.compile(lambda x, n, m: x * n + m, dynamic=False, guard_filter_fn=none_of)
        self.assertEqual(f(th.ones(2), 2, 3).tolist(), [5, 5])
        self.assertEqual([tuple(guard) for guard in seen], [("1", "CONSTANT_MATCH", 2), ("2", "CONSTANT_MATCH", 3)])
        self.assertEqual(f(th.ones(2), 5, 3).tolist(), [5, 5])   # as it was promised
        self.assertEqual(f(th.ones(2), 5, 4).tolist(), [9, 9])
        with self.assertRaisesRegex(th.Error, "guard_filter_fn must give a boolean for each of 2 guards, got 0"):
            th.compile(lambda x, n, m: x * n + m, dynamic=False, guard_filter_fn=lambda guards: [])(th.ones(2), 3, 4)

    def test_pytorch_s_guard_filters(self):
        kept = th.compile(lambda x, n: x * n, dynamic=False, guard_filter_fn=th.compiler.skip_guard_on_all_nn_modules_unsafe)
        dropped = th.compile(lambda x, n: x * n, dynamic=False, guard_filter_fn=th.compiler.keep_tensor_guards_unsafe)
        self.assertEqual([kept(th.ones(1), n).item() for n in (2, 3)], [2, 3])
        self.assertEqual([dropped(th.ones(1), n).item() for n in (2, 3)], [2, 2])
        self.assertEqual(dropped(th.ones(2), 3).tolist(), [3, 3])  # another shape is another program

    def test_disabled_functions_run_op_by_op(self):
        @th.compiler.disable
        def f(x):
            return x * 2 if x.sum().item() > 0 else x
        self.assertEqual(f(th.ones(2)).tolist(), [2, 2])
        self.assertEqual((th.stats(f)["misses"], th.stats(f)["eager_calls"]), (0, 1))

    def test_stances_and_cache_modes(self):
        f = th.compile(lambda x: x * 2)
        with th.set_stance("force_eager"):
            self.assertEqual(f(th.ones(2)).tolist(), [2, 2])
        self.assertEqual((th.stats(f)["misses"], th.stats(f)["eager_calls"]), (0, 1))
        f(th.ones(2))
        with th.set_stance("fail_on_recompile"), self.assertRaisesRegex(th.Error, r"no program fits this call: .* shape is \[3\], was \[2\]"):
            f(th.ones(3))
        with self.assertRaisesRegex(th.Error, "did you mean 'force_eager'"):
            th.set_stance("force_eagre")
        same = th.compile(lambda x: x * 2, cache="same input")
        self.assertEqual((same(th.ones(2, 1)).shape, same(th.ones(1, 2)).shape), ((2, 1), (2, 1)))
        with self.assertRaisesRegex(th.Error, "promises that inputs stay what they are"):
            same(th.ones(3))

    def test_keywords_and_defaults(self):
        @th.compile
        def f(x, *, scale=2.0, shift=0):
            return x * scale + shift
        self.assertEqual([f(th.ones(1)).item(), f(th.ones(1), shift=1).item(), f(x=th.ones(1), scale=5.0).item()], [2, 3, 5])

    def test_trees_keep_their_types(self):
        @th.compile
        def f(tree):
            return {"pair": Pair(tree["b"].images, tree["a"][0]), "rest": [tree["a"][1], (None, "text", 3, True, th.float32)]}
        x = th.ones(2)
        out = f({"a": (x, x * 2), "b": Batch(x * 3)})
        self.assertIsInstance(out["pair"], Pair)
        self.assertEqual(out["pair"].first.tolist(), [3, 3])
        self.assertEqual(out["rest"][1], (None, "text", 3, True, th.float32))
        self.assertIsInstance(th.compile(lambda b: b)(Batch(x)), Batch)

    def test_what_is_no_tree_is_refused(self):
        f = th.compile(lambda x: x)
        for value in (object(), {1: th.ones(1)}, {th.ones(1)}):
            with self.assertRaises(TypeError):
                f(value)
        nested = []
        nested.append(nested)
        with self.assertRaises(RecursionError):
            f(nested)
        self.assertEqual(f(th.ones(1)).item(), 1)

    def test_it_is_a_decorator_with_and_without_options_and_a_method(self):
        class Model:
            weight = th.full([2], 3.0)

            @th.compile(verify=True)
            def scaled(self, x):
                """Scales."""
                return x * self.weight
        self.assertEqual(Model.scaled.__doc__, "Scales.")
        model = Model()
        self.assertEqual(model.scaled(th.ones(2)).tolist(), [3, 3])
        model.weight = th.full([2], 5.0)
        self.assertEqual(model.scaled(th.ones(2)).tolist(), [5, 5])
        with self.assertRaisesRegex(TypeError, "did you mean 'verify'"):
            th.compile(verfy=True)
        self.assertIs(th.jit, th.compile)

    def test_a_compiled_function_inside_another_is_inlined(self):
        inner = th.compile(lambda x: x * 2)
        outer = th.compile(lambda x: inner(x) + inner(x))
        self.assertEqual(outer(th.ones(1)).item(), 4)
        self.assertEqual(th.stats(inner)["calls"], 0)

    def test_a_function_may_call_itself_while_it_is_traced(self):
        @th.compile
        def power(x, n):
            return x if n == 1 else x * power(x, n - 1)
        self.assertEqual(power(th.full([1], 2.0), 5).item(), 32)

    def test_frozen_tensors_are_computed_with_once_until_they_are_written(self):
        w = th.full([8, 8], 2.0)
        f = th.compile(lambda x: x @ (w * w).exp(), freezing=True, max_autotune=True)
        x = np.eye(8, dtype=np.float32)
        for value in (2.0, 2.0, 1.0):
            w.fill_(value)
            np.testing.assert_allclose(f(x)[3, 4].item(), np.exp(value * value), rtol=1e-5)
        self.assertEqual(th.stats(f)["misses"], 1)

    def test_captured_tensors_are_live(self):
        captured = th.ones(2)
        f = th.compile(lambda x: x + captured)
        self.assertEqual(f(th.ones(2)).tolist(), [2, 2])
        captured.fill_(5)
        self.assertEqual(f(th.ones(2)).tolist(), [6, 6])
        self.assertEqual(th.stats(f)["misses"], 1)


class Gradients(unittest.TestCase):
    def test_grad_of_the_first_argument(self):
        self.assertEqual(th.grad(lambda x: (x * x).sum())(th.tensor([1.0, 2.0])).tolist(), [2, 4])
        self.assertEqual(th.grad(lambda x: x * x)(3.0).item(), 6)

    def test_one_tensor_given_twice_has_two_gradients_eager_and_compiled(self):
        f = th.grad(lambda x, y: (x * x * y).sum(), argnums=(0, 1))
        x = th.tensor([3.0])
        self.assertEqual([g.item() for g in f(x, x)], [18, 9])
        self.assertEqual([g.item() for g in th.compile(f)(x, x)], [18, 9])
        self.assertEqual([g.item() for g in th.compile(lambda y: f(y, y))(x)], [18, 9])
        self.assertEqual(th.grad(lambda y: (y * x).sum())(x).item(), 3)
        self.assertEqual(th.compile(lambda z: th.grad(lambda y: (y * z).sum())(z))(x).item(), 3)

    def test_structures_and_aux(self):
        f = th.value_and_grad(lambda p, x: ((p["w"] * x).sum() + p["b"], {"x": x}), has_aux=True)
        (loss, aux), gradients = f({"w": th.ones(2), "b": th.tensor(1.0)}, np.array([2, 3], np.float32))
        self.assertEqual((loss.item(), aux["x"].tolist()), (6, [2, 3]))
        self.assertEqual((gradients["w"].tolist(), gradients["b"].item()), ([2, 3], 1))

    def test_aux_that_is_an_argument_is_that_argument(self):
        x = th.ones(2).requires_grad_()
        (_, aux), _ = th.value_and_grad(lambda x: ((x * x).sum(), (x, x[:1])), has_aux=True)(x)
        self.assertEqual((aux[0] is x, aux[1].requires_grad), (True, False))

    def test_captured_tensors_by_wrt_and_on_a_tape(self):
        w = th.tensor([2.0])
        value, gradients = th.value_and_grad(lambda x: (w * x).sum(), wrt=[w])(th.tensor([3.0]))
        self.assertEqual((value.item(), gradients[0].item()), (6, 3))
        with th.tape():
            self.assertEqual(th.grad_of((w ** 3).sum(), w).item(), 12)

    def test_second_derivatives_eager_and_compiled(self):
        f = th.grad(lambda x: th.grad(lambda y: (y ** 3).sum())(x).sum())
        self.assertEqual(f(th.tensor([2.0])).tolist(), [12])
        self.assertEqual(th.compile(f)(th.tensor([2.0])).tolist(), [12])
        self.assertEqual(th.grad(th.grad(lambda y: y ** 3))(2.0).item(), 12)

    def test_a_trace_is_what_was_recorded_and_runs_nothing(self):
        seen = []
        text = str(th.trace(lambda x, k=1: seen.append(x.is_concrete) or th.softmax(x, 0) * k)(th.ones(2), k=3))
        self.assertEqual(seen, [False])
        self.assertIn("softmax(i[1], 0)", text)

    def test_mistakes_say_what_is_wrong(self):
        with self.assertRaisesRegex(RuntimeError, "tape"):
            th.grad_of(th.tensor(1.0), th.tensor(1.0))
        with self.assertRaisesRegex(TypeError, "argument 0 holds"):
            th.grad(lambda n: n.sum())(th.arange(3))
        with self.assertRaisesRegex(TypeError, "argnums 1"):
            th.grad(lambda x: x.sum(), argnums=1)(th.ones(1))


class Errors(unittest.TestCase):
    def raised_by(self, function, *args):
        """The exception, and the last line of its traceback; assertRaises() forgets those."""
        try:
            function(*args)
        except Exception as error:
            return error, traceback.extract_tb(error.__traceback__)[-1].line
        self.fail("nothing was raised")

    def test_an_exception_comes_out_as_itself_with_its_lines(self):
        class Mine(Exception):
            pass
        raised = Mine("text")

        @th.compile
        def f(x):
            raise raised
        error, line = self.raised_by(f, th.ones(1))
        self.assertIs(error, raised)
        self.assertEqual(line, "raise raised")

    def test_the_traceback_of_a_failed_op_ends_in_the_users_line(self):
        @th.compile
        def f(x):
            return th.matmul(x, x)
        error, line = self.raised_by(f, th.ones(2, 3))
        self.assertIsInstance(error, th.Error)
        self.assertIn("matmul: inner dimensions differ", str(error))
        self.assertEqual(error.code, th.Code.INVALID_ARGUMENT)
        self.assertEqual(line, "return th.matmul(x, x)")
        self.assertEqual(f(th.ones(2, 2)).shape, (2, 2))

    def test_traces_name_the_users_lines(self):
        f = th.compile(lambda x: th.relu(x[0]))
        f(th.ones(2))
        self.assertIn("compile_test.py:", str(th.last_traces(f)[0]))
        self.assertNotIn("_indexing.py:", str(th.last_traces(f)[0]))

    def test_data_of_a_traced_tensor_is_refused(self):
        for read in (lambda x: x.item(), lambda x: bool(x > 0), np.asarray, lambda x: x.tolist()):
            with self.assertRaises((th.Error, TypeError)):
                th.compile(lambda x, read=read: x * read(x))(th.tensor(1.0))

    def test_a_proxy_that_escaped_is_expired(self):
        kept = types.SimpleNamespace()
        th.compile(lambda x: setattr(kept, "x", x * 2) or x)(th.ones(1))
        self.assertIn("traced", repr(kept.x))
        with self.assertRaisesRegex(th.Error, "after the function that it belongs to") as raised:
            kept.x + 1
        self.assertEqual(raised.exception.code, th.Code.EXPIRED)

    def test_options_arguments_and_names_are_checked(self):
        with self.assertRaisesRegex(TypeError, "unexpected keyword argument 'dmi'"):
            th.softmax(th.ones(2), dmi=1)
        with self.assertRaisesRegex(th.Error, "'other' is missing"):
            th.add(th.ones(1))
        with self.assertRaises(th.Error):
            th.compile(lambda x: x, executors=["nothing"])(th.ones(1))


class Lifetimes(unittest.TestCase):
    def test_the_collector_finds_cycles_through_compiled_functions(self):
        def make():
            holder = {}
            holder["f"] = th.compile(lambda x: x if "f" in holder else None)
            holder["f"](th.ones(1))
            return weakref.ref(holder["f"])
        reference = make()
        gc.collect()
        self.assertIsNone(reference())

    def test_arguments_and_results_are_not_kept(self):
        f = th.compile(lambda x: x * 2)
        array = np.ones(4, np.float32)
        kept = weakref.ref(array)
        f(array)
        del array
        gc.collect()
        self.assertIsNone(kept())

    def test_an_exception_is_let_go(self):
        class Mine(Exception):
            pass

        def raise_it(x):
            raise Mine
        f = th.compile(raise_it)
        try:
            f(th.ones(1))
        except Mine as error:
            kept = weakref.ref(error)
        gc.collect()
        self.assertIsNone(kept())

    def test_threads_call_one_function_while_python_runs(self):
        f = th.compile(lambda x: (x @ x).sum())
        x, wrong = th.ones(32, 32), []

        def work():
            for i in range(100):
                if f(x).item() != 32 ** 3 or (x * i)[0, 0].item() != i:
                    wrong.append(i)
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])
        self.assertEqual(th.stats(f)["calls"], 400)

    def test_rows_that_are_kept_fit_in_512_kib_of_stack(self):
        x, sums = th.randn(4, 65536), []
        f = th.grad(lambda x: (th.softmax(x, -1) * x).sum())
        expected = f(x).sum().item()
        before = threading.stack_size(512 << 10)
        try:
            thread = threading.Thread(target=lambda: sums.append(th.compile(f)(x).sum().item()))
            thread.start()
        finally:
            threading.stack_size(before)
        thread.join()
        self.assertAlmostEqual(sums[0], expected, places=3)


if __name__ == "__main__":
    unittest.main()
