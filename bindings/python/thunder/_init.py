"""First values of parameters, written into the tensor, which is returned: PyTorch's torch.nn.init. They are ops, init_NAME_."""
from . import _ops

__all__ = ["calculate_gain", "constant_", "eye_", "kaiming_normal_", "kaiming_uniform_", "normal_", "ones_", "orthogonal_", "trunc_normal_",
           "uniform_", "xavier_normal_", "xavier_uniform_", "zeros_"]

globals().update({name: _ops.functions["init_" + name] for name in __all__ if "init_" + name in _ops.functions and name != "calculate_gain"})


def constant_(tensor, val):
    return tensor.fill_(val)


def ones_(tensor):
    return tensor.fill_(1.0)


def zeros_(tensor):
    return tensor.fill_(0.0)


def calculate_gain(nonlinearity, param=None):
    """How much of the standard deviation is kept for what follows the layer; param: the slope of a leaky_relu."""
    return _ops.functions["init_calculate_gain"](nonlinearity, param).item()
