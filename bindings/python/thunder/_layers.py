"""Layers whose arguments Python writes in more ways than a schema says: None for a size, functions, lists of lengths."""
from . import _forms, _ops, _packed, _schema
from ._module import Module, classes, kinds

_LISTS = (list, tuple)


class AdaptivePool(Module):
    """None in output_size keeps a size, as -1 does."""

    def __init__(self, output_size, *args, **named):
        sizes = output_size if isinstance(output_size, _LISTS) else [output_size]
        sizes = [-1 if size is None else size for size in sizes]
        super().__init__(sizes if isinstance(output_size, _LISTS) else sizes[0], *args, **named)


class CTCLoss(Module):
    """The lengths may be lists or tuples of integers."""

    def __call__(self, log_probs, targets, input_lengths, target_lengths):
        return super().__call__(log_probs, targets, _forms.integers(input_lengths), _forms.integers(target_lengths))


class Recurrent(Module):
    """Takes and gives packed sequences too: nn.utils.rnn.pack_padded_sequence(x, lengths)."""

    def __call__(self, input, *args, **named):
        if isinstance(input, _packed.PackedSequence):
            return _packed.run(self, input, *args, **named)
        return super().__call__(input, *args, **named)


def _name_of(kind, activation):
    """Of the activation that a function or a module is, for layers that compute it themselves."""
    if isinstance(activation, str):
        return activation
    for name, layer in (("relu", "ReLU"), ("gelu", "GELU")):
        plain = isinstance(activation, classes[layer]) and getattr(activation, "approximate", "none") == "none"
        if plain or getattr(activation, "schema", None) == _ops.functions[name].schema:
            return name
    raise TypeError(f"{kind}: argument 'activation' must be 'relu' or 'gelu', or the function or layer of that name, got {activation!r}; "
                    "a layer with another one is a Module of the user's own, made of MultiheadAttention, Linear and LayerNorm")


class Activated(Module):
    """activation may be the function nn.functional.relu or gelu, or the layer ReLU() or GELU()."""

    def __init__(self, *args, **named):
        place = [p.name for p in _schema.read(kinds[self._kind]).parameters].index("activation")
        if len(args) > place:
            args = (*args[:place], _name_of(self._kind, args[place]), *args[place + 1:])
        elif "activation" in named:
            named["activation"] = _name_of(self._kind, named["activation"])
        super().__init__(*args, **named)


bases = {"CTCLoss": CTCLoss, **dict.fromkeys(("LSTM", "GRU", "RNN"), Recurrent), **{f"Adaptive{what}Pool{dims}d": AdaptivePool for what in ("Avg", "Max") for dims in (1, 2, 3)},
         **dict.fromkeys(("Transformer", "TransformerEncoderLayer", "TransformerDecoderLayer"), Activated)}
