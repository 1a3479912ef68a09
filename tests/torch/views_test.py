"""Results in the memory of arguments and of one another: where each begins, how it lies, and what a later write shows, beside eager."""
# covers: bindings/python/thunder/torch/_shown.py bindings/python/thunder/torch/_results.py
import itertools
import unittest

import support

if support.HAVE:
    import torch

    import thunder  # noqa: F401


def _kind(tensors, of):
    """All that tells where tensors lie: of each its type and layout, and of every two of them and the arguments whether they share memory."""
    who = [*of, *tensors]
    memory = [one.untyped_storage().data_ptr() for one in who]
    shared = [(i, j) for i, j in itertools.combinations(range(len(who)), 2) if memory[i] == memory[j] and who[i].numel() and who[j].numel()]
    return [(one.dtype, tuple(one.shape), one.stride() if one.numel() else None, one.requires_grad) for one in tensors], shared


# Places that an integer says: x has 12 elements.
BY_NUMBER = {
    "x[k:]": lambda x, k: x[k:],
    "x[:k]": lambda x, k: x[:k],
    "x[-k:]": lambda x, k: x[-k:],
    "x[k]": lambda x, k: x[k],
    "x[k:k + 2]": lambda x, k: x[k:k + 2],
    "x[k::2]": lambda x, k: x[k::2],
    "narrow": lambda x, k: x.narrow(0, k, 1),
    "split": lambda x, k: x.split([k, 12 - k]),
    "column": lambda x, k: x.view(3, 4)[:, k % 4],
    "rows, turned": lambda x, k: x.view(3, 4)[k % 3:].t(),
    "as_strided": lambda x, k: torch.as_strided(x, (2,), (1,), k),
    "windows": lambda x, k: x.unfold(0, k + 1, 1)[k % 2:],
    "two of them": lambda x, k: (x[k:], x[:k], x * 2),
}

# Places that the size says.
BY_SIZE = {
    "the last": lambda x: x[x.shape[0] - 1:],
    "the second half": lambda x: x[x.shape[0] // 2:],
    "chunk": lambda x: x.chunk(2)[1],
    "column": lambda x: x.view(-1, x.shape[0])[:, x.shape[0] // 2],
    "turned rows": lambda x: x.view(1, -1).t()[x.shape[0] // 2:],
    "half by a float": lambda x: x[int(x.shape[0] * 0.5):],
    "select behind a split": lambda x: x.split(2)[1][1],
}

# Of values made inside: what shares memory.
OF_RESULTS = {
    "a tensor and its row": lambda y: (y, y[0]),
    "two rows": lambda y: (y[0], y[1]),
    "rows and columns": lambda y: (y.t(), y[:, 1:], y[1]),
    "halves": lambda y: y.chunk(2),
    "unbound": lambda y: y.unbind(1),
    "split, and the whole": lambda y: (*y.split([1, 3]), y),
    "detached": lambda y: (y, y.detach(), y.detach()[1]),
    "views that expand": lambda y: (y, y[:1].expand(3, 6)),
    "windows": lambda y: (y, y.unfold(1, 2, 1)),
    "diagonal": lambda y: (y.diagonal(), y),
    "other bits": lambda y: (y.view(torch.int32), y) if not y.requires_grad else (y, y[0]),
    "bits of half the width": lambda y: (y.view(torch.int16), y) if not y.requires_grad else (y, y[0]),
    "views twice": lambda y: (y.view(-1), y.view(-1)[3:], y.view(2, 12)),
    "apart": lambda y: (y, y.clone(), y + 0),
}


@support.needs_torch
class Views(unittest.TestCase):
    def beside(self, function, run, arguments, gradient, name):
        theirs, ours = ([a.clone().requires_grad_(gradient and a.is_floating_point()) if isinstance(a, torch.Tensor) else a for a in arguments]
                        for _ in range(2))
        want, got = support.tensors(function(*theirs)), support.tensors(run(*ours))
        self.assertEqual(len(got), len(want), name)
        for a, b in zip(want, got):
            self.assertTrue(torch.equal(a, b), f"{name}: {b.flatten()[:5]}, right is {a.flatten()[:5]}")
        tensors = [support.tensors(theirs), support.tensors(ours)]
        self.assertEqual(_kind(got, tensors[1]), _kind(want, tensors[0]), name)
        theirs, ours = ([one.detach() for one in of + results] for of, results in zip(tensors, (want, got)))
        for shown in (theirs, ours):
            shown[0].mul_(3)
            shown[len(tensors[0])].add_(1)
        for a, b in zip(theirs, ours):
            self.assertTrue(torch.equal(a, b), f"{name}: after writes {b.flatten()[:5]}, right is {a.flatten()[:5]}")
        return want, got

    def test_of_an_argument_at_places_that_an_integer_says(self):
        for gradient, dynamic, (name, f) in itertools.product((False, True), (None, True), BY_NUMBER.items()):
            run = support.compiled(f, dynamic=dynamic, fullgraph=False)
            for k in (1, 2, 3, 5):
                want, got = self.beside(f, run, (torch.arange(12.0), k), gradient, f"{name}, k = {k}, dynamic = {dynamic}, gradients: {gradient}")
                self.assertEqual(got[0].storage_offset(), want[0].storage_offset(), name)

    def test_of_an_argument_at_places_that_its_size_says(self):
        for gradient, dynamic, (name, f) in itertools.product((False, True), (None, True), BY_SIZE.items()):
            run = support.compiled(f, dynamic=dynamic, fullgraph=False)
            for n in (5, 6, 8, 4):
                want, got = self.beside(f, run, (torch.arange(float(n)),), gradient, f"{name}, size {n}, dynamic = {dynamic}, gradients: {gradient}")
                self.assertEqual(got[0].storage_offset(), want[0].storage_offset(), name)

    def test_of_an_argument_that_is_written_through_one(self):
        def f(x, k):
            x[k:].mul_(2)
            return x[k:], x[:k]
        for dynamic in (None, True):
            run = support.compiled(f, dynamic=dynamic)
            for k in (1, 2, 4):
                self.beside(f, run, (torch.arange(6.0), k), False, f"k = {k}, dynamic = {dynamic}")

    def test_of_an_argument_that_is_written_and_begins_elsewhere(self):
        def halves(x):
            x.select(1, 0).mul_(3)
            return x.chunk(2, 1)[0]

        def rows(x):
            x.add_(1)
            return x[1:], x.t()[x.shape[0] // 2:], x[0] * 2
        for f in (halves, rows):
            run = support.compiled(f, dynamic=True)
            for n in (4, 6, 5):
                theirs, ours = (torch.arange(n * 7.0 + 9)[9:].view(n, 7) for _ in range(2))
                want, got = support.tensors(f(theirs)), support.tensors(run(ours))
                for a, b in zip(want, got):
                    self.assertTrue(torch.equal(a, b))
                    self.assertEqual((a.stride(), a.storage_offset()), (b.stride(), b.storage_offset()))
                self.assertEqual(_kind(got, [ours]), _kind(want, [theirs]))

    def test_of_an_argument_that_begins_elsewhere_at_each_call(self):
        for dynamic in (None, True):
            run, memory = support.compiled(lambda x: x[1:], dynamic=dynamic), torch.arange(20.0)
            for start in (0, 3, 7):
                self.assertTrue(torch.equal(run(memory[start:][:5]), memory[start:][1:5]))

    def test_results_share_memory_where_eager_shares_it(self):
        for gradient, dynamic, (name, f) in itertools.product((False, True), (None, True), OF_RESULTS.items()):
            def made(x, f=f):
                return f(x * 2)
            run = support.compiled(made, dynamic=dynamic)
            for _ in range(2):
                self.beside(made, run, (torch.arange(24.0).view(4, 6),), gradient, f"{name}, dynamic = {dynamic}, gradients: {gradient}")

    def test_views_of_one_value_are_written_behind_a_graph_break(self):
        def f(x):
            row = (x * 2)[0:1]
            number = row.squeeze()
            row[0] = 0
            if row[0] < 3:
                row[0] = 2
            return number
        for x in (torch.arange(3), torch.arange(3.0)):
            self.assertEqual(torch.compile(f, backend="thunder")(x).tolist(), f(x).tolist())

    def test_of_complex_numbers(self):
        z = torch.complex(torch.arange(6.0).view(2, 3), torch.arange(6.0).view(2, 3) + 1)
        for f in (lambda z: z.conj().imag, lambda z: z.real, lambda z: torch.view_as_real(z), lambda z: (z * 2).t(),
                  lambda z: (z * 2, (z * 2).conj()), lambda z: z.conj() * 1j):
            got, want = support.tensors(support.compiled(f)(z)), support.tensors(f(z))
            for a, b in zip(want, got):
                self.assertTrue(torch.equal(a.resolve_neg().resolve_conj(), b.resolve_neg().resolve_conj()))
                self.assertEqual(a.stride(), b.stride())

    def test_negation_that_is_not_carried_out_yet(self):
        z = torch.complex(torch.arange(3.0), torch.arange(3.0) + 1)
        lazy = z.conj().imag
        self.assertTrue(lazy.is_neg())
        self.assertTrue(torch.equal(support.compiled(lambda x: x * 1)(lazy), -z.imag))
        self.assertTrue(torch.equal(support.compiled(lambda x: x + lazy)(torch.zeros(3)), -z.imag))
        with self.assertRaisesRegex(Exception, "resolve_neg"):
            thunder.tensor([0.0]) + lazy
        with self.assertRaisesRegex(Exception, "resolve_neg"):
            thunder.from_dlpack(lazy)

    def test_strides_of_results_are_those_of_eager(self):
        turned = torch.randn(1, 4, 4, 4).permute(0, 2, 3, 1)
        image = torch.randn(1, 6, 4, 4).to(memory_format=torch.channels_last)

        def windows(x):
            h = (x * 2).view(2, -1, 4, 8)
            sizes, strides = list(h.size()), list(h.stride())
            return h.as_strided([sizes[0], sizes[1] * 2 - 1, *sizes[2:]], [strides[0], strides[1] // 2, *strides[2:]])
        cases = ((lambda x: x + x[0], turned), (lambda x: torch.cat([x, x * 2], 1), image), (lambda x: x[:, :, :1] * 2, image),
                 (lambda x: (x * 2)[None].mT, torch.randn(3, 1)), (windows, torch.randn(2, 16, 8)), (lambda x: (x.t() * 2)[:1], torch.randn(3, 4)),
                 (lambda x: torch.empty_strided(x.size(), x.stride()).copy_(x + x), torch.as_strided(torch.randn(16, 16), (16, 8), (16, 1))))
        for (f, x), dynamic in itertools.product(cases, (False, True)):
            want, got = f(x), support.compiled(f, dynamic=dynamic)(x)
            torch.testing.assert_close(got, want)
            self.assertEqual(got.stride(), want.stride())

    def test_memory_that_a_view_does_not_show(self):
        def chunked(x):
            y = (x * 2).view(2, 8)
            return torch.as_strided(y[:, 2:6], (2, 3, 4), (8, 2, 1), 0)
        for f in (chunked, lambda x: torch.as_strided(x.view(4, 4).t() + 1, (4, 3), (1, 5)),
                  lambda x: torch.as_strided(torch.as_strided(x * 3, (2, 4, 3), (8, 1, 2)), (2, 2, 4), (8, 4, 1))):
            x = torch.arange(16.0)
            self.assertTrue(torch.equal(support.compiled(f)(x), f(x)))


if __name__ == "__main__":
    unittest.main()
