"""Functions that a module calls before and after its forward: register_forward_pre_hook(), register_forward_hook(). Those of a gradient
are in _backward_hooks."""
import itertools
import threading
import warnings

from . import _backward_hooks, _thunder
from ._grad_mode import detached

_numbers = itertools.count()
_KINDS = {"_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks"}  # for which run() is called


class _Running(threading.local):
    """Of a thread: the modules whose forward runs, and the one that is asked for the forward of its kind alone."""

    def __init__(self):
        self.modules, self.direct = [], None


_running = _Running()


class RemovableHandle:
    """What registering a hook gives: remove(), or leaving a with statement, takes the hook away."""

    def __init__(self, module, name):
        self._module, self._name, self._number = module, name, next(_numbers)

    def remove(self):
        hooks = self._module.__dict__.get(self._name, {})
        if hooks.pop(self._number, None) and self._name in _KINDS:
            self._module._set_forward()  # which tells what was compiled

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()


def register(module, name, hook, prepend, *how):
    """Adds a hook. The library calls the module's forward through run() from now on, and what was compiled is traced again."""
    if not callable(hook):
        raise TypeError(f"a hook must be a function, got {type(hook).__name__}")
    handle, hooks = RemovableHandle(module, name), module.__dict__.setdefault(name, {})
    added = {handle._number: (hook, *how)}
    module.__dict__[name] = {**added, **hooks} if prepend else {**hooks, **added}
    if name in _KINDS:
        module._set_forward()
    return handle


def _before(module, args, named):
    for hook, with_kwargs in list(module.__dict__.get("_forward_pre_hooks", {}).values()):
        changed = hook(module, args, named) if with_kwargs else hook(module, args)
        if changed is None:
            continue
        if not with_kwargs:
            args = changed if isinstance(changed, tuple) else (changed,)
        elif isinstance(changed, tuple) and len(changed) == 2:
            args, named = changed
        else:
            raise TypeError(f"a forward pre-hook with_kwargs must give None or a tuple of (args, kwargs), got {type(changed).__name__}")
    return args, named


def _forward(module, args, named):
    def forward(args):
        _running.modules.append(module)
        try:
            return module.forward(*args, **named)
        finally:
            _running.modules.pop()
    own = module.__dict__
    if _thunder.is_recording() and (own.get("_backward_hooks") or own.get("_backward_pre_hooks")):
        return _backward_hooks.around(module, args, forward)
    return forward(args)


def _after(hook, with_kwargs, module, args, named, result):
    changed = hook(module, args, named, result) if with_kwargs else hook(module, args, result)
    return result if changed is None else changed


def run(module, args, named):
    """The module's forward with its hooks."""
    if _running.direct is module:
        _running.direct = None
        return module._call(*args, **named)
    called, result = set(), None
    try:
        args, named = _before(module, args, named)
        result = _forward(module, args, named)
        for number, (hook, with_kwargs, _) in list(module.__dict__.get("_forward_hooks", {}).items()):
            called.add(number)
            result = _after(hook, with_kwargs, module, args, named, result)
    except Exception:
        for number, (hook, with_kwargs, always) in list(module.__dict__.get("_forward_hooks", {}).items()):
            if always and number not in called:
                try:
                    result = _after(hook, with_kwargs, module, args, named, result)
                except Exception as error:
                    warnings.warn(f"a forward hook that is always called failed behind another error: {type(error).__name__}: {error}")
        raise
    return result


def run_kind(module, args, named, is_replaced):
    """The forward of the module's kind; the library, which calls run() where a module has a forward of its own or hooks, gives
    the kind's to a module that asks inside of it."""
    if is_replaced and not (_running.modules and _running.modules[-1] is module):
        _running.direct = module
    try:
        made = module._call(*args, **named)
        return detached(made) if _thunder._grad_detaches() else made
    finally:
        if _running.direct is module:
            _running.direct = None


class Hooked:
    """What a module has of hooks."""
    _has_forward = False  # of a class: whether the user gave it a forward

    def _is_replaced(self):
        """Whether the library calls _run(), not the forward of its kind."""
        own = self.__dict__
        return type(self)._has_forward or "forward" in own or not _KINDS.isdisjoint(own)

    def _run(self, *args, **named):
        return run(self, args, named)

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        """Calls hook(module, args) before each forward; what it gives, if not None, are other arguments. with_kwargs: it is
        hook(module, args, kwargs), and gives both. Gives a handle with remove()."""
        return register(self, "_forward_pre_hooks", hook, prepend, with_kwargs)

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        """Calls hook(module, args, output) after each forward; what it gives, if not None, is another output. with_kwargs: it is
        hook(module, args, kwargs, output). always_call: also when the forward raises, with None as the output. Gives a handle
        with remove()."""
        return register(self, "_forward_hooks", hook, prepend, with_kwargs, always_call)

    def register_full_backward_hook(self, hook, prepend=False):
        """Calls hook(module, grad_input, grad_output) as a gradient has passed the module: tuples of the gradients of its positional
        arguments (None for what is no real tensor, and where none is asked for) and of its outputs. What it gives, if not None,
        are other gradients of the inputs, computed from those: those of the outputs can be read on a tape alone. Where a function
        is compiled the hook is traced. Gives a handle with remove()."""
        return register(self, "_backward_hooks", hook, prepend)

    def register_full_backward_pre_hook(self, hook, prepend=False):
        """Calls hook(module, grad_output) before a gradient passes the module; what it gives, if not None, are other gradients of
        the outputs. Gives a handle with remove()."""
        return register(self, "_backward_pre_hooks", hook, prepend)

    def register_backward_hook(self, hook):
        raise AttributeError("register_backward_hook: PyTorch gave this up for register_full_backward_hook(), which is here")
