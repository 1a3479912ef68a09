"""Lazy modules, which read one of their sizes off their first input and are plain ones from then on."""
from ._module import Module, classes


class Lazy(Module):
    """What nn.LazyLinear and its like have in common: without tensors until the first call."""
    _first_kind = ""

    @property
    def _kind(self):
        """What the library says that it is; where that is another kind now, the object is of its class."""
        now = self._kind_now() or self._first_kind
        if now != self._first_kind and type(self) is classes.get(self._first_kind):
            object.__setattr__(self, "__class__", classes[now])
            self.__dict__.pop("_names", None)
        return now

    def _own_names(self):
        self._kind  # so that names are not kept of before the first call
        self.__dict__.pop("_names", None)
        return Module._own_names(self)

    def __call__(self, *args, **named):
        made = super().__call__(*args, **named)
        self._kind
        return made

    def __repr__(self):
        self._kind
        return Module.__repr__(self)
