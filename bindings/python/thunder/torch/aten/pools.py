"""Pools, and their gradients."""
from .._rows import hidden, op, row, vjp


def _pair(size, default=None):
    return list(size) if size else default


@row("max_pool2d_with_indices")
def max_pool2d(self, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
    return op["max_pool2d_with_indices"](self, kernel_size, _pair(stride), padding, dilation, ceil_mode)


@row("max_pool2d_with_indices_backward")
def max_pool2d_backward(grad_output, self, kernel_size, stride, padding, dilation, ceil_mode, indices):
    """By the places that the forward found, so that ties go to the same element."""
    if self.ndim == 4:
        return hidden("prims.max_pool2d_backward")(grad_output, indices, list(self.shape))
    made = hidden("prims.max_pool2d_backward")(op["unsqueeze"](grad_output, 0), op["unsqueeze"](indices, 0), [1, *self.shape])
    return op["squeeze"](made, [0])


@row("max_pool3d_with_indices")
def max_pool3d(self, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
    return op["max_pool3d_with_indices"](self, kernel_size, _pair(stride), padding, dilation, ceil_mode)


@row("max_pool3d_with_indices_backward")
def max_pool3d_backward(grad_output, self, kernel_size, stride, padding, dilation, ceil_mode, indices):
    def forward(x):
        return op["max_pool3d"](x, kernel_size, _pair(stride), padding, dilation, ceil_mode)
    return vjp(forward, (self,), grad_output)[0]


def _averaged(rank):
    name = f"avg_pool{rank}d"

    def pool(self, kernel_size, stride=(), padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
        return op[name](self, kernel_size, _pair(stride), padding, ceil_mode, count_include_pad, divisor_override)

    def backward(grad_output, self, *options):
        return vjp(lambda x: pool(x, *options), (self,), grad_output)[0]
    row(name)(pool)
    row(f"{name}_backward")(backward)


def _adaptive(rank):
    name = f"adaptive_avg_pool{rank}d"

    def pool(self, output_size):
        return op[name](self, output_size)

    def backward(grad_output, self):
        return vjp(lambda x: pool(x, list(grad_output.shape[-rank:])), (self,), grad_output)[0]
    row(f"_{name}")(pool)
    row(f"_{name}_backward")(backward)


for _rank in (2, 3):
    _averaged(_rank)
    _adaptive(_rank)


def _adaptive_max(rank):
    name = f"adaptive_max_pool{rank}d"

    def pool(self, output_size):
        return op[f"{name}_with_indices"](self, output_size)

    def backward(grad_output, self, indices):
        """To the places that the forward found, which count through each plane."""
        zeros = op["zeros"](list(self.shape[:-rank]) + [_count(self.shape[-rank:])], self.dtype, self.device)
        flat = [op["flatten"](t, -rank, -1) for t in (indices, grad_output)]
        return op["reshape"](op["scatter_add"](zeros, -1, *flat), list(self.shape))
    row(name)(pool)
    row(f"{name}_backward")(backward)


def _count(sizes):
    count = 1
    for size in sizes:
        count *= size
    return count


for _rank in (2, 3):
    _adaptive_max(_rank)
