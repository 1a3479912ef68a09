"""Normalisation. The gradients are torch's formulas of the saved mean and rstd, which its core decompositions write."""
from .._rows import op, row, type_of, vjp


def _statistics(like, input, dims, eps, keepdim):
    """Mean and 1 / sqrt(variance + eps), in the dtypes that torch saves them in."""
    wide = op["to"](input, type_of(like, 0)[0]) if input.dtype.itemsize >= 4 else input.float()
    variance, mean = op["var_mean"](wide, dims, 0, keepdim)
    return op["to"](mean, type_of(like, 1)[0]), op["to"](op["rsqrt"](variance + eps), type_of(like, 2)[0])


@row("native_layer_norm", results=True)
def native_layer_norm(like, input, normalized_shape, weight, bias, eps):
    dims = list(range(input.ndim - len(normalized_shape), input.ndim))
    return op["layer_norm"](input, normalized_shape, weight, bias, eps), *_statistics(like, input, dims, eps, True)


@row("native_group_norm", results=True)
def native_group_norm(like, input, weight, bias, N, C, HxW, group, eps):
    rows = op["reshape"](input, [N, group, -1])
    return op["group_norm"](input, group, weight, bias, eps), *_statistics(like, rows, [2], eps, False)


def _per_channel(like, input, eps):
    """By batch_norm's own formula, so that they are taken in the pass over the input that it makes."""
    mean, rstd = op["batch_norm_stats"](input, eps)
    return op["to"](mean, type_of(like, 1)[0]), op["to"](rstd, type_of(like, 2)[0])


def _empty(like, at):
    return op["zeros"]([0], *type_of(like, at))


def _of_running(like, running_mean, running_var, eps):
    """What is saved where the running statistics are used: nothing on the CPU, themselves on devices."""
    if like[1].numel() == 0:
        return _empty(like, 1), _empty(like, 2)
    return op["to"](running_mean, type_of(like, 1)[0]), op["to"](op["rsqrt"](running_var + eps), type_of(like, 2)[0])


@row("_native_batch_norm_legit_no_training", results=True)
def batch_norm_no_training(like, input, weight, bias, running_mean, running_var, momentum, eps):
    made = op["batch_norm"](input, running_mean, running_var, weight, bias, False, momentum, eps)
    return made, *_of_running(like, running_mean, running_var, eps)


@row("_native_batch_norm_legit.no_stats", results=True)
def batch_norm_no_stats(like, input, weight, bias, training, momentum, eps):
    return op["batch_norm"](input, None, None, weight, bias, True, momentum, eps), *_per_channel(like, input, eps)


def _updated(like, input, weight, bias, running_mean, running_var, momentum, eps, *more):
    """The result, what is saved, and the running statistics behind it, in the dtypes that torch gives them."""
    made, mean, variance = op["batch_norm_update"](input, running_mean, running_var, weight, bias, momentum, eps)
    at = 3 + len(more)
    return made, *_per_channel(like, input, eps), *more, op["to"](mean, type_of(like, at)[0]), op["to"](variance, type_of(like, at + 1)[0])


@row("_native_batch_norm_legit_functional", results=True)
def batch_norm_functional(like, input, weight, bias, running_mean, running_var, training, momentum, eps):
    if not training:
        made = op["batch_norm"](input, running_mean, running_var, weight, bias, False, momentum, eps)
        return made, *_of_running(like, running_mean, running_var, eps), running_mean, running_var
    return _updated(like, input, weight, bias, running_mean, running_var, momentum, eps)


@row("_batch_norm_with_update_functional", results=True)
def batch_norm_with_update(like, input, weight, bias, running_mean, running_var, momentum, eps):
    return _updated(like, input, weight, bias, running_mean, running_var, momentum, eps, _empty(like, 3))


@row("_batch_norm_no_update", results=True)
def batch_norm_no_update(like, input, weight, bias, running_mean, running_var, momentum, eps):
    made = op["batch_norm"](input, running_mean, running_var, weight, bias, False, momentum, eps)
    return made, *_of_running(like, running_mean, running_var, eps), _empty(like, 3)


@row("batch_norm_backward")
def batch_norm_backward(grad_out, input, weight, running_mean, running_var, save_mean, save_var, update, eps, output_mask,
                        reserve):
    """Of what _batch_norm_with_update_functional gave."""
    affine = [weight, op["zeros_like"](weight)] if weight is not None else []

    def forward(x, *affine):
        return op["batch_norm"](x, running_mean, running_var, *(affine or (None, None)), update, 0.0, eps)
    found = [*vjp(forward, (input, *affine), grad_out), None, None][:3]
    return tuple(g if wanted else None for g, wanted in zip(found, output_mask))
