"""What the library has whole and still gets in parts where a backward may follow, so that the partitioner chooses what is kept for it:
of a softmax its argument, often half as wide as the result, and a number or two of each row."""
import torch

_aten = torch.ops.aten

# As torch writes them.
THEIRS = (_aten._softmax, _aten._softmax_backward_data, _aten._log_softmax, _aten._log_softmax_backward_data, _aten.nll_loss_forward)


def _nll_loss_backward(grad_output, self, target, weight, reduction, ignore_index, total_weight):
    """By comparing the number of each class with the target's, which is a part of the kernel around it. torch stores the losses'
    gradients at the targets of zeros, in the memory of all classes; it reads of `self` the type alone."""
    classes = 0 if self.dim() == 1 else 1
    kept = target != ignore_index
    each = torch.where(kept, -grad_output if reduction != 1 else -grad_output / total_weight, 0)
    if weight is not None:
        each = each * weight[torch.where(kept, target, 0)]
    numbers = torch.arange(self.shape[classes], device=self.device).view([-1] + [1] * (self.dim() - classes - 1))
    return torch.where(numbers == target.unsqueeze(classes), each.unsqueeze(classes), 0).to(self.dtype)


OURS = {_aten.nll_loss_backward.default: _nll_loss_backward, _aten.nll_loss2d_backward.default: _nll_loss_backward}
