"""Which ops give their input itself, and which a new view of it, where they have nothing to do: as PyTorch 2.11 does."""
import unittest

import thunder as th

F = th.nn.functional

# Of a dense (1, 3) of float32.
NEW = {
    "squeeze": lambda x: x.squeeze(1), "squeeze of all": lambda x: x[0].squeeze(), "reshape": lambda x: x.reshape(1, 3),
    "view": lambda x: x.view(-1, 3), "view_as": lambda x: x.view_as(x), "reshape_as": lambda x: x.reshape_as(x),
    "expand": lambda x: x.expand(-1, 3), "expand_as": lambda x: x.expand_as(x), "broadcast_to": lambda x: x.broadcast_to((1, 3)),
    "transpose": lambda x: x.transpose(0, 0), "swapaxes": lambda x: x.swapaxes(1, 1), "permute": lambda x: x.permute(0, 1),
    "movedim": lambda x: x.movedim(0, 0), "narrow": lambda x: x.narrow(0, 0, 1), "slice": lambda x: x[:],
    "ellipsis": lambda x: x[...], "unflatten": lambda x: x.unflatten(0, (1,)), "ravel": lambda x: x[0].ravel(),
    "chunk": lambda x: x.chunk(1)[0], "split": lambda x: x.split(1)[0], "tensor_split": lambda x: x.tensor_split(1)[0],
    "t of a vector": lambda x: x[0].t(), "einsum": lambda x: th.einsum("ij->ij", x), "detach": lambda x: x.detach(),
}
ITSELF = {
    "contiguous": lambda x: x.contiguous(), "to": lambda x: x.to(th.float32), "float": lambda x: x.float(), "cpu": lambda x: x.cpu(),
    "type_as": lambda x: x.type_as(x), "flatten": lambda x: x.flatten(1), "positive": lambda x: th.positive(x),
    "real": lambda x: th.real(x), "conj": lambda x: x.conj(), "atleast_2d": lambda x: th.atleast_2d(x),
    "dropout": lambda x: F.dropout(x, 0.5, False),
}


def ways():
    yield "op by op", lambda f, x: f(x)
    def in_no_grad(f, x):
        with th.no_grad():
            return f(x)
    yield "in no_grad", in_no_grad
    def on_a_tape(f, x):
        with th.tape():
            return f(x)
    yield "on a tape", on_a_tape
    def in_no_grad_on_a_tape(f, x):
        with th.tape(), th.no_grad():
            return f(x)
    yield "in no_grad on a tape", in_no_grad_on_a_tape


class Views(unittest.TestCase):
    def test_are_new_tensors_in_the_memory_of_the_old(self):
        for name, f in NEW.items():
            for way, run in ways():
                with self.subTest(name, way=way):
                    x = th.tensor([[1.0, 2.0, 3.0]]).requires_grad_()
                    y = run(f, x)
                    self.assertIsNot(y, x)
                    y.requires_grad_(False)
                    self.assertTrue(x.requires_grad)
                    y.mul_(2)
                    self.assertEqual(x.tolist(), [[2, 4, 6]])

    def test_ops_that_do_nothing_give_the_input_itself(self):
        for name, f in ITSELF.items():
            for way, run in ways():
                with self.subTest(name, way=way):
                    x = th.tensor([[1.0, 2.0, 3.0]]).requires_grad_()
                    self.assertIs(run(f, x), x)
            with self.subTest(name, way="traced"):
                seen = []
                th.compile(lambda x: (seen.append(f(x) is x), x * 2)[1])(th.ones(1, 3))
                self.assertEqual(seen, [True] if name != "contiguous" else [False])

    def test_a_view_has_a_gradient_of_its_own(self):
        def by_view(f):
            def gradients(x):
                y = f(x)
                return th.grad_of((x * 3 + y * y).sum(), [y, x])
            return gradients
        for name, f in NEW.items():
            if name == "detach":
                continue
            with self.subTest(name):
                x = th.tensor([[1.0, 2.0, 3.0]])
                with th.tape():
                    taped = by_view(f)(x)
                compiled = th.compile(by_view(f))(x)
                for by_y, by_x in (taped, compiled):
                    self.assertEqual([by_y.flatten().tolist(), by_x.tolist()], [[2, 4, 6], [[5, 7, 9]]])

    def test_a_view_in_no_grad_adds_no_gradient(self):
        def twice(x):
            with th.no_grad():
                y = x.squeeze(1)
            return x, y
        for f in (twice, th.compile(twice), th.compile(twice, fullgraph=False)):
            x = th.tensor([[1.0, 2.0]]).requires_grad_()
            with th.tape():
                a, b = f(x)
                (a * a + b * b).sum().backward()
            self.assertEqual(x.grad.tolist(), [[2, 4]])

    def test_what_a_function_makes_and_passes_through_them_is_new_at_each_call(self):
        for name, op in ITSELF.items():
            for options in ({}, {"fullgraph": False}, {"dynamic": True}):
                f = th.compile(lambda x, op=op: x * op(th.tensor([[0.0, 0.0, 0.0]])).add_(1), **options)
                with self.subTest(op=name, **options):
                    self.assertEqual([f(th.ones(1, 3)).tolist() for _ in range(3)], [[[1, 1, 1]]] * 3)

    def test_compiled_functions_keep_no_line_of_them(self):
        f = th.compile(lambda x: x.reshape(1, 3).expand(1, 3) * 2)
        self.assertEqual(f(th.ones(1, 3)).tolist(), [[2, 2, 2]])
        self.assertNotIn("alias", str(th.last_traces(f)[-1]))


if __name__ == "__main__":
    unittest.main()
