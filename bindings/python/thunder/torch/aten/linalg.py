"""Linear algebra. What torch gives beside the results for its own backward (LU factors) is not given: where a graph reads it, PyTorch runs the op."""
from .._rows import op, row, same, type_of, vjp

same("linalg_qr linalg_matrix_exp linalg_solve_triangular cholesky cholesky_inverse cholesky_solve dist")


def _fine(like, at):
    """That nothing went wrong, which the op itself would have said."""
    return op["zeros"](list(like[at].shape), *type_of(like, at))


@row("_linalg_svd")
def svd(A, full_matrices=False, compute_uv=True, driver=None):
    if not compute_uv:
        return None, op["linalg_svdvals"](A), None
    return op["linalg_svd"](A, full_matrices)


@row("_linalg_eigh")
def eigh(A, UPLO="L", compute_v=True):
    return op["linalg_eigh"](A, UPLO) if compute_v else (op["linalg_eigvalsh"](A, UPLO), None)


@row("_linalg_det")
def det(A):
    return op["linalg_det"](A), None, None


@row("_linalg_slogdet")
def slogdet(A):
    return *op["linalg_slogdet"](A), None, None


@row("linalg_inv_ex", results=True)
def inv(like, A, check_errors=False):
    return op["linalg_inv"](A), _fine(like, 1)


@row("linalg_cholesky_ex", results=True)
def cholesky(like, A, upper=False, check_errors=False):
    return op["linalg_cholesky"](A, upper), _fine(like, 1)


@row("_linalg_solve_ex", results=True)
def solve(like, A, B, left=True, check_errors=False):
    return op["linalg_solve"](A, B, left), None, None, _fine(like, 3)


@row("triangular_solve")
def triangular_solve(self, A, upper=True, transpose=False, unitriangular=False):
    return op["triangular_solve"](self, A, upper, transpose, unitriangular)


@row("linalg_pinv.atol_rtol_tensor", "linalg_pinv.atol_rtol_float")
def pinv(self, atol=None, rtol=None, hermitian=False):
    return op["linalg_pinv"](self, atol, rtol, hermitian)


@row("_cdist_forward")
def cdist(x1, x2, p, compute_mode=None):
    return op["cdist"](x1, x2, p)


@row("_cdist_backward")
def cdist_backward(grad, x1, x2, p, cdist):
    return vjp(lambda x: op["cdist"](x, x2, p), (x1,), grad)[0]


@row("_pdist_forward")
def pdist(self, p=2):
    return op["pdist"](self, p)


@row("_pdist_backward")
def pdist_backward(grad, self, p, pdist):
    return vjp(lambda x: op["pdist"](x, p), (self,), grad)[0]


@row("_trilinear")
def trilinear(i1, i2, i3, expand1, expand2, expand3, sumdim, unroll_dim=1):
    wide = []
    for tensor, dims in ((i1, expand1), (i2, expand2), (i3, expand3)):
        for dim in dims:
            tensor = op["unsqueeze"](tensor, dim)
        wide.append(tensor)
    product = wide[0] * wide[1] * wide[2]
    return op["sum"](product, list(sumdim)) if sumdim else product
