"""Calls past AOTAutograd's wrapper, where its own record says that it has nothing to do: no argument is written outside of the graph,
no result is an argument or shares memory with one, nothing is wrapped. Then a call is the program's, and of what is trained one
autograd.Function with two programs. Any other graph goes AOTAutograd's way."""
import torch

from . import _private


class _Twice(torch.autograd.Function):
    """A gradient by whose own gradient nothing can be had: it says so there, not before."""

    @staticmethod
    def forward(ctx, run, *arguments):
        return tuple(run(list(arguments)))

    @staticmethod
    def backward(ctx, *gradients):
        raise RuntimeError('torch.compile(backend="thunder"): a gradient of a gradient is not taken: keep the function whose gradient is '
                           "differentiated again out of it")


def _laid(gradient, strides):
    """As the backward was compiled for; a gradient that is expanded, or lies otherwise, is copied."""
    if gradient.stride() == strides:
        return gradient
    return torch.empty_strided(gradient.shape, strides, dtype=gradient.dtype, device=gradient.device).copy_(gradient)


def _function(forward, backward, facts, tangents):
    """An autograd.Function of the two programs, the second of a list of arguments. `tangents`: the strides for which the backward was
    compiled, of the results that have gradients."""
    in_c = getattr(backward, "_in_c", None)
    count = facts.num_forward_returns
    wanted = [info.requires_grad for info in facts.output_info]
    rest = [i for i, has in enumerate(wanted) if not has]
    numbers = [i for i, has in enumerate(wanted) if has]

    class Compiled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, *arguments):
            made = forward(*arguments)
            ctx.save_for_backward(*[x.detach() if x._is_view() else x for x in made[count:]])
            if rest:
                ctx.mark_non_differentiable(*[made[i] for i in rest if isinstance(made[i], torch.Tensor)])
                ctx._materialize_non_diff_grads = False
            return tuple(made[:count])

        @staticmethod
        def backward(ctx, *gradients):
            arguments = [*ctx.saved_tensors, *[_laid(gradients[i], strides) for i, strides in zip(numbers, tangents)]]
            if torch.is_grad_enabled() and any(one.requires_grad for one in arguments):
                return _Twice.apply(backward, *arguments)
            if in_c is not None:
                return tuple(in_c(*arguments))
            ctx.maybe_clear_saved_tensors()
            return tuple(backward(arguments))
    return Compiled.apply


def _of_arguments(program):
    """A program that takes a list, as a function of its items; None: it is a graph that PyTorch runs as a whole."""
    if not hasattr(program, "_in_c"):
        return None
    return program._in_c or (lambda *arguments: program(list(arguments)))


class Parts:
    """What was compiled of one graph, as it becomes known: AOTAutograd compiles a backward when it first runs."""

    def __init__(self, graph, inputs):
        self.inputs, self.around, self.wraps = inputs, _private.around(), _private.wraps(graph)
        self.facts, self.forward, self.backward, self.tangents, self.trains = None, None, None, None, False

    def noted(self, program, facts, fakes, trains):
        self.forward, self.trains = _of_arguments(program), trains
        records, more = self.around
        plain = not more and not self.wraps and (records or not trains) and _private.has_nothing_to_do(facts, fakes, self.inputs)
        self.facts = facts if plain else None

    def noted_backward(self, program, fakes):
        if self.facts is not None:
            wanted = sum(info.requires_grad for info in self.facts.output_info)
            self.backward, self.tangents = program, [fake.stride() for fake in fakes[len(fakes) - wanted:]]

    def function(self, wrapped):
        """What Dynamo calls, instead of AOTAutograd's `wrapped`."""
        self.inputs = None  # all is compiled that asks about them, and parameters among them may be freed
        if self.facts is None or self.forward is None:
            return wrapped
        if not self.trains:
            return self.forward
        direct = None

        def call(*arguments):
            nonlocal direct
            if direct is None and self.backward is not None:
                direct = _function(self.forward, self.backward, self.facts, self.tangents)
            return (direct or wrapped)(*arguments)
        return call
