"""Sequences of several lengths without padding: what recurrent layers take and give, torch.nn.utils.rnn's PackedSequence."""
import typing

from . import _create, _ops, _thunder
from ._thunder import Tensor

_op = _ops.functions


class PackedSequence(typing.NamedTuple):
    """The elements of all sequences, those of each step together: `data` [sum of lengths, ...]; `batch_sizes`: how many sequences go
    on at each step. The longest comes first; sorted_indices say which that was, unsorted_indices where each went."""
    data: Tensor
    batch_sizes: Tensor
    sorted_indices: typing.Optional[Tensor] = None
    unsorted_indices: typing.Optional[Tensor] = None

    def to(self, *args, **named):
        moved = [one if one is None or at == 1 else one.to(*args, **named) if at == 0 else one.to(device=self.data.to(*args, **named).device)
                 for at, one in enumerate(self)]
        return PackedSequence(*moved)

    def cpu(self):
        return self.to("cpu")

    def cuda(self, device=0):
        return self.to(f"cuda:{device}" if isinstance(device, int) else device)

    @property
    def is_cuda(self):
        return self.data.is_cuda


def _numbers(who, lengths):
    """The lengths as integers: they decide what is computed."""
    try:
        numbers = [int(n) for n in (lengths.tolist() if hasattr(lengths, "tolist") else lengths)]
    except TypeError as error:
        raise TypeError(f"{who}: the lengths decide what is computed, so a compiled function takes them as a list of integers, or is compiled with "
                        "fullgraph=False") from error
    if not numbers or min(numbers) < 1:
        raise ValueError(f"{who}: lengths must be positive, got {numbers}")
    return numbers


def _steps(lengths):
    """How many of these sequences, the longest first, go on at each step."""
    return [sum(n > step for n in lengths) for step in range(lengths[0])]


def _sizes(packed):
    return _numbers("a packed sequence", packed.batch_sizes)


def _integers(numbers, device=None):
    """A tensor that has its numbers in a compiled function, too, where it is on the host."""
    made = _create.tensor(numbers, _thunder.int64)
    return made if device is None or device.type == "cpu" else made.to(device)


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    """Padded sequences, [longest, batch, ...] or with batch_first [batch, longest, ...], and their lengths as a PackedSequence.
    enforce_sorted=False: in any order; the layers give their results in that order again."""
    numbers = _numbers("pack_padded_sequence", lengths)
    input = _op["transpose"](input, 0, 1) if batch_first else input
    if len(numbers) != input.shape[1] or max(numbers) > input.shape[0]:
        raise ValueError(f"pack_padded_sequence: {len(numbers)} lengths, the longest {max(numbers)}, for {input.shape[1]} sequences of {input.shape[0]} steps"
                         f"{'' if batch_first else ' (batch_first=False)'}")
    order = list(range(len(numbers)))
    if enforce_sorted and sorted(numbers, reverse=True) != numbers:
        raise RuntimeError("pack_padded_sequence: lengths must fall from the first to the last; enforce_sorted=False takes them in any order")
    if not enforce_sorted:
        order.sort(key=lambda at: -numbers[at])
    sizes = _steps([numbers[at] for at in order])
    flat = _op["reshape"](input, [input.shape[0] * input.shape[1], *input.shape[2:]])
    rows = [step * len(numbers) + at for step, size in enumerate(sizes) for at in order[:size]]
    data = _op["index_select"](flat, 0, _integers(rows, input.device))
    if enforce_sorted:
        return PackedSequence(data, _integers(sizes))
    inverse = sorted(range(len(order)), key=order.__getitem__)
    return PackedSequence(data, _integers(sizes), _integers(order, input.device), _integers(inverse, input.device))


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    """(the padded sequences, their lengths) of a PackedSequence."""
    sizes = _sizes(sequence)
    longest = len(sizes) if total_length is None else int(total_length)
    if longest < len(sizes):
        raise ValueError(f"pad_packed_sequence: total_length is {longest}, and the longest sequence has {len(sizes)}")
    starts, data = [sum(sizes[:step]) for step in range(len(sizes))], sequence.data
    padding = _op["full"]([1, *data.shape[1:]], padding_value, data.dtype, data.device)
    last = data.shape[0]
    places = [[starts[step] + at if step < len(sizes) and at < sizes[step] else last for at in range(sizes[0])] for step in range(longest)]
    places = [list(one) for one in zip(*places)] if batch_first else places
    rows = _integers([at for row in places for at in row], data.device)
    padded = _op["index_select"](_op["cat"]([data, padding]), 0, rows)
    shape = [sizes[0], longest] if batch_first else [longest, sizes[0]]
    padded = _op["reshape"](padded, [*shape, *data.shape[1:]])
    lengths, order = _integers([sum(at < size for size in sizes) for at in range(sizes[0])]), sequence.unsorted_indices
    if order is None:
        return padded, lengths
    return _op["index_select"](padded, 0 if batch_first else 1, order), _op["index_select"](lengths, 0, order.cpu())


# ---- recurrent layers ----

def _chunks(sizes):
    """(first row, steps, sequences) of each run of steps at which as many sequences go on."""
    chunks, row = [], 0
    for size in sizes:
        if chunks and chunks[-1][2] == size:
            chunks[-1][1] += 1
        else:
            chunks.append([row, 1, size])
        row += size
    return chunks


def _along(op, chunks, data, first, params, options, backwards):
    """One layer in one direction: its outputs, row by row, and the last state of each sequence, a list of tensors."""
    now, done, outputs = [one[:chunks[-1][2] if backwards else chunks[0][2]] for one in first], [], []
    for row, steps, size in reversed(chunks) if backwards else chunks:
        at = now[0].shape[0]
        if at > size:
            done.append([one[size:] for one in now])
            now = [one[:size] for one in now]
        elif at < size:
            now = [_op["cat"]([one, start[at:size]]) for one, start in zip(now, first)]
        part = _op["reshape"](data[row:row + steps * size], [steps, size, data.shape[1]])
        part = _op["flip"](part, [0]) if backwards else part
        states = [_op["unsqueeze"](one, 0) for one in now]
        out, *states = op(part, states if len(states) > 1 else states[0], params, options["bias"], 1, 0.0, False, False, False)
        now = [_op["squeeze"](one, 0) for one in states]
        out = _op["flip"](out, [0]) if backwards else out
        outputs.append(_op["reshape"](out, [steps * size, out.shape[2]]))
    outputs = outputs[::-1] if backwards else outputs
    last = [_op["cat"](parts) for parts in zip(now, *reversed(done))]
    return _op["cat"](outputs), last


def _states(layer, packed, batch, hx, directions, layers):
    """The first states, in the packed order: (h,), of LSTM (h, c), each [layers * directions, batch, size]."""
    options = layer._options()
    sizes = [options.get("proj_size") or options["hidden_size"]] + [options["hidden_size"]] * (layer._kind == "LSTM")
    if hx is None:
        return [_op["zeros"]([layers * directions, batch, size], packed.data.dtype, packed.data.device) for size in sizes]
    given = list(hx) if layer._kind == "LSTM" else [hx]
    return given if packed.sorted_indices is None else [_op["index_select"](one, 1, packed.sorted_indices) for one in given]


def run(layer, packed, hx=None):
    """What a recurrent layer gives for a packed sequence: (outputs, as one, last states)."""
    options, sizes = layer._options(), _sizes(packed)
    op = _op[{"LSTM": "lstm", "GRU": "gru"}.get(layer._kind) or "rnn_" + options.get("nonlinearity", "tanh")]
    directions, layers, chunks, data = 1 + bool(options.get("bidirectional")), options.get("num_layers", 1), _chunks(sizes), packed.data
    options = {**options, "bias": hasattr(layer, "bias_ih_l0")}
    first, last = _states(layer, packed, sizes[0], hx, directions, layers), []
    for number in range(layers):
        outputs = []
        for way in range(directions):
            names = [f"{name}_l{number}{'_reverse' * way}" for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")]
            params = [getattr(layer, name) for name in names if hasattr(layer, name)]
            at = number * directions + way
            out, states = _along(op, chunks, data, [one[at] for one in first], params, options, bool(way))
            outputs.append(out)
            last.append(states)
        data = _op["cat"](outputs, 1) if directions > 1 else outputs[0]
        if options.get("dropout") and number + 1 < layers:
            data = _op["dropout"](data, options["dropout"], layer.training)
    states = [_op["stack"](list(each)) for each in zip(*last)]
    if packed.unsorted_indices is not None:
        states = [_op["index_select"](one, 1, packed.unsorted_indices) for one in states]
    return packed._replace(data=data), tuple(states) if layer._kind == "LSTM" else states[0]
