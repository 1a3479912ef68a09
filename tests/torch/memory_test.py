"""What a training step holds: what the forward saves, what programs work in, and what a backward does with what it is given for good."""
import gc
import sys
import unittest
import weakref

import support

if support.HAVE:
    import torch
    from torch import nn
    from torch.nn import functional as F

    import thunder

VOCABULARY, WIDTH, LENGTH = 8192, 64, 256
LOGITS = LENGTH * VOCABULARY * 2  # bytes, in bfloat16


if support.HAVE:
    class Language(nn.Module):
        """A network of one block over a long text and many words, whose logits are what counts."""

        def __init__(self):
            super().__init__()
            self.words, self.up = nn.Embedding(VOCABULARY, WIDTH), nn.Linear(WIDTH, 4 * WIDTH)
            self.down, self.norm = nn.Linear(4 * WIDTH, WIDTH), nn.LayerNorm(WIDTH)

        def forward(self, x, y):
            h = self.words(x)
            h = h + self.down(F.gelu(self.up(self.norm(h))))
            return F.cross_entropy(F.linear(h, self.words.weight).view(-1, VOCABULARY), y.view(-1))


def text():
    torch.manual_seed(0)
    return torch.randint(0, VOCABULARY, (1, LENGTH)), torch.randint(0, VOCABULARY, (1, LENGTH))


def step(function, batch, **named):
    with torch.autocast("cpu", torch.bfloat16):
        loss = function(*batch)
    loss.backward(**named)
    return loss


def gradients(model):
    return [parameter.grad.clone() for parameter in model.parameters()]


def saved_by_eager(model, batch):
    """Bytes that autograd keeps between forward and backward, but for the parameters."""
    kept = {}
    own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            kept[storage.data_ptr()] = storage.nbytes()
        return tensor
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor), torch.autocast("cpu", torch.bfloat16):
        loss = model(*batch)
    total = sum(kept.values())
    del loss
    return total


@support.needs_torch
class Memory(unittest.TestCase):
    def setUp(self):
        torch._dynamo.reset()
        gc.collect()
        torch.manual_seed(0)
        self.model, self.batch = Language(), text()
        self.compiled = support.compiled(self.model)

    def programs(self):
        return thunder.torch.programs()[-2:]

    def test_a_step_holds_less_than_what_eager_saves(self):
        step(self.compiled, self.batch)
        self.model.zero_grad()
        gc.collect()
        before = thunder.cuda.memory_stats("cpu")["allocated_bytes"]
        thunder.cuda.reset_peak_memory_stats("cpu")
        step(self.compiled, self.batch)
        held = thunder.cuda.memory_stats("cpu")["max_allocated_bytes"] - before
        given = sum(parameter.numel() * 4 for parameter in self.model.parameters())
        self.assertLess(held, saved_by_eager(self.model, self.batch) + given)

    def test_logits_are_saved_once_and_as_they_are(self):
        step(self.compiled, self.batch)
        saved = int(self.programs()[0].memory_report().partition(", and ")[2].split()[0])
        self.assertLess(saved, 1.6 * LOGITS)

    def test_the_gradient_of_the_logits_takes_their_place(self):
        step(self.compiled, self.batch)
        report = self.programs()[1].memory_report()
        self.assertLess(int(report.split()[2]), 0.5 * LOGITS, report[:200])

    def test_programs_one_after_the_other_work_in_the_same_memory(self):
        first, second = (torch.compile(lambda x, n=n: (x @ x + n) @ x, backend="thunder") for n in (1.0, 2.0))
        x = torch.randn(1024, 1024)
        first(x), second(x)
        gc.collect()
        kept = thunder.cuda.memory_stats("cpu")["allocated_bytes"]
        works = [int(program.memory_report().split()[2]) for program in self.programs()]
        self.assertGreaterEqual(min(works), x.numel() * 4)
        del first, second
        torch._dynamo.reset()
        gc.collect()
        self.assertLess(kept - thunder.cuda.memory_stats("cpu")["allocated_bytes"], sum(works))

    def test_parameters_of_a_model_that_is_gone_are_freed(self):
        def freed(train):
            model = nn.Linear(4, 4)
            there = [weakref.ref(one) for one in model.parameters()]
            loss = torch.compile(model, backend="thunder")(torch.randn(2, 4)).sum()
            if train:
                loss.backward()
            del model, loss
            gc.collect()
            return [one() is None for one in there]
        for train in (False, True):
            self.assertEqual(freed(train), [True, True])

    def test_a_graph_that_is_kept_gives_the_same_gradients_again(self):
        loss = step(self.compiled, self.batch, retain_graph=True)
        first = gradients(self.model)
        self.model.zero_grad()
        loss.backward(retain_graph=True)
        self.model.zero_grad()
        loss.backward()
        for a, b in zip(first, gradients(self.model)):
            torch.testing.assert_close(a, b, rtol=0, atol=0)

    def test_what_somebody_else_holds_stays_as_it_is(self):
        held = []

        def pack(tensor):
            held.append((tensor, tensor.clone()))
            return tensor
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
            step(self.compiled, self.batch)
        for tensor, before in held:
            torch.testing.assert_close(tensor, before, rtol=0, atol=0, equal_nan=True)

    def test_gradients_are_those_of_eager(self):
        step(self.model, self.batch)
        want = gradients(self.model)
        self.model.zero_grad()
        step(self.compiled, self.batch)
        for a, b in zip(gradients(self.model), want):
            self.assertLess((a - b).norm(), 2e-2 * b.norm())

    def test_a_target_that_is_none_is_an_error(self):
        x, y = self.batch
        y[0, 3] = VOCABULARY
        with self.assertRaises(Exception):
            step(self.compiled, (x, y))

    def test_ignored_and_weighed_targets_are_those_of_eager(self):
        def loss(x, y, w, reduction):
            return F.cross_entropy(x, y, w, ignore_index=2, reduction=reduction)
        y = torch.tensor([0, 2, 4, 1])
        for shape, reduction in (((4, 5), "mean"), ((4, 5), "sum"), ((4, 5), "none"), ((4, 5, 2), "mean")):
            targets = y if len(shape) == 2 else y[:, None].expand(4, 2).contiguous()
            found = []
            for function in (loss, support.compiled(loss)):
                torch.manual_seed(1)
                x = torch.randn(shape, requires_grad=True)
                result = function(x, targets, torch.rand(5), reduction)
                result.sum().backward()
                found.append((result.detach(), x.grad))
            torch.testing.assert_close(found[1], found[0])


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
