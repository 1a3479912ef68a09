"""Stacks of transformer layers, each a copy of one given layer."""
import copy

from . import _ops
from ._containers import ModuleList
from ._module import Module


class _Stack(Module):
    def __init__(self, layer, num_layers, norm=None):
        super().__init__()
        self.layers = ModuleList(copy.deepcopy(layer) for _ in range(num_layers))
        if norm is not None:
            self.norm = norm


class TransformerEncoder(_Stack):
    """num_layers copies of a TransformerEncoderLayer, one after the other, and a norm behind them if one is given."""
    _kind = "TransformerEncoder"

    def __init__(self, encoder_layer, num_layers, norm=None):
        super().__init__(encoder_layer, num_layers, norm)


class TransformerDecoder(_Stack):
    """num_layers copies of a TransformerDecoderLayer, one after the other, and a norm behind them if one is given."""
    _kind = "TransformerDecoder"

    def __init__(self, decoder_layer, num_layers, norm=None):
        super().__init__(decoder_layer, num_layers, norm)


def generate_square_subsequent_mask(sz):
    """The causal attn_mask: 0 up to the diagonal, minus infinity above it."""
    op = _ops.functions
    return op["triu"](op["full"]([sz, sz], float("-inf")), 1)
