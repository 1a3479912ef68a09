"""PyTorch's ways of calling some ops beside those of their schemas: tensors one by one, sizes before bounds, norms by name, options of old."""
import functools
import inspect

from . import _thunder
from ._thunder import Tensor

_LISTS = (list, tuple)


def _form(op, name, doc, call):
    """`call` in the place of the op."""
    call.__name__ = call.__qualname__ = name
    call.__module__, call.schema, call.__signature__ = "thunder", op.schema, op.__signature__
    call.__doc__ = f"{op.__doc__}\n\n{doc}"
    call.form = True
    return call


# ---- tensors one by one ----

def _several(op, name):
    """meshgrid(a, b): what its schema takes as a list."""
    def call(*tensors, **named):
        if "tensors" in named or tensors and isinstance(tensors[0], _LISTS):
            return op(*tensors, **named)
        return op(tensors, **named)
    return _form(op, name, "The tensors may be a list, or arguments.", call)


def _each(op, name):
    """atleast_1d(a, b): a tuple of what it makes of each."""
    def call(*tensors, **named):
        if len(tensors) == 1 and isinstance(tensors[0], _LISTS):
            tensors = tensors[0]
        elif len(tensors) < 2:
            return op(*tensors, **named)
        return tuple(op(tensor) for tensor in tensors)
    return _form(op, name, "Of several tensors, or a list of them, a tuple.", call)


# ---- other arguments in the same places ----

def _unbiased(op, name):
    """std(x, dim, unbiased), std(x, unbiased), and by name."""
    def call(*args, **named):
        args, unbiased = list(args), named.pop("unbiased", None)
        for place in (1, 2):
            if len(args) > place and isinstance(args[place], bool):
                unbiased, args[place] = args[place], None
        if unbiased is not None and len(args) > 2:
            args[2] = int(unbiased)
        elif unbiased is not None:
            named["correction"] = int(unbiased)
        return op(*args, **named)
    return _form(op, name, "unbiased=False stands for correction=0, True for 1; it may stand in the place of dim, or behind it.", call)


def _bounds_from_zero(op, name):
    """randint(high, size): without low it is 0."""
    def call(*args, **named):
        sizes = name == "randint" and (len(args) > 1 and isinstance(args[1], _LISTS) or len(args) == 1 and "size" in named)
        alone = name == "randint_like" and (len(args) == 2 or len(args) > 2 and (args[2] is None or isinstance(args[2], (str, _thunder.dtype))))
        if "low" not in named and "high" not in named and (sizes or alone):
            place = 0 if name == "randint" else 1
            args = (*args[:place], 0, *args[place:])
        elif "low" not in named and "high" in named:
            named["low"] = 0
        return op(*args, **named)
    return _form(op, name, "Without low, it is 0.", call)


def _tensordot(op, name):
    def call(a, b, dims=2, **named):
        if isinstance(dims, _LISTS) and len(dims) == 2 and all(isinstance(part, _LISTS) for part in dims):
            return op(a, b, dims_a=list(dims[0]), dims_b=list(dims[1]), **named)
        return op(a, b, dims, **named)
    return _form(op, name, "dims may be the lists of both, as dims=([0, 1], [2, 0]).", call)


def _tensor_split(op, name):
    def call(input, *args, **named):
        key = next((key for key in ("indices", "sections", "indices_or_sections", "tensor_indices_or_sections") if key in named), None)
        if key is None and not args:
            return op(input, **named)
        where, *rest = args if key is None else (named.pop(key), *args)
        return op(input, where.tolist() if isinstance(where, Tensor) and where.is_concrete else where, *rest, **named)
    return _form(op, name, "indices or sections may be a tensor.", call)


def _named_norm(op, name, of_name):
    """norm(x, "fro"), linalg.norm(A, "nuc"): of_name maps names to functions of (input, dim, keepdim, dtype)."""
    parameters = list(op.__signature__.parameters)

    def call(*args, **named):
        given = dict(zip(parameters, args), **{{"axis": "dim", "keepdims": "keepdim"}.get(key, key): value for key, value in named.items()})
        order = given.get(parameters[1])
        if not isinstance(order, str):
            return op(*args, **named)
        if order not in of_name:
            raise ValueError(f"{name}: argument '{parameters[1]}' must be a number, 'fro' or 'nuc', got {order!r}")
        return of_name[order](given[parameters[0]], given.get("dim"), given.get("keepdim", False), given.get("dtype"))
    return _form(op, name, f"{parameters[1]} may be 'fro' or 'nuc'.", call)


# ---- options that change nothing here, or have one value ----

_EXTRA = {  # of an op: all parameters in PyTorch's order, and of those that it has not the values that they may have
    "cdist": ("x1 x2 p compute_mode", {"compute_mode": ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist",
                                                        "donot_use_mm_for_euclid_dist")}),
    "embedding_bag": ("input weight offsets max_norm norm_type scale_grad_by_freq mode sparse per_sample_weights include_last_offset padding_idx",
                      {"max_norm": (None,), "norm_type": None, "scale_grad_by_freq": (False,), "sparse": (False,)}),
    "embedding": ("input weight padding_idx max_norm norm_type scale_grad_by_freq sparse",
                  {"max_norm": (None,), "norm_type": None, "scale_grad_by_freq": (False,), "sparse": (False,)}),
}


def _with_extra(op, name, text, extra):
    order = text.split()

    def call(*args, **named):
        if len(args) > len(order):
            raise TypeError(f"{name} takes at most {len(order)} arguments, {len(args)} were given")
        twice = next((key for key in order[:len(args)] if key in named), None)
        if twice is not None:
            raise TypeError(f"{name}: argument '{twice}' is given twice")
        named = {**dict(zip(order, args)), **named}
        for key, allowed in extra.items():
            if key in named and allowed is not None and named[key] not in allowed:
                raise TypeError(f"{name}: argument '{key}' can only be {' or '.join(map(repr, allowed))} here, got {named[key]!r}")
        return op(**{key: value for key, value in named.items() if key not in extra})
    call = _form(op, name, f"Of PyTorch's, {', '.join(extra)} may be given with the values that ask for nothing else.", call)
    known = op.__signature__.parameters
    call.__signature__ = op.__signature__.replace(parameters=[
        known.get(key, inspect.Parameter(key, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=(extra.get(key) or (None,))[0])) for key in order])
    return call


def _sizes_that_stay(op, name):
    """adaptive_avg_pool2d(x, (None, 7)): None keeps a size, as -1 does in schemas."""
    def call(input, output_size, *args, **named):
        if isinstance(output_size, _LISTS):
            output_size = [-1 if size is None else size for size in output_size]
        output_size = -1 if output_size is None else output_size
        return op(input, output_size, *args, **named)
    return _form(op, name, "None in output_size keeps a size.", call)


# ---- nn.functional ----

_INPLACE = ("alpha_dropout celu dropout dropout1d dropout2d dropout3d elu feature_alpha_dropout feature_dropout hardsigmoid hardswish hardtanh leaky_relu mish relu "
            "relu6 rrelu selu silu threshold").split()


def _with_inplace(op, name):
    count = len(op.__signature__.parameters)

    def call(*args, **named):
        inplace = named.pop("inplace", False)
        if len(args) == count + 1:
            args, inplace = args[:-1], args[-1]
        made = op(*args, **named)
        return (args[0] if args else named["input"]).copy_(made) if inplace else made
    added = inspect.Parameter("inplace", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=False, annotation="bool")
    call = _form(op, name, "inplace=True stores the result in the input.", call)
    call.__signature__ = op.__signature__.replace(parameters=[*op.__signature__.parameters.values(), added])
    return call


def functional(functions):
    """{name: function} of nn.functional: the ops, and where PyTorch's function of that name there is another one, that."""
    made = {**functions, **{name: _with_inplace(functions[name], name) for name in _INPLACE}, "unfold": functions["im2col"]}
    interpolate = functions["interpolate"]
    for name, mode in (("upsample_nearest", "nearest"), ("upsample_bilinear", "bilinear")):
        def upsample(input, size=None, scale_factor=None, mode=mode):
            return interpolate(input, size, scale_factor, mode, True if mode == "bilinear" else None)
        upsample.__name__ = upsample.__qualname__ = name
        upsample.__doc__ = f"interpolate() by mode {mode!r}{', with aligned corners' if mode == 'bilinear' else ''}."
        made[name] = upsample
    return made


# ---- all ----

def _norms(functions):
    frobenius, nuclear, vector = functions["linalg_matrix_norm"], functions["nuclear_norm"], functions["linalg_vector_norm"]
    cast = lambda x, dtype: x if dtype is None else functions["to"](x, dtype)
    of_matrix = {"fro": lambda x, dim, keepdim, dtype: frobenius(cast(x, dtype), None, (-2, -1) if dim is None else dim, keepdim),
                 "nuc": lambda x, dim, keepdim, dtype: nuclear(cast(x, dtype), (-2, -1) if dim is None else dim, keepdim)}
    of_any = {**of_matrix, "fro": lambda x, dim, keepdim, dtype: vector(cast(x, dtype), 2, dim, keepdim)}
    return {"norm": of_any, "linalg_norm": of_matrix, "linalg_matrix_norm": of_matrix}


def adapt(functions, methods):
    """Puts these forms in the place of the ops."""
    norms = _norms(functions)
    forms = {**dict.fromkeys(("meshgrid", "broadcast_tensors"), _several),
             **dict.fromkeys(("atleast_1d", "atleast_2d", "atleast_3d"), _each),
             **dict.fromkeys(("std", "var", "std_mean", "var_mean"), _unbiased),
             **dict.fromkeys(("randint", "randint_like"), _bounds_from_zero),
             **{name: functools.partial(_named_norm, of_name=of_name) for name, of_name in norms.items()},
             **{name: functools.partial(_with_extra, text=text, extra=extra) for name, (text, extra) in _EXTRA.items()},
             **{name: _sizes_that_stay for name in functions if name.startswith("adaptive_") and "indices" not in name},
             "tensordot": _tensordot, "tensor_split": _tensor_split}
    for name, form in forms.items():
        functions[name] = form(functions[name], name)
        if name in methods:
            methods[name] = functions[name]
