"""Runs random programs through doors, and compares what can be told of each call with what op by op gives."""
import collections
import typing

import numpy as np

import programs
from doors import EXPLAINED
from observables import DERIVED, OBSERVABLES, OF_THE_DOOR, OF_THE_RIGHT, TOLERANCE, difference, observe

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
    if name == "gradients" and door.only == "state":
        return wanted[call, name][len(wanted[call, name]) - len(got[call, name]):]
    if name == "gradients" and door.only == "arguments":
        return [np.zeros_like(its) if one is None else one for one, its in zip(wanted[call, name], got[call, name])]
    return wanted[call, name]


def differences(wanted, got, door, tolerance):
    """(call, observable, text) of each difference."""
    for call, name in got.seen:
        if name == "error" and name in door.lacks and bool(wanted.seen[call, name]) != bool(got.seen[call, name]):
            yield call, name, f"{got.seen[call, name]}, right is {wanted.seen[call, name]} ({'; '.join(map(str, got.errors[:1]))})"
        if name in DERIVED or name in door.lacks or door.whole and name == "draws" and wanted.errors:
            continue
        if name == "gradients" and wanted.seen[call, "written with a gradient"]:
            continue  # of what a tensor holds in the end, where PyTorch refuses the write
        if what := difference(_right(wanted.seen, got.seen, door, call, name), got.seen[call, name], tolerance):
            message = f" ({'; '.join(map(str, got.errors[:1]))})" if name == "error" else ""
            yield call, name, what + message


class Sweep:
    """Counts what was run, refused and found."""

    def __init__(self, library, doors, names):
        self.library, self.doors, self.names = library, doors, names
        self.runs, self.refused, self.dropped = 0, collections.Counter(), 0

    def look(self, program, door, derived=None):
        """What is seen of a program through a door."""
        if derived is None:
            derived = OF_THE_DOOR if program.fails else {}
        library = door.library or self.library
        module = program.module(library)
        module["CHANGE"] = programs.CHANGE
        return Seen(*observe(door.open(module["program"], module, library), module, library, door.calls, OBSERVABLES | derived))

    def oracle(self, door):
        return self.doors[door.beside or ("op by op on a tape" if door.gradients
            else "op by op")]._replace(calls=door.calls)

    def _explained(self, name, program, got):
        """Why a door does not take a program, by the program or by its error."""
        reasons = [why for asked, why in self.doors[name].refuses if asked(program)]
        reasons += [why for text, why in EXPLAINED.items() for error in got.errors if text in str(error)] if got else []
        self.refused.update((name, reason) for reason in reasons[:1])
        return bool(reasons)

    def check(self, program, seed, names=None, every=False):
        """The findings of a program: of each door the first, or all."""
        seen = {}
        for name in names or self.names:
            door = self.doors[name]
            if seed % door.one_in or self._explained(name, program, None):
                continue
            key = door.beside, door.gradients, tuple(door.calls)
            if key not in seen:
                seen[key] = self.look(program, self.oracle(door), OF_THE_RIGHT)
                explained = any(text in str(error) for text in EXPLAINED for error in seen[key].errors)
                if explained or seen[key].errors and not program.fails:
                    self.dropped += 1
                    return
            got = self.look(program, door)
            known = {str(error) for error in seen[key].errors}
            if self._explained(name, program, got._replace(errors=[error for error in got.errors if str(error) not in known])):
                continue
            self.runs += 1
            found = list(self._found(program, door, seen[key], got))
            for call, observable, text in found if every else found[:1]:
                yield Finding(seed, name, observable, call, text)

    def _found(self, program, door, wanted, got):
        """The differences, but for those in what another way shows otherwise, too."""
        found = list(differences(wanted, got, door, TOLERANCE[program.precision]))
        if not found or not door.theirs:
            return found
        other = self.look(program, door._replace(open=door.theirs))
        known = {(call, name) for call, name, _ in differences(wanted, other, door, TOLERANCE[program.precision])}
        self.refused.update(("aot_eager", "it differs there, too") for call, name, _ in found if (call, name) in known)
        return [] if any(name == "error" for _, name in known) else [one for one in found if one[:2] not in known]
