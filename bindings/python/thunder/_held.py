"""What objects of Python's own library hold, which no attribute that code names shows: what a guard looks at in their place."""
import array
import collections
import functools
import gc
import types
import weakref

_VIEWS = (types.MappingProxyType, type({}.keys()), type({}.values()), type({}.items()))
BYTES = (array.array, bytearray, memoryview)  # whose elements are compared


class Current:
    """What a context variable has now, as an attribute."""
    __slots__ = ("variable",)

    def __init__(self, variable):
        self.variable = variable

    @property
    def value(self):
        try:
            return self.variable.get()
        except LookupError:
            return None


def contents(value):
    """The containers, objects and functions that are behind the value, in a tuple; None: it is nothing of that kind."""
    if isinstance(value, _VIEWS):
        return tuple(gc.get_referents(value))
    if isinstance(value, weakref.ref):
        return (value(),)
    if isinstance(value, weakref.ProxyTypes):
        return (value.__repr__.__self__,)
    if isinstance(value, functools.partialmethod):
        return (value.func, value.args, value.keywords)
    if isinstance(value, collections.ChainMap):
        return (value.maps,)
    if isinstance(value, (collections.UserDict, collections.UserList, weakref.WeakValueDictionary, weakref.WeakKeyDictionary, weakref.WeakSet)):
        return (value.data,)
    if type(value).__module__ in ("queue", "_queue") and hasattr(value, "queue"):
        return (value.queue,)
    return None
