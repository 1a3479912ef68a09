"""How long a step of several ranks takes on other numbers of them: by its own lines, and by measured figures."""
import bisect
import math
import re

# Bytes: GB/s of the bus, between four H200s of one host over NVLink, by NCCL 2.28.9. A bus moves 2 (p - 1) / p of the bytes in an all_reduce,
# and (p - 1) / p of those of the whole in the others.
H200 = {
    "all_reduce": {1 << 16: 3.0, 1 << 20: 39.0, 1 << 24: 260.0, 1 << 28: 315.0},
    "all_gather": {1 << 16: 1.5, 1 << 20: 23.0, 1 << 24: 190.0, 1 << 28: 301.0},
    "reduce_scatter": {1 << 16: 1.3, 1 << 20: 21.0, 1 << 24: 212.0, 1 << 28: 296.0},
}
_FLOPS_OF_A_BYTE = 200  # that a GPU computes in products while its memory moves a byte

_LINE = re.compile(r"^\s*(t\[\d+\](?:, t\[\d+\])*) = ([\w.]+)\((.*)\)  -- (.*)$")
_TYPE = re.compile(r"\b([a-z]+\d*)\[([\d, ]*)\]")
_INPUT = re.compile(r"^-- ([ipc]\[\d+\]) [^:]*: (\w+)\[([\d, ]*)\]")
_REGION = re.compile(r"^\s*do  -- region ")
_VALUE = re.compile(r"\b[tipc]\[\d+\]")
_RANKS = re.compile(r'^[tipc]\[\d+\], "([^"]+)", (\d+)')
_VIEWS = {"prims.reshape", "prims.permute", "prims.expand", "prims.slice", "prims.shard", "prims.pvary", "prims.wait"}
_OPS = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "ppermute", "barrier")


class Collective:
    """A line for which ranks meet: its op, axis, the bytes of the whole; in a prediction how long it takes alone, and the step waits for it."""

    def __init__(self, line, op, axis, recorded, size):
        self.line, self.op, self.axis, self.recorded, self.bytes = line, op, axis, recorded, size
        self.seconds = self.exposed = 0.0

    def __repr__(self):
        return f"{self.line} = {self.op} over {self.axis}: {self.bytes} bytes, {1e6 * self.seconds:.1f} us alone, {1e6 * self.exposed:.1f} us exposed"


class Prediction:
    """Of a number of ranks: seconds of a step, those of them in which it only waits, and its collectives in the order in which they start."""

    def __init__(self, ranks, seconds, exposed, collectives):
        self.ranks, self.seconds, self.exposed, self.collectives = ranks, seconds, exposed, collectives

    @property
    def efficiency(self):
        return 1 - self.exposed / self.seconds if self.seconds else 1.0

    def __repr__(self):
        return f"{self.ranks} ranks: {1e3 * self.seconds:.3f} ms a step, {1e3 * self.exposed:.3f} of them exposed; {self.efficiency:.2f} of {self.ranks} times one"


def _bits(dtype):
    return 8 if dtype == "bool" else int(re.search(r"\d+", dtype)[0])


class _Lines:
    """What a program does in its order: ("compute", work), ("start", collective) and ("wait", collective). The unit of work is a byte moved."""

    def __init__(self, text):
        self.types, self.events, self.started = {}, [], {}
        inside, moved = None, 0
        for line in text.splitlines():
            given = _INPUT.match(line)
            if given:
                self._know(given[1], given[2], given[3])
            if _REGION.match(line):
                results = _VALUE.findall(line.partition("region")[2].partition(" by ")[0])
                inside, moved = set(), 0
                made = set(results)
            elif inside is not None and line.strip() == "end":
                self._compute(moved + sum(self._size(v) for v in made))
                inside = None
            found = _LINE.match(line)
            if not found:
                continue
            values, operands = _VALUE.findall(found[1]), _VALUE.findall(found[3])
            for value, (dtype, shape) in zip(values, _TYPE.findall(found[4])):
                self._know(value, dtype, shape)
            if inside is not None:
                moved += sum(self._size(v) for v in set(operands) - inside)
                inside.update(operands, values)
            else:
                self._line(values, found[2], found[3], operands)

    def _know(self, value, dtype, shape):
        sizes = [int(n) for n in shape.split(",") if n.strip()]
        self.types[value] = _bits(dtype) / 8, sizes

    def _size(self, value):
        item, sizes = self.types.get(value, (0, []))
        return item * math.prod(sizes)

    def _compute(self, work):
        if work:
            self.events.append(("compute", work))

    def _line(self, values, op, args, operands):
        name, value = op.rpartition(".")[2], values[0]
        if op == "prims.wait":
            self.events.append(("wait", self.started[operands[0]]))
        elif op.startswith("prims.") and name in _OPS:
            axis, ranks = _RANKS.match(args).groups()
            size = max(self._size(value), self._size(operands[0]))
            self.started[value] = Collective(value, name, axis, int(ranks), int(size))
            self.events.append(("start", self.started[value]))
        elif op not in _VIEWS:
            moved = sum(self._size(v) for v in {*values, *operands})
            self._compute(max(moved, self._flops(value, name, operands) / _FLOPS_OF_A_BYTE))

    def _flops(self, value, name, operands):
        elements = math.prod(self.types[value][1])
        if name in ("matmul", "linear", "addmm") and operands:
            return 2 * elements * (self.types[operands[0]][1] or [1])[-1]
        if "attention" in name and len(operands) > 1 and len(self.types[operands[1]][1]) > 1:
            return 4 * elements * self.types[operands[1]][1][-2]
        return 0


def _alone(collective, ranks, rates):
    """Seconds, by the rate of its size: between two measured ones by the logarithm, below the smallest as long as that."""
    if ranks == 1 or collective.op == "barrier":
        return 0.0
    passes = (ranks - 1) / ranks * (2 if collective.op == "all_reduce" else 1)
    measured = sorted((rates.get(collective.op) or rates["all_gather"]).items())
    sizes = [size for size, _ in measured]
    size = min(max(collective.bytes, sizes[0]), sizes[-1])
    at = min(max(bisect.bisect_right(sizes, size), 1), len(sizes) - 1) if len(sizes) > 1 else 0
    rate = measured[at][1]
    if at:
        (below, slow), (above, fast) = measured[at - 1], measured[at]
        share = math.log(size / below) / math.log(above / below)
        rate = math.exp(math.log(slow) * (1 - share) + math.log(fast) * share)
    return passes * max(collective.bytes, sizes[0]) / (rate * 1e9)


def _simulated(events, ranks_of, second_of_work, rates):
    """Collectives run one after the other, beside what computes."""
    now = free = exposed = 0.0
    over, collectives = {}, []
    for kind, what in events:
        if kind == "compute":
            now += what * second_of_work
        elif kind == "start":
            what.seconds, what.exposed = _alone(what, ranks_of(what), rates), 0.0
            over[what] = free = max(free, now) + what.seconds
            collectives.append(what)
        else:
            what.exposed = max(over[what] - now, 0.0)
            exposed += what.exposed
            now += what.exposed
    return now, exposed, collectives


def predict(step, seconds, ranks=(2, 4, 8), axis="data", rates=None):
    """A prediction for each number of ranks along an axis, of a compiled step that ran on two or more there. `seconds`: how long the program
    computes, such as a step on one rank, whose examples each rank has. The lines take their shares of it, by their operations and bytes;
    collectives start and are waited for where the last trace says so, and take 2 (p - 1) / p, or without a sum on each rank (p - 1) / p, of
    their bytes by the rate of their size. rates: {"all_reduce": {bytes: GB/s of the bus}, "all_gather": ..., "reduce_scatter": ...}, those
    of H200s over NVLink unless they are given."""
    from .. import last_traces
    rates = rates or H200
    made = []
    for p in (ranks,) if isinstance(ranks, int) else ranks:
        if p < 1:
            raise ValueError(f"predict: ranks must be positive, got {p}")
        lines = _Lines(str(last_traces(step)[-1]))
        if not any(collective.axis == axis for collective in lines.started.values()):
            raise ValueError(f"predict: the step has no collectives over axis '{axis}': run it on two ranks or more before")
        work = sum(what for kind, what in lines.events if kind == "compute")
        now, exposed, collectives = _simulated(lines.events, lambda c, p=p: p if c.axis == axis else c.recorded, seconds / (work or 1), rates)
        made.append(Prediction(p, now, exposed, collectives))
    return made[0] if isinstance(ranks, int) else made
