"""Images resized and sampled. Most of resizing arrives in torch's own formulas, which it writes before it differentiates."""
from .._rows import op, row, vjp

_MODES, _PADDINGS = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")


def _resized(mode, antialias=False):
    def resize(self, output_size, align_corners, *scales):
        if any(scale is not None for scale in scales):
            return op["interpolate"](self, None, list(scales), mode, align_corners, None, antialias)
        return op["interpolate"](self, output_size, None, mode, align_corners, None, antialias)
    return resize


def _resized_backward(resize):
    """Of a linear function: its gradient does not depend on where it is taken."""
    def backward(grad_output, output_size, input_size, align_corners, *scales):
        zeros = op["zeros"](list(input_size), grad_output.dtype, grad_output.device)
        return vjp(lambda x: resize(x, output_size, align_corners, *scales), (zeros,), grad_output)[0]
    return backward


def _rows_of(name, mode, antialias=False):
    resize = _resized(mode, antialias)
    row(f"{name}.default")(resize)
    row(f"{name}_backward.default")(_resized_backward(resize))


for _name, _mode in (("linear1d", "linear"), ("bilinear2d", "bilinear"), ("trilinear3d", "trilinear"), ("bicubic2d", "bicubic")):
    _rows_of(f"upsample_{_name}", _mode)
for _name in ("bilinear", "bicubic"):
    _rows_of(f"_upsample_{_name}2d_aa", _name, True)


def _nearest_rows(name, mode):
    """Without corners to align."""
    resize = _resized(mode)
    backward = _resized_backward(resize)
    row(f"{name}.default")(lambda self, output_size, *scales: resize(self, output_size, None, *scales))
    row(f"{name}_backward.default")(lambda grad_output, output_size, input_size, *scales:
                                    backward(grad_output, output_size, input_size, None, *scales))


for _rank in (1, 2, 3):
    _nearest_rows(f"upsample_nearest{_rank}d", "nearest")
    _nearest_rows(f"_upsample_nearest_exact{_rank}d", "nearest-exact")


@row("grid_sampler_2d", "grid_sampler_3d")
def grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners):
    return op["grid_sample"](input, grid, _MODES[interpolation_mode], _PADDINGS[padding_mode], align_corners)


@row("grid_sampler_2d_backward", "grid_sampler_3d_backward")
def grid_sampler_backward(grad_output, input, grid, interpolation_mode, padding_mode, align_corners, output_mask):
    def forward(input, grid):
        return grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners)
    return tuple(g if wanted else None for g, wanted in zip(vjp(forward, (input, grid), grad_output), output_mask))
