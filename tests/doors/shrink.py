"""Makes a failing program smaller: as long as it fails in the same observable, lines, results and arguments are left out."""
import re

from programs import Program


def _without_line(program, at):
    """Without a line; what it made is in the place of its operand, where it has one."""
    body, (_, text) = program.body[:at] + program.body[at + 1:], program.body[at]
    made = re.match(r"(v\d+) = ", text)
    operands = re.findall(r"\b[vi]\d+\b", text[made.end():] if made else "")
    yield Program(program.arguments, body, program.results, program.fails)
    for operand in dict.fromkeys(operands):
        def put(text, made=made[1], operand=operand):
            return re.sub(rf"\b{made}\b", operand, text)
        yield Program(program.arguments, [(kind, put(line)) for kind, line in body], [put(one)
            for one in program.results], program.fails)


def _smaller(program):
    for at in reversed(range(len(program.results))):
        if len(program.results) > 1:
            yield Program(program.arguments, program.body, program.results[:at] + program.results[at + 1:],
                program.fails)
    for at in reversed(range(len(program.body) - program.fails)):  # the last line is the one that fails
        yield from _without_line(program, at)
    for at, argument in enumerate(program.arguments):
        for plainer in (argument._replace(layout="{}"), argument._replace(dtype="float32"),
            argument._replace(grad=False)):
            if plainer != argument:
                yield Program(program.arguments[:at] + [plainer] + program.arguments[at + 1:], program.body,
                    program.results, program.fails)
    if len(program.arguments) > 1:
        yield Program(program.arguments[:-1], program.body, program.results, program.fails)


def shrunk(program, fails):
    """The smallest program found for which fails(program) holds."""
    again = True
    while again:
        again = False
        for candidate in _smaller(program):
            if fails(candidate):
                program, again = candidate, True
                break
    return program
