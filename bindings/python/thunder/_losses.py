"""Losses of which more is Python's than a row: by a distance of the caller's, and over clusters of classes."""
import collections

from . import _ops
from ._module import Module

_ASMoutput = collections.namedtuple("_ASMoutput", ["output", "loss"])


def triplet_margin_with_distance_loss(anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False, reduction="mean"):
    """triplet_margin_loss() by distance_function(x, y), a function or a module; by pairwise_distance() without one."""
    op = _ops.functions
    if margin <= 0:
        raise ValueError(f"triplet_margin_with_distance_loss: margin must be greater than 0, got {margin}")
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"triplet_margin_with_distance_loss: reduction must be 'mean', 'sum' or 'none', got {reduction!r}")
    distance = distance_function or op["pairwise_distance"]
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = op["minimum"](far, distance(positive, negative))
    loss = op["clamp_min"](near - far + margin, 0)
    return loss if reduction == "none" else op[reduction](loss)


class TripletMarginWithDistanceLoss(Module):
    """TripletMarginLoss by distance_function(x, y), a function or a module; by pairwise_distance() without one."""
    _kind = "TripletMarginWithDistanceLoss"

    def __init__(self, *, distance_function=None, margin=1.0, swap=False, reduction="mean"):
        super().__init__(margin=margin, swap=swap, reduction=reduction)
        self.distance_function = distance_function

    def forward(self, anchor, positive, negative):
        return triplet_margin_with_distance_loss(anchor, positive, negative, distance_function=self.distance_function,
                                                 margin=self.margin, swap=self.swap, reduction=self.reduction)


class AdaptiveLogSoftmaxWithLoss(Module):
    """The log probability of each target and the mean loss, of many classes: those below the first of cutoffs have a place in the
    head, those from each cutoff on a cluster, whose width is div_value times less than that before."""
    _kind = "AdaptiveLogSoftmaxWithLoss"

    def __call__(self, *args, **named):
        return _ASMoutput(*super().__call__(*args, **named))

    def log_prob(self, input):
        """The log probabilities of all classes, [batch, n_classes]."""
        op = _ops.functions
        head, first = op["log_softmax"](self.head(input), -1), self.cutoffs[0]
        parts = [op["narrow"](head, -1, 0, first)]
        for number, cluster in enumerate(self.tail):
            parts.append(op["log_softmax"](cluster(input), -1) + op["narrow"](head, -1, first + number, 1))
        return op["cat"](parts, -1)

    def predict(self, input):
        """The most probable class of each row."""
        return self.log_prob(input).argmax(-1)


def convert_sync_batchnorm(module, process_group=None):
    """The module with a SyncBatchNorm, of the same tensors, in the place of each BatchNorm below it, or of itself. One process
    runs a program here, so process_group must be None, and nothing that is computed changes."""
    from ._module import classes
    if process_group is not None:
        raise TypeError("convert_sync_batchnorm: process_group must be None: programs run in one process")
    if isinstance(module, tuple(classes[f"BatchNorm{dims}d"] for dims in (1, 2, 3))):
        made = classes["SyncBatchNorm"](module.num_features, module.eps, module.momentum, module._options()["affine"],
                                        module._options()["track_running_stats"])
        for name in module._own_names():
            made._set_tensor(name, module._tensor(name), module._own_names()[name])
        return made.train(module.training)
    for name, child in module.named_children():
        converted = convert_sync_batchnorm(child)
        if converted is not child:
            setattr(module, name, converted)
    return module
