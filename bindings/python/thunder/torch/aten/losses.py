"""Losses of classes; others arrive in torch's formulas."""
from .._rows import op, row, vjp

_REDUCTIONS = ("none", "mean", "sum")


def _kept(self, target, weight, ignore_index):
    """The sum of the weights of the targets that are not ignored, as torch gives it beside the loss."""
    kept = op["ne"](target, ignore_index)
    if weight is None:
        return op["to"](op["sum"](kept), self.dtype)
    return op["sum"](op["where"](kept, op["embedding"](op["where"](kept, target, 0), op["unsqueeze"](weight, 1))[..., 0], 0))


@row("nll_loss_forward", "nll_loss2d_forward")
def nll_loss_forward(self, target, weight, reduction, ignore_index):
    loss = op["nll_loss"](self, target, weight, ignore_index, _REDUCTIONS[reduction])
    if reduction == 0:
        return loss, op["zeros"]([], self.dtype, self.device)
    return loss, _kept(self, target, weight, ignore_index)


@row("nll_loss_backward", "nll_loss2d_backward")
def nll_loss_backward(grad_output, self, target, weight, reduction, ignore_index, total_weight):
    def forward(x):
        return op["nll_loss"](x, target, weight, ignore_index, _REDUCTIONS[reduction])
    return vjp(forward, (self,), grad_output)[0]
