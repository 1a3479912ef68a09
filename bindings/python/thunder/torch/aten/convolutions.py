"""Convolutions of one to three dims, and their gradients."""
from .._rows import op, row, vjp


def _convolved(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    rank = weight.ndim - 2
    if transposed:
        return op[f"conv_transpose{rank}d"](input, weight, bias, stride, padding, output_padding, groups, dilation)
    return op[f"conv{rank}d"](input, weight, bias, stride, padding, dilation, groups)


@row("convolution")
def convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    return _convolved(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)


@row("convolution_backward")
def convolution_backward(grad_output, input, weight, bias_sizes, stride, padding, dilation, transposed, output_padding, groups,
                         output_mask):
    def forward(input, weight):
        return _convolved(input, weight, None, stride, padding, dilation, transposed, output_padding, groups)
    of_input, of_weight = vjp(forward, (input, weight), grad_output)
    others = [dim for dim in range(grad_output.ndim) if dim != 1]
    of_bias = op["sum"](grad_output, others) if output_mask[2] else None
    return of_input if output_mask[0] else None, of_weight if output_mask[1] else None, of_bias
