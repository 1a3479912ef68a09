"""Functions made of functions, under the names that torch.func has: batched, differentiated forwards and backwards.

    per_example = th.func.vmap(th.func.grad(loss), in_dims=(None, 0, 0))(weights, x, y)

They compose with each other, with grad() and with compile(). Arguments and results are tensors and trees of them.
"""
import functools

from . import _functions, _generator, _thunder, _tree
from ._functions import grad, value_and_grad
from ._ops import functions as _op
from ._create import asarray, is_array
from ._grad_mode import detached
from ._thunder import Tensor

__all__ = ["grad", "checkpoint", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "value_and_grad", "vjp", "vmap"]


def _name(function):
    return getattr(function, "__qualname__", type(function).__qualname__)


def _filled(tree, leaves):
    """The tree with the next of the leaves in each place."""
    leaves = iter(leaves)
    return _tree.tree_map(lambda _: next(leaves), tree)


def _spread(who, what, dims, tree):
    """For each leaf of the tree the entry of `dims`, which may stand for a whole branch."""
    if dims is None or isinstance(dims, int):
        return [dims] * len(_tree.tree_leaves(tree))
    its, children = _tree._children(dims), _tree._children(tree)
    if its is None or children is None or list(its) != list(children):
        raise ValueError(f"{who}: {what} must be a number, None, or have the structure of the arguments; it is {dims!r}")
    return [dim for key in its for dim in _spread(who, what, its[key], children[key])]


def _transform(*args):
    made = _thunder.transform(*args)
    return detached(made) if _thunder._grad_detaches() else made


def _tensors_of(who, what, tree):
    """The leaves as tensors, all of which must be such."""
    leaves = [asarray(leaf) if is_array(leaf) or isinstance(leaf, float) else leaf for leaf in _tree.tree_leaves(tree)]
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise TypeError(f"{who}: {what} must be tensors, or lists, tuples and dicts of them; got {type(leaf).__name__}")
    return leaves


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """The function over batches of examples: as a loop over dim in_dims of its arguments, whose results are stacked along
    out_dims, in one pass over all. None in in_dims: the argument is the same for all examples.

    in_dims may have the structure of the arguments, out_dims that of the results. Ops that draw random numbers are refused
    unless randomness is "different" or "same". chunk_size examples at a time take less memory.
    """
    who = _name(func)

    @functools.wraps(func)
    def batched(*args, **named):
        tree = (list(args), named)
        leaves = _tree.tree_leaves(tree)
        dims = _spread("vmap", "in_dims", list(in_dims) if isinstance(in_dims, tuple) else in_dims, list(args)) + [0] * len(_tree.tree_leaves(named))
        leaves = [asarray(leaf) if dim is not None and is_array(leaf) else leaf for leaf, dim in zip(leaves, dims)]
        places = [i for i, dim in enumerate(dims) if dim is not None]
        for i in places:
            if not isinstance(leaves[i], Tensor):
                raise ValueError(f"vmap: in_dims asks for dim {dims[i]} of what is no tensor but {type(leaves[i]).__name__}; give it None")
        tensors = [_op["movedim"](leaves[i], dims[i], 0) if dims[i] else leaves[i] for i in places]
        return _chunked(func, who, tree, leaves, places, tensors, out_dims, randomness, chunk_size)
    return _functions._traceback.covered(batched)


def _chunked(func, who, tree, leaves, places, tensors, out_dims, randomness, chunk_size):
    count = tensors[0].shape[0] if tensors and tensors[0].ndim else 0
    if chunk_size is None or count <= chunk_size:
        return _batch(func, who, tree, leaves, places, tensors, out_dims, randomness)
    parts = [_batch(func, who, tree, leaves, places, [t[i:i + chunk_size] for t in tensors], 0, randomness)
             for i in range(0, count, chunk_size)]
    joined = _tree.tree_map(lambda *pieces: _op["cat"](list(pieces), 0), *parts)
    return _placed(joined, out_dims)


def _placed(result, out_dims):
    dims = _spread("vmap", "out_dims", list(out_dims) if isinstance(out_dims, tuple) and isinstance(result, tuple) else out_dims,
                   list(result) if isinstance(result, tuple) else result)
    if not any(dims):
        return result
    return _filled(result, [_op["movedim"](t, 0, dim) if dim else t for t, dim in zip(_tree.tree_leaves(result), dims)])


def _batch(func, who, tree, leaves, places, tensors, out_dims, randomness):
    seen = []

    def flat(*examples):
        whole = list(leaves)
        for place, example in zip(places, examples):
            whole[place] = example
        args, named = _filled(tree, whole)
        result = func(*args, **named)
        seen.append(result)
        return tuple(_tensors_of("vmap", "what the function gives", result))
    none = out_dims is None or any(dim is None for dim in _tree.tree_leaves(out_dims))
    made = _transform("vmap", who, flat, tuple(tensors), _tree.tree_leaves(out_dims) if none else None, None, randomness)
    result = _filled(seen[-1], made)
    return result if none else _placed(result, out_dims)


def _floats_of(kind, chosen):
    tensors = _tensors_of(kind, "the arguments by which is differentiated", chosen)
    for tensor in tensors:
        if not tensor.dtype.is_floating_point:
            raise TypeError(f"{kind}: only by tensors of floats can be differentiated, one of the arguments is {tensor.dtype}")
    return tensors


def _differentiated(kind, func, args, named, numbers, last, has_aux):
    """(results as the function gave them, what the transform adds for each, aux): by the arguments at these numbers."""
    who = _name(func)
    for number in numbers:
        if not -len(args) <= number < len(args):
            raise TypeError(f"{kind}: argnums {number} asks for an argument that was not given: there are {len(args)} positional ones")
    chosen = [args[number] for number in numbers]
    tensors = _floats_of(kind, chosen)
    seen = []

    def flat(*values):
        whole = list(args)
        for number, value in zip(numbers, _filled(chosen, values)):
            whole[number] = value
        result = func(*whole, **named)
        if has_aux and not (isinstance(result, tuple) and len(result) == 2):
            raise TypeError(f"{kind}: with has_aux the function must return a pair, its result and anything")
        result, aux = result if has_aux else (result, None)
        seen.append((result, aux))
        return [*_tensors_of(kind, "what the function gives", result)], [leaf for leaf in _tree.tree_leaves(aux) if isinstance(leaf, Tensor)]
    made = _transform(kind, who, flat, tuple(tensors), None, last, "error")
    return made, chosen, *seen[-1]


def _aux_of(aux, tensors):
    tensors = iter(tensors)
    return _tree.tree_map(lambda leaf: next(tensors) if isinstance(leaf, Tensor) else leaf, aux)


def jvp(func, primals, tangents, *, strict=False, has_aux=False):
    """(func(*primals), its derivative along the tangents), forwards; with has_aux func returns (output, anything), which
    follows."""
    if not isinstance(primals, (list, tuple)) or not isinstance(tangents, (list, tuple)):
        raise TypeError("jvp: primals and tangents must be tuples, one entry for each argument")
    last = _tensors_of("jvp", "tangents", list(tangents))
    made, _, result, aux = _differentiated("jvp", func, list(primals), {}, range(len(primals)), last, has_aux)
    outputs = _filled(result, made[0]), _filled(result, made[2])
    return (*outputs, _aux_of(aux, made[1])) if has_aux else outputs


def vjp(func, *primals, has_aux=False):
    """(func(*primals), a function of cotangents that gives the gradients of the primals, a tuple); with has_aux func returns
    (output, anything), which follows. Random numbers of the gradients are those of the output."""
    made = (_recorded_vjp if _thunder.is_tracing() else _evaluated_vjp)(func, primals, has_aux)
    return made if has_aux else made[:2]


def _evaluated_vjp(func, primals, has_aux):
    """Each gradient evaluates func again, from the random state that the output began with."""
    state = _generator.get_rng_state()
    result = func(*primals)
    output, aux = result if has_aux else (result, None)

    def pulled(*cotangents):
        last, now = _tensors_of("vjp", "cotangents", list(cotangents)), _generator.get_rng_state()
        _generator.set_rng_state(state)
        try:
            made, chosen, _, _ = _differentiated("vjp", func, list(primals), {}, range(len(primals)), last, has_aux)
        finally:
            _generator.set_rng_state(now)
        return tuple(_filled(chosen, made[2]))
    return output, _functions._traceback.covered(pulled), aux


def _recorded_vjp(func, primals, has_aux):
    """In a trace the lines of the output are differentiated, by copies of the primals that func alone has."""
    own = [_op["clone"](tensor) for tensor in _floats_of("vjp", list(primals))]
    result = func(*_filled(list(primals), own))
    output, aux = result if has_aux else (result, None)
    outputs = _tensors_of("vjp", "what the function gives", output)

    def pulled(*cotangents):
        last = _tensors_of("vjp", "cotangents", list(cotangents))
        if len(last) != len(outputs):
            raise ValueError(f"vjp({_name(func)}): {len(outputs)} cotangents are needed, {len(last)} were given")
        for i, (cotangent, of) in enumerate(zip(last, outputs)):
            if not of.dtype.is_floating_point:
                raise TypeError(f"vjp({_name(func)}): result {i} is {of.dtype}, only floats can be differentiated")
            if (cotangent.shape, cotangent.dtype) != (of.shape, of.dtype):
                raise ValueError(f"vjp({_name(func)}): cotangents {i} must be {of.dtype}{list(of.shape)}, got {cotangent.dtype}{list(cotangent.shape)}")
        made = _thunder.grad_of(functools.reduce(lambda a, b: a + b, [(of * cotangent).sum() for of, cotangent in zip(outputs, last)]), own)
        return tuple(_filled(list(primals), detached(made) if _thunder._grad_detaches() else made))
    return output, _functions._traceback.covered(pulled), aux


def _jacobian(kind, func, argnums, has_aux):
    numbers = argnums if isinstance(argnums, tuple) else (argnums,)

    @functools.wraps(func)
    def jacobians(*args, **named):
        made, chosen, result, aux = _differentiated(kind, func, list(args), named, numbers, None, has_aux)
        count = len(_tree.tree_leaves(result))

        def row(blocks):
            trees = _filled(chosen, blocks)
            return tuple(trees) if isinstance(argnums, tuple) else trees[0]
        rows = iter([row(blocks) for blocks in made[:count]])
        out = _tree.tree_map(lambda _: next(rows), result)
        return (out, _aux_of(aux, made[count:])) if has_aux else out
    return _functions._traceback.covered(jacobians)


def jacrev(func, argnums=0, *, has_aux=False):
    """The Jacobian of the function by the arguments argnums, backwards: a batch of one backward for each element of the
    result. Its shape is that of the result, then that of the argument."""
    return _jacobian("jacrev", func, argnums, has_aux)


def jacfwd(func, argnums=0, has_aux=False):
    """jacrev(), forwards: a batch of one derivative for each element of the arguments."""
    return _jacobian("jacfwd", func, argnums, has_aux)


def hessian(func, argnums=0):
    """The second derivatives of the function: jacfwd() of its jacrev()."""
    return jacfwd(jacrev(func, argnums), argnums)


def grad_and_value(func, argnums=0, has_aux=False):
    """A function that returns (gradients, value): those that grad() gives, and what the function gave."""
    both = value_and_grad(func, argnums, has_aux)

    @functools.wraps(func)
    def turned(*args, **named):
        value, gradients = both(*args, **named)
        return gradients, value
    return _functions._traceback.covered(turned)


def checkpoint(function, *args, use_reentrant=None, preserve_rng_state=True, **named):
    """function(*args), of which a backward keeps the arguments alone and computes the rest again; random numbers are the same
    again. It saves memory in compiled functions; on an eager tape, which keeps everything, it changes nothing."""
    tree = (list(args), named)
    leaves = _tree.tree_leaves(tree)
    places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, Tensor)]
    seen = []

    def flat(*tensors):
        whole = list(leaves)
        for place, tensor in zip(places, tensors):
            whole[place] = tensor
        args, named = _filled(tree, whole)
        seen.append(function(*args, **named))
        return tuple(_tensors_of("checkpoint", "what the function gives", seen[-1]))
    if not _thunder.is_tracing():
        return function(*args, **named)
    made = _transform("checkpoint", _name(function), flat, tuple(leaves[i] for i in places), None, None, "error")
    return _filled(seen[-1], made)
