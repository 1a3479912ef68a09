"""torch.jit's trace: the program of one call as a function of its own; and sizes that are marked to vary."""
from . import _functions, _thunder
from ._thunder import Compiled, Tensor

_MOST = 2 ** 63 - 1


jit = _functions.compile  # its other name


def _call(inputs, named=None):
    """One call as (args, named): a lone tensor or dict is its only argument."""
    if inputs is None:
        return (), named
    return ((inputs,) if isinstance(inputs, (Tensor, dict)) else tuple(inputs)), named


def _traced(function, calls, **options):
    name = getattr(function, "__qualname__", type(function).__qualname__)
    if isinstance(function, Compiled):
        function = getattr(function, "__wrapped__", function)
    return _thunder.jit_trace(_functions.compile(function), name, tuple(calls), options)


def trace(func, example_inputs=None, check_trace=True, check_inputs=None, check_tolerance=1e-5, strict=True,
          example_kwarg_inputs=None, **options):
    """The program of func(*example_inputs, **example_kwarg_inputs) as a compiled function that never runs `func` again.

    What Python decided stays as it was decided; where the function allows that, any size of 2 and more fits. A module is in
    the mode, training or not, in which it was traced. With check_trace it is traced again and run beside `func`, on copies
    of each of `check_inputs`, tuples, or else of the example: graphs, captured tensors and all outputs must be the same, the
    outputs but for check_tolerance, which is relative. `strict` refuses lists and dicts as results. `options`: compile's.
    """
    if not callable(func):
        raise TypeError(f"jit.trace: a function was expected, not {type(func).__name__}")
    if example_inputs is None and example_kwarg_inputs is None:
        raise TypeError("jit.trace: example_inputs or example_kwarg_inputs must be given")
    example = _call(example_inputs, example_kwarg_inputs)
    calls = [example] + [_call(inputs) for inputs in check_inputs or ()]
    return _traced(func, calls, check_trace=check_trace, check_tolerance=float(check_tolerance), strict=strict, **options)


class TracedModule:
    """Methods of a module, each the trace of one call; forward is what a call runs."""

    def __init__(self, methods):
        self.__dict__.update(methods)

    def __call__(self, *args, **named):
        if "forward" not in self.__dict__:
            raise TypeError("the traced module has no forward, only " + ", ".join(sorted(self.__dict__)))
        return self.forward(*args, **named)


def trace_module(mod, inputs, check_trace=True, check_inputs=None, check_tolerance=1e-5, strict=True, **options):
    """The traces of several methods of a module: `inputs` is {method: example}, `check_inputs` a list of such dicts."""
    methods = {}
    for method, example in inputs.items():
        function = mod if method == "forward" and callable(mod) else getattr(mod, method)
        calls = [_call(example)] + [_call(given[method]) for given in check_inputs or () if method in given]
        methods[method] = _traced(function, calls, check_trace=check_trace, check_tolerance=float(check_tolerance),
                                  strict=strict, **options)
    return TracedModule(methods)


def freeze(function, **options):
    """The same compiled function, whose captured tensors are constants: what depends on them alone is computed once."""
    if isinstance(function, TracedModule):
        return TracedModule({name: freeze(method, **options) for name, method in vars(function).items()})
    return _thunder.recompile(function, "a frozen function", {"freezing": True, **options})


def optimize_for_inference(function, **options):
    """freeze(), with products timed in several ways where they are compiled (`max_autotune`)."""
    return freeze(function, **{"max_autotune": True, **options})


def script(function=None, *args, **named):
    """Refused: Python is not read here, only run."""
    raise NotImplementedError("jit.script: there is no language of its own here: thunder.compile(function) records "
                              "what a call does, jit.trace(function, example) the program of one call, and "
                              "save_program() writes either into a file")


def save(function, path):
    """save_program() under PyTorch's name. Of a TracedModule its forward, which must be its only method."""
    if isinstance(function, TracedModule):
        if list(vars(function)) != ["forward"]:
            raise TypeError(f"jit.save: a file holds one function, the traced module has {', '.join(sorted(vars(function)))}: save "
                            "each as a file")
        function = function.forward
    _functions.save_program(function, path)


jit.script, jit.save, jit.load = script, save, _functions.load_program
jit.trace, jit.trace_module, jit.freeze, jit.optimize_for_inference = trace, trace_module, freeze, optimize_for_inference


def mark_dynamic(tensor, dim, min=2, max=_MOST):
    """Says that compiled functions will see other sizes, of `min` to `max`, in this dim of a tensor, or in each of these: from
    their next compile on they are traced with a symbol in its place. A call fails where that cannot be."""
    for d in dim if isinstance(dim, (list, tuple)) else (dim,):
        _thunder.mark_dynamic(tensor, d, min, max)


def maybe_mark_dynamic(tensor, dim):
    """mark_dynamic() where the function allows it: else the size is a plain one."""
    for d in dim if isinstance(dim, (list, tuple)) else (dim,):
        _thunder.maybe_mark_dynamic(tensor, d)


def mark_static(tensor, dim=None):
    """The size of this dim, or of each of these, or of all, stands for no other."""
    for d in range(tensor.ndim) if dim is None else dim if isinstance(dim, (list, tuple)) else (dim,):
        _thunder.mark_static(tensor, d)


def mark_unbacked(tensor, dim):
    """Refused: what a trace decides by a size is decided by the one that was seen."""
    raise NotImplementedError("mark_unbacked: every trace is made of a call, whose sizes decide what it does; mark_dynamic has "
                              "what was decided checked at each call")
