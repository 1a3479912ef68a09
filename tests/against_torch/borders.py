"""One entry of op_db at the borders of its dtype: zeros of both signs, ones, infinities, NaN, denormals, the limits, ties and empty
operands, by PyTorch, by ours op by op, and by ours compiled: values with the signs of zeros, and gradients of a cotangent of ones."""
import torch
from torch.testing._internal.opinfo.core import BinaryUfuncInfo, SampleInput, UnaryUfuncInfo
from torch.utils._pytree import tree_map

import calls
import compare
import samples
import thunder as th
from calls import NotOurs

DTYPES = (torch.float32, torch.float64, torch.bfloat16, torch.float16)
COMPILED = (torch.float32,)      # compiling takes most of the time
_MOST, _SIZE = 4, 400            # samples of one op, and elements of a tensor
_FINITE = ("linalg.*", "svd", "pinverse", "cholesky*", "qr", "lu*", "logdet", "det", "matrix_exp", "triangular_solve", "ormqr", "geqrf", "nuclear_norm",
           "norm.nuc", "inverse", "slogdet",      # LAPACK says nothing of other numbers
           "nn.functional.grid_sample")      # of others PyTorch's gradient writes beyond its memory


def numbers(dtype):
    """What is at the borders: finite numbers, and all."""
    info = torch.finfo(dtype)
    finite = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, -2.5, 3.0, info.smallest_normal / 2, -info.smallest_normal / 2, info.smallest_normal, info.max, info.min,
              info.eps / 2, 20.0, -20.0]
    return finite, [*finite, float("inf"), -float("inf"), float("nan")]


def dtypes_of(entry):
    return [dtype for dtype in DTYPES if entry.supports_dtype(dtype, "cpu")]


def _filled(tensor, values, offset):
    """The tensor's elements replaced by these in turn; integers, booleans and large tensors stay as they are."""
    if not isinstance(tensor, torch.Tensor) or not tensor.is_floating_point() or tensor.numel() > _SIZE or tensor.layout is not torch.strided:
        return tensor
    count = tensor.numel()
    # Not in step with a row's length, so that rows and operands meet others.
    made = torch.tensor([values[(offset + 7 * i + i // len(values)) % len(values)] for i in range(count)], dtype=tensor.dtype).reshape(tensor.shape)
    return made.requires_grad_(tensor.requires_grad)


def _with(sample, values):
    offset = [0]

    def fill(leaf):
        offset[0] += 3
        return _filled(leaf, values, offset[0])
    made = SampleInput(tree_map(fill, sample.input), args=tree_map(fill, sample.args), kwargs=tree_map(fill, sample.kwargs))
    made.output_process_fn_grad = sample.output_process_fn_grad
    return made


def _of_operands(entry, dtype, wants):
    """Samples of functions of one tensor, or of two, of which each number meets each."""
    _, values = numbers(dtype)
    x = torch.tensor(values, dtype=dtype, requires_grad=wants)
    empty = torch.empty(0, 3, dtype=dtype, requires_grad=wants)
    if isinstance(entry, UnaryUfuncInfo):
        kwargs = (entry.sample_kwargs("cpu", dtype, x) if entry.sample_kwargs else ({}, {}))[0]
        return [("borders", SampleInput(x, kwargs=kwargs)), ("empty", SampleInput(empty, kwargs=kwargs))]
    column = torch.tensor(values, dtype=dtype).reshape(-1, 1).requires_grad_(wants)
    return [("borders", SampleInput(column, args=(x,))), ("empty", SampleInput(empty, args=(empty[:1].detach().requires_grad_(wants),)))]


def draw(entry, dtype):
    """(wants gradients, [(label, sample)])."""
    wants, given = samples.draw(entry, dtype)
    if isinstance(entry, (UnaryUfuncInfo, BinaryUfuncInfo)):
        return wants, _of_operands(entry, dtype, wants)
    import fnmatch
    finite, every = numbers(dtype)
    alone = any(fnmatch.fnmatchcase(name, pattern) for pattern in _FINITE for name in (entry.name, samples.full_name(entry)))
    made = []
    for number, sample in enumerate(given[:_MOST]):
        made.append((f"ties {number}", _with(sample, [1.0])))
        made.append((f"small {number}", _with(sample, finite[:9])))
        if not alone:
            made.append((f"borders {number}", _with(sample, every)))
    return wants, made


# ---- ours, op by op and compiled ----

def _leaves(sample):
    found = {}
    for leaf in compare.leaves([sample.input, list(sample.args), sample.kwargs]):
        if isinstance(leaf, torch.Tensor) and leaf.dtype in calls._DTYPES and leaf.layout is torch.strided:
            found[id(leaf)] = leaf
    return list(found.values())


def _values_of(entry, sample, leaves):
    """A function of ours that gives the tensors among the results."""
    def values(*tensors):
        known = {id(leaf): (tensor, leaf) for leaf, tensor in zip(leaves, tensors)}
        return [made for made in compare.leaves(samples._ours(entry, sample, known)) if isinstance(made, th.Tensor)]
    return values


def _gradients_of(entry, sample, leaves, positions):
    wanted = [place for place, leaf in enumerate(leaves) if leaf.requires_grad]

    def gradients(*tensors):
        def loss(*inputs):
            mine = list(tensors)
            for place, one in zip(wanted, inputs):
                mine[place] = one
            known = {id(leaf): (tensor, leaf) for leaf, tensor in zip(leaves, mine)}
            made = compare.leaves(calls.released(samples._ours(entry, sample, known, process=True)))
            parts = [made[i].sum() for i in positions]
            return sum(parts[1:], parts[0])
        return list(th.grad(loss, argnums=tuple(range(len(wanted))))(*[tensors[place] for place in wanted]))
    return gradients


def _their_gradients(entry, sample):
    inputs = samples._inputs(sample)
    made = compare.leaves(sample.output_process_fn_grad(samples._call(entry, sample)))
    positions = [i for i, leaf in enumerate(made) if isinstance(leaf, torch.Tensor) and leaf.requires_grad]
    if not inputs or not positions or any(made[i].is_complex() for i in positions):
        return None
    results = [made[i] for i in positions]
    try:
        gradients = torch.autograd.grad(results, inputs, [torch.ones_like(leaf) for leaf in results], allow_unused=True)
    except RuntimeError:
        return None
    return positions, [torch.zeros_like(x) if g is None else g for g, x in zip(gradients, inputs)]


def _signs(ours, theirs):
    """Raises where both are zeros of different signs."""
    for a, b in zip(ours, theirs):
        if b.is_floating_point():
            a, b = compare.to_torch(a), b.detach()
            wrong = (a == 0) & (b == 0) & (torch.signbit(a) != torch.signbit(b))
            if bool(wrong.any()):
                at = tuple(int(i) for i in wrong.nonzero()[0])
                raise compare.Differs(f"{int(wrong.sum())} zeros of {wrong.numel()} have the other sign: at {list(at)} {a[at].item()}")


def _compare(ours, theirs, exact):
    try:
        compare.results(ours, theirs)
    except compare.Differs:
        compare.results(ours, theirs, exact())


def _forward(entry, sample, run, values):
    theirs = [leaf for leaf in compare.leaves(samples._call(entry, sample)) if isinstance(leaf, torch.Tensor)]
    if any(leaf.is_complex() or leaf.layout is not torch.strided for leaf in theirs):
        raise NotOurs("complex numbers and 8-bit floats are not here")
    leaves = _leaves(sample)
    ours = run(_values_of(entry, sample, leaves))(*[th.from_dlpack(leaf.detach()) for leaf in leaves])
    if not values:
        return compare.results(ours, theirs, values=False)
    _compare(ours, theirs, lambda: samples._exact(lambda wide: [leaf for leaf in compare.leaves(samples._call(entry, wide)) if isinstance(leaf, torch.Tensor)], sample))
    return _signs(ours, theirs)


def _gradient(entry, sample, run):
    theirs = _their_gradients(entry, sample)
    if theirs is None:
        return False
    positions, wanted = theirs
    leaves = _leaves(sample)
    ours = run(_gradients_of(entry, sample, leaves, positions))(*[th.from_dlpack(leaf.detach()) for leaf in leaves])
    of_leaf = dict(zip([id(leaf) for leaf in leaves if leaf.requires_grad], ours))
    ours = [of_leaf[id(x)] for x in samples._inputs(sample)]
    _compare(ours, wanted, lambda: samples._exact(lambda wide: _their_gradients(entry, wide)[1], sample))
    return True


def run_sample(entry, sample, wants, values, dtype):
    """[(part, outcome)]; nothing where PyTorch itself refuses the sample."""
    if not samples._torch_takes(entry, sample):
        return []
    runs = [("", lambda f: f), *([("compiled ", th.compile)] if dtype in COMPILED else [])]
    rows = []
    for name, run in runs:
        outcome = samples._outcome(lambda: _forward(entry, sample, run, values))
        rows.append((name + "forward", outcome))
        if wants and values and outcome[0] not in ("not ours", "refused"):
            rows.append((name + "gradient", samples._outcome(lambda: _gradient(entry, sample, run))))
        if outcome[0] in ("refused", "not ours"):
            break       # compiled as well
    return [(part, outcome) for part, outcome in rows if outcome[0] != "none"]


def run_entry(entry, dtypes, values, only=None):
    """Rows as of samples.run_entry(); the samples are named by what they are made of."""
    rows = []
    for dtype in dtypes:
        wants, made = draw(entry, dtype)
        for number, (label, sample) in enumerate(made):
            if only is not None and number != only:
                continue
            for part, (what, text) in run_sample(entry, sample, wants, values, dtype):
                rows.append({"dtype": calls.dtype_name(dtype), "sample": number, "part": part, "what": what,
                             "text": f"{label}: {text}" if text else ""})
    return rows
