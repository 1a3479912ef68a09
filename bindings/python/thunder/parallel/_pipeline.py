"""Stages of a model on the ranks of an axis: micro-batches pass through them, gradients come back."""
from .. import _backward, _ops, _thunder, _tree

_op = _ops.functions


def tree_sum(terms):
    """Of trees of tensors: neighbours are added, then neighbours of these."""
    while len(terms) > 1:
        pairs = [_tree.tree_map(lambda a, b: None if a is None else a + b, *terms[i:i + 2]) for i in range(0, len(terms) - 1, 2)]
        terms = pairs + terms[len(terms) & ~1:]
    return terms[0]


def mean_over_ranks(gradients, parameters):
    """Of gradients of several micro-batches the mean; in a step of data() over its ranks, too."""
    total = tree_sum(gradients)
    if _thunder._has_grad_axis():
        total = _thunder._reduce_gradients(total, parameters)
    return _tree.tree_map(lambda g: None if g is None else g / len(gradients), total)


class OneForwardOneBackward:
    """The stage of this rank. In each tick of the schedule it computes forward with one micro-batch and back with another, where it has them; what
    all stages send then is one collective ahead and one back, so that all ranks have the same order of them."""

    def __init__(self, forward, parameters, loss_of, mesh, microbatches, hidden, axis):
        self.forward, self.parameters, self.loss_of, self.axis, self.microbatches = forward, parameters, loss_of, axis, microbatches
        self.stages, self.own = mesh.size(axis), mesh.index(axis)
        self.nothing = _op["zeros"](hidden.shape, dtype=hidden.dtype, device=hidden.device)
        self.kept, self.losses, self.gradients = {}, [], []

    def _ahead(self, tick, stage):
        return self._there(tick - stage)

    def _back(self, tick, stage):
        return self._there(tick - (2 * (self.stages - 1) - stage))

    def _there(self, microbatch):
        return microbatch if 0 <= microbatch < len(self.microbatches) else None

    def _pass(self, value, senders, step):
        if not senders:
            return None
        arrived = _op["ppermute"](value if self.own in senders else self.nothing, self.axis, senders, [sender + step for sender in senders])
        return _op["detach"](arrived)  # what goes back is sent by the schedule, not by the gradient of this line

    def _compute(self, microbatch, arrived):
        inputs, *targets = self.microbatches[microbatch]
        x = inputs if self.own == 0 else arrived
        y = self.forward(x)
        if self.own == self.stages - 1:
            y = self.loss_of(y, *targets)
            self.losses.append(y)
        elif (y.shape, y.dtype) != (self.nothing.shape, self.nothing.dtype):
            raise ValueError(f"pipeline: stage {self.own} gave {y.dtype}{list(y.shape)}, and hidden is {self.nothing.dtype}{list(self.nothing.shape)}")
        self.kept[microbatch] = x, y
        return y

    def _compute_back(self, microbatch, arrived):
        x, y = self.kept.pop(microbatch)
        loss = y if self.own == self.stages - 1 else (y * arrived).sum()
        found = _backward.grad_of(loss, [self.parameters] + ([x] if self.own else []))
        self.gradients.append(found[0])
        return found[1] if self.own else None

    def run(self):
        arrived = cotangent = None
        for tick in range(len(self.microbatches) + 2 * (self.stages - 1)):
            ahead, back = self._ahead(tick, self.own), self._back(tick, self.own)
            y = None if ahead is None else self._compute(ahead, arrived)
            arrived = self._pass(y, [s for s in range(self.stages - 1) if self._ahead(tick, s) is not None], 1)
            dx = None if back is None else self._compute_back(back, cotangent)
            cotangent = self._pass(dx, [s for s in range(1, self.stages) if self._back(tick, s) is not None], -1)
        mean = tree_sum(self.losses) / len(self.losses) if self.losses else _op["zeros"]([], device=self.nothing.device)
        last, told = self.stages - 1, mean
        for stage in range(last):  # not a broadcast, which is in no order with these
            passed = _op["ppermute"](mean, self.axis, [last], [stage])
            told = passed if self.own == stage else told
        return told
