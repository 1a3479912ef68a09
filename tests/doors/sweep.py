"""Runs random programs through doors, and compares what can be told of each call with what op by op gives."""
import collections
import typing

import programs
from doors import DOORS, EXPLAINED
from observables import DERIVED, OBSERVABLES, TOLERANCE, difference, observe

# What stands for an observable where results have memory of their own, and where a call that fails has changed nothing.
OWN = {"memory": "own memory", "later": "values", "strides": "own strides", "flags": "own flags"}
UNCHANGED = {"written": "written before", "generator": "generator before"}


class Finding(typing.NamedTuple):
    seed: int
    door: str
    observable: str
    call: object
    text: str


class Seen(typing.NamedTuple):
    """{(call, observable): what was seen}, and the errors of calls."""
    seen: dict
    errors: list


def _right(wanted, got, door, call, name):
    """What a door has to show where op by op shows `wanted`."""
    if door.own and name in OWN:
        return wanted[call, OWN[name]]
    if door.whole and name in UNCHANGED and wanted[call, "error"]:
        return got[call, UNCHANGED[name]]
    return wanted[call, name]


def differences(wanted, got, door, tolerance):
    """(call, observable, text) of each difference."""
    for call, name in got.seen:
        if name in DERIVED or name in door.lacks or door.whole and name == "draws" and wanted.errors:
            continue
        if what := difference(_right(wanted.seen, got.seen, door, call, name), got.seen[call, name], tolerance):
            message = f" ({'; '.join(map(str, got.errors[:1]))})" if name == "error" else ""
            yield call, name, what + message


class Sweep:
    """Counts what was run, refused and found."""

    def __init__(self, library, names):
        self.library, self.names = library, names
        self.runs, self.refused, self.dropped = 0, collections.Counter(), 0

    def look(self, program, door):
        """What is seen of a program through a door."""
        module = program.module(self.library)
        module["CHANGE"] = programs.CHANGE
        return Seen(*observe(door.open(module["program"], module, self.library), module, self.library, door.calls))

    def oracle(self, door):
        return DOORS["op by op on a tape" if door.gradients else "op by op"]._replace(calls=door.calls)

    def _explained(self, name, program, got):
        """Why a door does not take a program, by the program or by its error."""
        reasons = [why for asked, why in DOORS[name].refuses if asked(program)]
        reasons += [why for text, why in EXPLAINED.items() for error in got.errors if text in str(error)] if got else []
        self.refused.update((name, reason) for reason in reasons[:1])
        return bool(reasons)

    def check(self, program, seed, names=None, every=False):
        """The findings of a program: of each door the first, or all."""
        seen = {}
        for name in names or self.names:
            door = DOORS[name]
            if self._explained(name, program, None):
                continue
            key = door.gradients, tuple(door.calls)
            if key not in seen:
                seen[key] = self.look(program, self.oracle(door))
                if seen[key].errors and not program.fails:
                    self.dropped += 1
                    return
            got = self.look(program, door)
            if got.errors and not seen[key].errors and self._explained(name, program, got):
                continue
            self.runs += 1
            for call, observable, text in differences(seen[key], got, door, TOLERANCE[program.precision]):
                yield Finding(seed, name, observable, call, text)
                if not every:
                    break
