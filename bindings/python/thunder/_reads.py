"""What a function's code reads of the host: chains of names that begin at a global, a captured variable, an argument or a module that it
imports."""
import collections
import dis
import typing

GLOBAL, CAPTURED, ARGUMENT, IMPORTED = "global", "captured", "argument", "imported"
VALUE, VARIABLE = 1, 2  # what is written: the thing that a chain leads to, or the variable where it begins
_ROOTS = {"LOAD_GLOBAL": GLOBAL, "LOAD_NAME": GLOBAL, "LOAD_DEREF": CAPTURED, "LOAD_CLASSDEREF": CAPTURED, "LOAD_FROM_DICT_OR_DEREF": CAPTURED,
          "LOAD_FAST": ARGUMENT, "LOAD_FAST_BORROW": ARGUMENT, "LOAD_FAST_CHECK": ARGUMENT}
_SIMPLE = {"LOAD_CONST", "LOAD_SMALL_INT", *_ROOTS}
_SKIPPED = {"CACHE", "NOP", "EXTENDED_ARG", "PUSH_NULL", "RESUME", "PRECALL", "KW_NAMES", "NOT_TAKEN"}
_STORES = {"STORE_FAST", "STORE_DEREF", "STORE_NAME", "STORE_GLOBAL"}
# What changes a container and reads nothing of it.
_WRITERS = {"append", "add", "extend", "insert", "update", "clear", "appendleft", "discard"}


class Chain(typing.NamedTuple):
    """`root`: where it begins, `name`: how that is called, `path`: the attributes behind it. `written`: it is there to be written
    alone, the value as in d["k"] = v or list.append(v), the variable as in n += 1; 0: it is read."""
    root: str
    name: str
    path: tuple
    written: int


class Reads(typing.NamedTuple):
    chains: tuple
    names: frozenset  # all attributes that are read, and what getattr() and its kin may be given; "*": those may be given any
    asked: frozenset  # of these what getattr() and its kin may be given
    asks_types: bool  # it tells numbers of Python from tensors, as by type() or `is`


_known = {}  # by code


def of_code(code):
    """The reads of a code object, with those of the functions that it makes."""
    if code not in _known:
        _known[code] = _analyse(code)
    return _known[code]


def inner_codes(code):
    """Those of the functions that it makes, and of theirs."""
    for constant in code.co_consts:
        if hasattr(constant, "co_code"):
            yield constant
            yield from inner_codes(constant)


def _steps(code):
    """Instructions as (name, argument), those that load two values as two."""
    for step in dis.get_instructions(code):
        if step.opname in _SKIPPED:
            continue
        if step.opname in ("LOAD_FAST_LOAD_FAST", "LOAD_FAST_BORROW_LOAD_FAST_BORROW"):
            for name in step.argval:
                yield "LOAD_FAST", name
        else:
            yield step.opname, step.arg if step.opname in ("COPY", "BINARY_OP", "DUP_TOP_TWO") else step.argval


def _is_inplace(step):
    return step[0].startswith("INPLACE_") or step[0] == "BINARY_OP" and isinstance(step[1], int) and step[1] >= 13


def _is_written(steps, at, end, path):
    """What of it is written, where the value that steps[at:end] load is there for that alone."""
    first, second, third = [*steps[end:end + 3], *[("", None)] * 3][:3]
    if path and path[-1] in _WRITERS or first[0] == "STORE_ATTR":
        return VALUE
    if first[0] in _SIMPLE and second[0] in ("STORE_SUBSCR", "DELETE_SUBSCR"):
        return VALUE  # d[k] = v
    if first[0] in _SIMPLE and (second[:2], third[:2]) == (("COPY", 2), ("COPY", 2)) or second[0] == "DUP_TOP_TWO":
        return VALUE  # d[k] += v
    is_counted = first[0] in _SIMPLE and _is_inplace(second) and not path and third[0].startswith("STORE_") and third[1] == steps[at][1]
    return VARIABLE if is_counted else 0  # n += 1


def _imports(steps):
    """{variable: (module, what of it)} of the modules that it imports; relative ones begin with dots."""
    found, module = {}, None
    for at, (name, value) in enumerate(steps[:-1]):
        following, variable = steps[at + 1]
        if name == "IMPORT_NAME":  # behind the level and the names that are wanted of it
            level, wanted = (step[1] for step in steps[at - 2:at])
            module = "." * level + (value if wanted or level else value.partition(".")[0])
        if following in _STORES and name in ("IMPORT_NAME", "IMPORT_FROM"):
            found[variable] = module, (value,) if name == "IMPORT_FROM" else ()
    return found


def _chains(steps, arguments, imported):
    at = 0
    while at < len(steps):
        root, name = _ROOTS.get(steps[at][0]), steps[at][1]
        end = at + 1
        if root == CAPTURED and name in arguments:
            root = ARGUMENT  # of this function, captured by another inside of it
        if root is None or root == ARGUMENT and name not in arguments and name not in imported:
            at = end
            continue
        path = []
        if root in (ARGUMENT, CAPTURED) and name in imported:
            root, (name, of_module) = IMPORTED, imported[name]
            path.extend(of_module)
        while end < len(steps) and steps[end][0] in ("LOAD_ATTR", "LOAD_METHOD"):
            path.append(steps[end][1])
            end += 1
        if end + 1 < len(steps) and steps[end] == ("COPY", 1) and steps[end + 1][0] == "LOAD_ATTR":
            yield Chain(root, name, (*path, steps[end + 1][1]), VALUE)  # self.n += 1
            end += 2
        else:
            yield Chain(root, name, tuple(path), _is_written(steps, at, end, path))
        at = end


def _is_number(step):
    """Whether it loads a number, which n `is` or is not where small integers are one object each."""
    return step[0] in ("LOAD_CONST", "LOAD_SMALL_INT") and isinstance(step[1], (int, float)) and not isinstance(step[1], bool)


def _analyse(code):
    steps = list(_steps(code))
    stored = {value for name, value in steps if name in ("STORE_FAST", "STORE_DEREF", "DELETE_FAST")}
    arguments = set(code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]) - stored
    imported = _imports(steps)
    found = list(_chains(steps, arguments, imported))
    loaded = collections.Counter(value for name, value in steps if name in ("LOAD_ATTR", "LOAD_METHOD"))
    names = set(loaded - collections.Counter(chain.path[-1] for chain in found if chain.written and chain.path))
    chains = set(found)
    chains |= {Chain(GLOBAL, value, (), VARIABLE) for name, value in steps if name == "STORE_GLOBAL"}
    chains |= {Chain(CAPTURED, value, (), VARIABLE) for name, value in steps if name == "STORE_DEREF" and value in code.co_freevars}
    used = {chain.name for chain in chains if chain.root == GLOBAL}
    asked = set()
    if used & {"getattr", "hasattr", "vars", "attrgetter"} or "__dict__" in names:
        asked = {constant for constant in code.co_consts if isinstance(constant, str) and constant.isidentifier()}
        names |= asked | {"*"}
    asks = "type" in used or bool(used & {"is_tensor"} or "is_tensor" in names) or "isinstance" in used and bool(
        "Tensor" in used or "Tensor" in names)
    asks |= any(name == "IS_OP" and any(map(_is_number, steps[max(0, at - 2):at])) for at, (name, _) in enumerate(steps))
    for constant in code.co_consts:
        if hasattr(constant, "co_code"):
            inner = of_code(constant)
            names, asked, asks = names | inner.names, asked | inner.asked, asks or inner.asks_types
            own = set(code.co_cellvars) | set(code.co_varnames)
            chains |= {chain for chain in inner.chains if chain.root in (GLOBAL, IMPORTED) or chain.root == CAPTURED and chain.name not in own}
            chains |= {Chain(IMPORTED, imported[chain.name][0], (*imported[chain.name][1], *chain.path), chain.written)
                       for chain in inner.chains if chain.root == CAPTURED and chain.name in imported}
            chains |= {chain._replace(root=ARGUMENT) for chain in inner.chains if chain.root == CAPTURED and chain.name in arguments}
    return Reads(tuple(sorted(chains)), frozenset(names), frozenset(asked), asks)
