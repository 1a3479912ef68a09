"""loss.backward(): gradients that add up in the parameters, where optimisers find them.

They are attributes of the tensors, p.grad. In a compiled function, whose tensors have no data yet, what it leaves there is assigned at
the end of each call, as other attributes are (_writes.py); what it found there is guarded.
"""
from copy import deepcopy

from . import _ops, _thunder, _tree, _writes
from ._host import GRAD, ITEM
from ._thunder import Tensor

_op = _ops.functions
_FROZEN = "_requires_grad"
_LOOP = ("    with thunder.tape():\n        loss = ...\n        loss.backward()\n    opt.step()\n    opt.zero_grad()\n"
         "or, compiled as a whole,    opt.step(thunder.grad_of(loss, net.parameters()))")


# ---- what has a gradient ----

def requires_grad(x):
    """Whether backward() gives it a gradient: parameters, but for those that were frozen, and what requires_grad_() said it of."""
    return vars(x).get(_FROZEN, _thunder.is_parameter(x))


def set_requires_grad(x, value):
    if value and not (x.dtype.is_floating_point):
        raise RuntimeError(f"only tensors of real numbers can have gradients, not {x.dtype}")
    vars(_thunder.know(x))[_FROZEN] = bool(value)
    _thunder.touch(_FROZEN)


def carry(x, copy, memo=None):
    """What was said of a tensor holds of its copy, too: that it is a parameter, whether it requires grad, its gradient, and attributes of
    the user's. memo: of copy.deepcopy()."""
    if _thunder.is_parameter(x):
        _thunder.mark_parameter(copy)
    if not x.is_concrete or not vars(x):
        return copy
    own = vars(_thunder.know(copy))
    for name, value in vars(x).items():
        own[name] = _op["to"](_op["clone"](value), copy.dtype) if name == GRAD else value if memo is None else deepcopy(value, memo)
    _thunder.touch(_FROZEN)
    return copy


def requires_grad_(x, requires_grad=True):
    """From now on backward() gives it a gradient, or none; the tensor itself."""
    set_requires_grad(x, requires_grad)
    return x


def _guard(tensors, key, label, quiet=False):
    _thunder.guard([(ITEM, vars(x), key, quiet, label) for x in tensors])


def _trained(tensors):
    """Those that were not frozen; a trace notes that."""
    if _thunder.is_tracing():
        _guard([x for x in tensors if x.is_concrete], _FROZEN, "whether a parameter requires_grad", True)
    return [x for x in tensors if vars(x).get(_FROZEN, True)]


def grad_of(loss, wrt):
    """d(loss)/d(wrt) in the structure of wrt: a tensor, or a tree of tensors. None in the place of a parameter that requires_grad=False
    freezes: a step leaves it as it is."""
    tensors = [leaf for leaf in _tree.tree_leaves(wrt) if isinstance(leaf, Tensor)]
    trained = _trained(tensors)
    if len(trained) == len(tensors):
        return _thunder.grad_of(loss, wrt)
    if not trained:
        raise RuntimeError("grad_of: nothing of this requires grad: requires_grad_(False) was called for it")
    return _thunder.grad_of(loss, _tree.tree_map(lambda leaf: leaf if vars(leaf).get(_FROZEN, True) else None, wrt))


# ---- where gradients are kept ----

def _reading(x, read=True):
    """Before the gradient of a tensor is looked at, or set: a trace notes what it was."""
    if _thunder.is_tracing() and _writes.holds(vars(x), "the gradient of a parameter") and read:
        _guard([x], GRAD, "the gradient of a parameter")


def grad(x):
    """What backward() has added up; None: nothing yet."""
    _reading(x)
    return vars(x).get(GRAD)


def set_grad(x, value):
    if value is None:
        return clear(x)
    if not isinstance(value, Tensor) or value.shape != x.shape or value.dtype is not x.dtype:
        what = f"a tensor {tuple(value.shape)} of {value.dtype}" if isinstance(value, Tensor) else type(value).__name__
        raise RuntimeError(f"grad must be None or a tensor like its own, {tuple(x.shape)} of {x.dtype}, not {what}")
    _reading(x, False)
    vars(_thunder.know(x))[GRAD] = value


def clear(x, set_to_none=True):
    """Takes the gradient away, or makes it zeros."""
    if not set_to_none:
        return _op["zero_"](grad(x)) if grad(x) is not None else None
    _reading(x, False)
    vars(x).pop(GRAD, None)


def _add(x, gradient):
    before = grad(x)
    if before is not None:
        gradient = _op["add"](before, gradient)
    elif gradient.is_concrete:
        gradient = _op["clone"](gradient)  # it may be a view of what the tape holds, or the gradient of another one, too
    set_grad(x, _op["detach"](gradient))


# ---- backward ----

def backward(loss, gradient=None, retain_graph=None, create_graph=False, inputs=None):
    """Adds the gradient of this tensor to p.grad of each parameter that it depends on, or of `inputs` alone. Inside of
    `with thunder.tape():`, which keeps what that needs until its end, or in a compiled function. `gradient`: of a loss with several
    elements, what each is multiplied by. retain_graph and create_graph are taken, and change nothing."""
    if not _thunder.is_recording():
        raise RuntimeError("backward: nothing was recorded. What is to be differentiated stands in a tape, or in a compiled function:\n" + _LOOP)
    if gradient is not None:
        loss = _op["sum"](_op["mul"](loss, gradient))
    elif loss.numel() != 1:
        raise RuntimeError(f"backward: gradients are of a tensor with one element, not {tuple(loss.shape)}: take its mean() or sum(), or "
                           "give gradient=, a tensor like it")
    loss = _op["reshape"](loss, []) if loss.ndim else loss
    given = [inputs] if isinstance(inputs, Tensor) else inputs
    wanted = list(given) if given is not None else _read_by(loss)
    if given is None:
        _writes.check_arguments(_refuse_trained, lambda arguments: _thunder.reached(loss, arguments))
    if not wanted:
        raise RuntimeError("backward: the loss depends on nothing that requires grad: on no parameter of a module, nn.Parameter or tensor that "
                           "requires_grad_() was called for, but in no_grad() or before the tape began")
    for x, one in zip(wanted, _thunder.grad_of(loss, wanted)):
        _add(x, one)


def _refuse_trained(argument):
    if isinstance(argument, Tensor) and requires_grad(argument):
        raise RuntimeError(f"backward: an argument of the compiled function, {tuple(argument.shape)} of {argument.dtype}, requires grad, and "
                           "backward() inside of that gives gradients to parameters and captured tensors alone: call it outside, in "
                           "`with thunder.tape():`, or return grad_of(loss, argument); or give argument.detach()")


def _read_by(loss):
    for module in _thunder.modules(_thunder.ModuleBase):
        for name in module._own_names() if hasattr(module, "_own_names") else ():
            module.__getattr__(name)  # from now on it is one object, which keeps the gradient
    known = [x for x in _thunder.known() if x.is_concrete and (_thunder.is_parameter(x) or vars(x).get(_FROZEN))]
    return _trained([x for x, is_read in zip(known, _thunder.reached(loss, known)) if is_read])


def gradients_of(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, allow_unused=None):
    """autograd.grad: the gradients of the outputs, one or several, by the inputs, a tuple. Of an output with several elements
    grad_outputs says what each is multiplied by. Zeros for an input that nothing depends on."""
    if not _thunder.is_recording():
        raise RuntimeError("autograd.grad: nothing was recorded. What is to be differentiated stands in `with thunder.tape():`, or in a compiled "
                           "function; thunder.grad(f) differentiates a function")
    outputs, inputs = ([one] if isinstance(one, Tensor) else list(one) for one in (outputs, inputs))
    weights = [None] * len(outputs) if grad_outputs is None else [grad_outputs] if isinstance(grad_outputs, Tensor) else list(grad_outputs)
    loss = None
    for output, weight in zip(outputs, weights):
        if weight is None and output.numel() != 1:
            raise RuntimeError(f"autograd.grad: an output has {output.numel()} elements: grad_outputs= says what each is multiplied by")
        part = _op["sum"](output if weight is None else _op["mul"](output, weight))
        loss = part if loss is None else _op["add"](loss, part)
    found = _thunder.grad_of(loss, inputs)
    return tuple(found) if create_graph else tuple(_op["detach"](one) for one in found)


# ---- of many ----

def gathered(who, names, params):
    """{name: gradient} for a step."""
    gradients = {name: grad(x) for name, x in zip(names, params)}
    if all(one is None for one in gradients.values()):
        raise RuntimeError(f"{who}: no parameter has a gradient. Write\n{_LOOP}")
    return gradients


def with_gradients(who, parameters):
    """The tensors among parameters (one, or several) that have gradients, and these."""
    tensors = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    found = [(x, grad(x)) for x in tensors]
    found = [pair for pair in found if pair[1] is not None]
    if tensors and not found:
        raise RuntimeError(f"{who}: no parameter has a gradient: loss.backward() comes before; gradients that grad_of() gave are clipped by "
                           f"optim.{who.rstrip('_')}(gradients, bound)")
    return found


def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """Scales the gradients of the parameters so that their norm together is at most max_norm; the norm before."""
    found = with_gradients("clip_grad_norm_", parameters)
    if not found:
        return _op["zeros"]([])
    norms = _op["stack"]([_op["linalg_vector_norm"](one, norm_type) for _, one in found])
    total = _op["linalg_vector_norm"](norms, norm_type)
    if error_if_nonfinite and not _thunder.is_tracing() and not bool(_op["isfinite"](total)):
        raise RuntimeError(f"clip_grad_norm_: the norm of order {norm_type} of the gradients is {total.item()}")
    share = _op["clamp"](_op["div"](max_norm, _op["add"](total, 1e-6)), None, 1.0)
    for x, one in found:
        set_grad(x, _op["mul"](one, _op["to"](share, one.dtype)))
    return total


def clip_grad_value_(parameters, clip_value, foreach=None):
    """Bounds each element of the gradients to [-clip_value, clip_value]."""
    for x, one in with_gradients("clip_grad_value_", parameters):
        set_grad(x, _op["clamp"](one, -clip_value, clip_value))


members = {"backward": backward, "requires_grad_": requires_grad_,
           "requires_grad": property(requires_grad, set_requires_grad), "grad": property(grad, set_grad, clear)}
