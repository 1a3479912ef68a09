"""Losses of classes; others arrive in torch's formulas."""
import torch

from .._rows import op, row, vjp

_REDUCTIONS = ("none", "mean", "sum")


def _kept(self, target, weight, ignore_index):
    """The sum of the weights of the targets that are not ignored, as torch gives it beside the loss."""
    kept = op["ne"](target, ignore_index)
    if weight is None:
        return op["to"](op["sum"](kept), self.dtype)
    return op["sum"](op["where"](kept, op["embedding"](op["where"](kept, target, 0), op["unsqueeze"](weight, 1))[..., 0], 0))


@row("nll_loss_forward", in_parts=True)
@row("nll_loss2d_forward")
def nll_loss_forward(self, target, weight, reduction, ignore_index):
    loss = op["nll_loss"](self, target, weight, ignore_index, _REDUCTIONS[reduction])
    if reduction == 0:
        return loss, op["zeros"]([], self.dtype, self.device)
    return loss, _kept(self, target, weight, ignore_index)


def _backward_in_parts(grad_output, self, target, weight, reduction, ignore_index, total_weight):
    """By comparing the number of each class with the target's, which is a part of the kernel around it. torch stores the losses'
    gradients at the targets of zeros, in the memory of all classes; it reads of `self` the type alone."""
    classes = 0 if self.dim() == 1 else 1
    kept = target != ignore_index
    each = torch.where(kept, -grad_output if reduction != 1 else -grad_output / total_weight, 0)
    if weight is not None:
        each = each * weight[torch.where(kept, target, 0)]
    numbers = torch.arange(self.shape[classes], device=self.device).view([-1] + [1] * (self.dim() - classes - 1))
    return torch.where(numbers == target.unsqueeze(classes), each.unsqueeze(classes), 0).to(self.dtype)


@row("nll_loss_backward", "nll_loss2d_backward", in_parts=_backward_in_parts)
def nll_loss_backward(grad_output, self, target, weight, reduction, ignore_index, total_weight):
    def forward(x):
        return op["nll_loss"](x, target, weight, ignore_index, _REDUCTIONS[reduction])
    return vjp(forward, (self,), grad_output)[0]
