"""Faults that are planted in the package, each of a kind that the harness is there to find."""
import contextlib

import thunder as th
from thunder import _backward, _host, _thunder


@contextlib.contextmanager
def _put(owner, name, made):
    """Something else in the place of a function of the package: made(the function)."""
    before = getattr(owner, name)
    setattr(owner, name, made(before))
    try:
        yield
    finally:
        setattr(owner, name, before)


def _traced(wrong):
    """A method that does `wrong` while a function is traced."""
    return lambda right: lambda x, *args, **named: (wrong(right, x, *args, **named) if th.is_tracing() else right(x,
        *args, **named))


def _called(wrong):
    """th.compile(), whose functions do `wrong` around a call."""
    def compile(right):
        def compiled(f, **options):
            made = right(f, **options)
            return lambda *args: wrong(made, *args)
        return compiled
    return compile


def _keeps_the_generator(f, *args):
    before = th.get_rng_state()
    try:
        return f(*args)
    finally:
        th.set_rng_state(before)


def _constants_of_all_calls(right):
    kept = {}

    def tensor(data, *args, **named):
        key = repr((data, args, named))
        if not th.is_tracing():
            kept[key] = right(data, *args, **named)
            return right(data, *args, **named)
        return kept.get(key) if key in kept else right(data, *args, **named)
    return tensor


def _turned(f, *args):
    return tuple(one.t().contiguous().t() if isinstance(one, th.Tensor) and one.ndim == 2 else one for one in f(*args))


def _zero_for_none(f, *args):
    nothing = sum((one.double() * 0).sum() for one in args if isinstance(one, th.Tensor) and one.requires_grad)
    return tuple(one + nothing.to(one.dtype) if isinstance(one, th.Tensor) and one.dtype.is_floating_point
        and isinstance(nothing, th.Tensor)
                 else one for one in f(*args))


def _gives_the_argument(f, *args):
    def is_it(one):
        return isinstance(one, th.Tensor) and (one.dtype, one.shape) == (args[0].dtype,
            args[0].shape) and one.tolist() == args[0].tolist()
    return tuple(args[0] if is_it(one) else one for one in f(*args))


def _half_written(f, *args):
    try:
        return f(*args)
    except Exception:
        args[0].zero_()
        raise


def _without_places_of_globals(right):
    return lambda walk, kind, holder, key, label, quiet=False: label.startswith("global") or right(walk, kind, holder,
        key, label, quiet)


class Fault:
    """What stands in the place of a function of the package, and the door and observable at which it shows."""

    def __init__(self, door, observable, owner, name, made):
        self.door, self.observable, self.owner, self.name, self.made = door, observable, owner, name, made

    def planted(self):
        return _put(self.owner, self.name, self.made)


def _from_the_start(right, x, dim, start, length):
    return right(x, dim, 0, length)


def _writes_nothing(right, x, other):
    return x * other


def _copied_on_a_tape(right):
    return lambda x: right(x).clone() if _thunder.is_recording() and not th.is_tracing() else right(x)


FAULTS = {
    "a view begins at the first element": Fault("compiled", "values", th.Tensor, "narrow", _traced(_from_the_start)),
    "a call does not advance the generator": Fault("compiled", "generator", th, "compile",
    _called(_keeps_the_generator)),
    "a tensor of numbers is one for all calls": Fault("compiled", "values", th, "tensor", _constants_of_all_calls),
    "a copy forgets what requires a gradient": Fault("module deep copied", "attributes", _backward, "carry",
    lambda right: lambda x, copy, memo=None: copy),
    "globals are not guarded": Fault("compiled", "values", _host.Walk, "_place", _without_places_of_globals),
    "a matrix among the results lies by columns": Fault("compiled", "strides", th, "compile", _called(_turned)),
    "mul_ writes nothing": Fault("compiled", "written", th.Tensor, "mul_", _traced(_writes_nothing)),
    "a gradient is zero in place of None": Fault("compiled on a tape", "gradients", th, "compile",
    _called(_zero_for_none)),
    "detach copies on a tape": Fault("on a tape", "memory", th.Tensor, "detach", _copied_on_a_tape),
    "a result is the argument itself": Fault("compiled", "memory", th, "compile", _called(_gives_the_argument)),
    "an error leaves an argument written": Fault("compiled", "written", th, "compile", _called(_half_written)),
}
