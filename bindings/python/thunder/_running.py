"""Normalisations that write the running statistics they are given, as PyTorch's functions do: the ops leave them alone."""
import math

import numpy

from ._signatures import _form

_FLAGS = (bool, int, numpy.bool_)  # what else stands for one the op refuses


def _move(running, batch, momentum):
    running.copy_(running + (batch - running) * momentum)


def _of_batch(op, name, functions):
    def call(input, running_mean=None, running_var=None, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05):
        if not isinstance(training, _FLAGS) or not training or running_mean is None or running_var is None:
            return op(input, running_mean, running_var, weight, bias, training, momentum, eps)
        made, mean, variance = functions["batch_norm_update"](input, running_mean, running_var, weight, bias, momentum, eps)
        running_mean.copy_(mean)
        running_var.copy_(variance)
        return made
    return _form(op, name, "With training and running statistics, these are written.", call)


def _of_instances(op, name, functions):
    def call(input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1, eps=1e-05):
        made = op(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)  # which refuses what is no tensor
        if isinstance(use_input_stats, _FLAGS) and use_input_stats and math.prod(made.shape[2:]) == 1 < made.ndim - 1:
            raise ValueError(f"instance_norm: statistics of a channel need more than one place, got input {tuple(made.shape)}: use_input_stats=False "
                             "takes running ones")
        if isinstance(use_input_stats, _FLAGS) and use_input_stats and running_mean is not None and running_var is not None:
            plane = list(range(2, input.ndim))
            _move(running_mean, functions["mean"](functions["mean"](input, plane), [0]), momentum)
            _move(running_var, functions["mean"](functions["var"](input, plane), [0]), momentum)
        return made
    return _form(op, name, "With use_input_stats and running statistics, these are written.", call)


def adapt(functions, methods):
    """Puts these forms in the place of the ops."""
    for name, form in (("batch_norm", _of_batch), ("instance_norm", _of_instances)):
        functions[name] = methods[name] = form(functions[name], name, functions)
