"""Products of matrices. linear() arrives as addmm of a transposed weight, and is put together again."""
from .._rows import op, row, same

same("mm bmm mv dot")


@row("addmm")
def addmm(self, mat1, mat2, beta=1, alpha=1):
    if self.ndim == 1 and beta == 1 and alpha == 1 and self.shape[0] == mat2.shape[1]:
        return op["linear"](mat1, op["transpose"](mat2, 0, 1), self)
    return op["addmm"](self, mat1, mat2, beta, alpha)


@row("baddbmm")
def baddbmm(self, batch1, batch2, beta=1, alpha=1):
    return op["baddbmm"](self, batch1, batch2, beta, alpha)


@row("addmv")
def addmv(self, mat, vec, beta=1, alpha=1):
    return op["addmv"](self, mat, vec, beta, alpha)


@row("addbmm")
def addbmm(self, batch1, batch2, beta=1, alpha=1):
    return op["addbmm"](self, batch1, batch2, beta, alpha)


@row("linear")
def linear(input, weight, bias=None):
    return op["linear"](input, weight, bias)


@row("_grouped_mm")
def grouped_mm(self, mat2, offs=None, bias=None, out_dtype=None):
    if bias is not None:
        raise NotImplementedError("grouped_mm with a bias: add it to the result")
    made = op["grouped_mm"](self, mat2, offs)
    return made if out_dtype is None else op["to"](made, out_dtype)


@row("transformers.grouped_mm_fallback")
def grouped_mm_fallback(input, weight, offs):
    return op["grouped_mm"](input, weight, offs)
