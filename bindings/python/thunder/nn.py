"""Layers, and modules of the user's own.

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(64, 10)

        def forward(self, x):
            return self.fc(x)
"""
from . import _backward, _init, _layers, _losses, _names, _nn_utils, _ops, _schema, _signatures
from ._containers import ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential
from ._lazy import Lazy
from ._losses import AdaptiveLogSoftmaxWithLoss, TripletMarginWithDistanceLoss
from ._module import Module, Parameter, classes, kinds
from ._transformer import TransformerDecoder, TransformerEncoder, generate_square_subsequent_mask

_own = {cls.__name__: cls for cls in (Module, Sequential, ModuleList, ModuleDict, ParameterList, ParameterDict, TransformerEncoder,
                                      TransformerDecoder, AdaptiveLogSoftmaxWithLoss, TripletMarginWithDistanceLoss)}


def _class_of(row):
    more = getattr(_layers.bases.get(row["name"]), "__doc__", None)  # python -OO has none
    texts = [row["doc"], row["schema"], *([more] if more else []), *([f"Called as {row['inputs']}"] if row["inputs"].startswith(row["name"]) else [])]
    lazy = row["name"].removeprefix("Lazy") in kinds and row["name"].startswith("Lazy")
    body = {"_first_kind" if lazy else "_kind": row["name"], "__doc__": "\n\n".join(texts), "__module__": __name__}
    base = Lazy if lazy else _layers.bases.get(row["name"], Module)
    made = type(row["name"], (base,), body)
    made.__signature__ = _schema.signature(_schema.read(row)).replace(return_annotation=made)
    return made


classes.update({name: _own.get(name) or _class_of(row) for name, row in kinds.items()})
for _name, _cls in classes.items():
    if _name not in _own and not issubclass(_cls, Lazy):
        _cls.reset_parameters = _nn_utils.reset_parameters
classes["Transformer"].generate_square_subsequent_mask = staticmethod(generate_square_subsequent_mask)
classes["SyncBatchNorm"].convert_sync_batchnorm = staticmethod(_losses.convert_sync_batchnorm)
globals().update(classes)


functional = _names.namespace(f"{__name__}.functional", "The ops, under the name that PyTorch has many of them.",
                              _signatures.functional(_ops.functions) | {
                                  "triplet_margin_with_distance_loss": _losses.triplet_margin_with_distance_loss})
init = _names.namespace(f"{__name__}.init", _init.__doc__, {name: getattr(_init, name) for name in _init.__all__})
utils = _names.namespace(f"{__name__}.utils", "What PyTorch has in torch.nn.utils: optim has the clipping of gradients.", {
    "parameters_to_vector": _nn_utils.parameters_to_vector, "vector_to_parameters": _nn_utils.vector_to_parameters, "rnn": _nn_utils.rnn,
    "clip_grad_norm_": _backward.clip_grad_norm_, "clip_grad_value_": _backward.clip_grad_value_})
__getattr__ = _names.getattr_of(__name__)
