"""backend="thunder": what torch.compile calls with what it captured, and what it calls instead of the model from then on."""
import functools
import typing
import weakref

import torch

from .. import _functions, _thunder
from . import _direct, _frozen, _gradient, _lines, _private, _rewrites, _rows
from ._decide import Whole, told
from ._graph import Graph

_exchange = _lines.exchange

# Which sizes vary is torch's matter. So many programs it keeps.
_OWN = {"dynamic": False, "recompile_limit": 64}

# What a backward is given for good counts from so many bytes on: who else has it is asked at each call.
_LEAST_DONATED = 1 << 18

_whole = []  # graphs that run by PyTorch: weak references, and why
_made = []  # weak references
_graphs = weakref.WeakKeyDictionary()  # by what a backend gave to Dynamo


def programs(function=None):
    """The compiled functions of all graphs that torch.compile holds, or of those of what it returned, in the order in which they were
    made: of a function that is trained its forward, then its backward. last_traces() and the other reports take each of them."""
    _made[:] = [kept for kept in _made if kept() is not None]
    every = [kept() for kept in _made]
    if function is None:
        return every
    own = [graph for made in _private.made_of(function) for graph in _graphs.get(made, ())]
    return [one for one in every if any(graph() is _graph_of(one) for graph in own)]


def _graph_of(program):
    return program.__wrapped__.__self__


def reported(function, who, backward=False):
    """The program of what torch.compile returned that a report is about: the last one of a forward, or of a backward."""
    found = [one for one in programs(function) if _graph_of(one).is_backward == backward]
    if not found:
        raise TypeError(f"{who}: a compiled function was expected, {type(function).__name__} is none that torch.compile(backend="
                        f'"thunder") has run{", forward and backward" if backward else ""}')
    return found[-1]


def explain(function=None):
    """Of the graphs that torch.compile holds, or of what it returned: who runs their ops, and why, with a line for each that PyTorch runs, and
    where and why Dynamo broke the graph."""
    said, every = [], programs(function)
    if function is not None and not every and not any(graph() is not None for graph, _ in _whole):
        reported(function, "explain")
    for number, program in enumerate(every):
        graph = _graph_of(program)
        said.append(f"graph {number + 1}: {len(graph.nodes)} nodes, {len(graph.lines)} of them run by torch")
        if graph.broken:
            where, why = graph.broken
            said.append(f"  the graph breaks behind it: {why}{' at ' * bool(where)}{where}")
        said += ["  " + line for line in told(graph.nodes)]
    return "\n".join([*said, *(f"a graph that runs by torch as a whole: {why}" for graph, why in _whole if graph() is not None)])


def graph_breaks(function):
    """Where and why Dynamo broke the graph of what torch.compile returned, as the breaks of functions of ours are told."""
    reported(function, "graph_breaks")
    found = [(_graph_of(one), one.stats()["calls"]) for one in programs(function)]
    return [{"where": graph.broken[0], "reason": graph.broken[1], "lines": len(graph.nodes), "times": calls} for graph, calls in found if graph.broken]


class By(typing.NamedTuple):
    """Which nodes PyTorch runs though the library could, and why."""
    whole: bool
    random: bool

    def __call__(self, node):
        if self.whole:
            return "the executor torch was asked for"
        return "fallback_random was asked for" if self.random and _rows.draws_numbers(node) else ""


def options_of(mode, options):
    """compile()'s options of those that torch.compile was given, whose names are judged here and now; whether PyTorch is to run a
    node that it can run: all where it stands among the executors, those that draw numbers with `fallback_random`; and whose gradients
    make the backward."""
    given = dict(options or {})
    if mode is not None:
        given["mode"] = mode
    executors = given.get("executors") or ()
    named = executors.split(",") if isinstance(executors, str) else list(executors)
    whole, random = _lines.EXECUTOR in named, given.pop("fallback_random", False)
    gradient = given.pop("gradient", _gradient.NAMES[0])
    if gradient not in _gradient.NAMES:
        raise ValueError(f'gradient: "torch" (autograd\'s) or "thunder" (the library\'s), not {gradient!r}')
    given["executors"] = [_lines.executor, *([one for one in named if one != _lines.EXECUTOR] or ["host"] * whole)]
    _functions.compile(lambda: None, **given)
    return {**_OWN, **given}, By(whole, random), gradient


def _seed():
    """The random state of one call, from torch's generator."""
    return torch.randint(-2**63, 2**63 - 1, (2,), device="cpu")


def _compiled(graph, options):
    compiled = _functions.compile(graph.replay, **options)
    _made.append(weakref.ref(compiled))
    return compiled


def _program(module, fakes, options, by_torch, noted, broken, donated=None, visible=None, frozen=None, aliases=()):
    """As below; a graph that the library cannot take runs as a whole by PyTorch."""
    try:
        graph = Graph(module, None if by_torch.whole else visible, by_torch, frozen if options.get("freezing") else None, donated is None, aliases,
                      visible is not None)
        graph.is_backward, graph.broken = donated is not None, broken
        noted.append(weakref.ref(graph))
        return _own_program(graph, fakes, options, donated or (), noted, frozen)
    except Whole as why:
        _whole.append((weakref.ref(module), str(why)))
        return _private.boxed(lambda arguments: module(*_private.taken(arguments)))


def _by_constants(graph, options, noted, constants):
    """(the program with these constants, which program a call takes, what an Exchange's function is told of that)"""
    def program(other):
        noted.append(weakref.ref(other))
        return _compiled(other, options)
    first = _compiled(graph, options)
    programs = _frozen.Programs(graph, constants, first, program)
    return first, lambda arguments: programs.of(*arguments)[0], (graph.frozen, constants, programs.of)


def _by_donation(graph, options, donated):
    """Likewise: the program uses the memory of some arguments if a call's are nobody else's."""
    programs = {False: None, True: None}
    first = _compiled(graph, {**options, "donate_argnums": [graph.sizes.taken.index(i) for i in donated]} if donated else options)
    programs[bool(donated)] = first

    def program(arguments):
        takes = bool(donated) and _private.are_ours(arguments, donated)
        if programs[takes] is None:
            programs[takes] = _compiled(graph, options)
        return programs[takes]
    return first, program, ()


def _own_program(graph, fakes, options, donated, noted, frozen):
    """The function that runs one graph: of a list of arguments, which it empties. `donated`: arguments of a backward that nobody
    has after it, unless the graph is kept for another one; their memory is used then."""
    sizes, taken = graph.sizes, graph.sizes.taken
    if said := sizes.text():
        options = {**options, "dynamic": None, "automatic_dynamic_shapes": False, "dynamic_shapes": said}
    lie_otherwise = [i for i in taken if isinstance(fakes[i], torch.Tensor) and (fakes[i].dtype.is_complex or fakes[i].is_neg())]
    donated = [i for i in donated if i not in lie_otherwise and _private.bytes_of(fakes[i]) >= _LEAST_DONATED]
    constants = tuple(frozen[i] for i in graph.frozen)
    first, program, fixed = _by_constants(graph, options, noted, constants) if constants else _by_donation(graph, options, donated)
    results, call, draws, count = graph.results, _exchange.call, graph.draws, len(fakes)

    def run(arguments):
        compiled = program(arguments)
        kept = results.keep(arguments)
        for i in lie_otherwise:
            arguments[i] = _lines.resolved(arguments[i])
        if len(taken) < count:
            arguments[:] = [arguments[i] for i in taken]
        if draws:
            arguments.append(_seed())
        return results.given(call(compiled, arguments), kept)
    run._in_c = None
    if results.numbers is not None and not (draws or donated or lie_otherwise):
        run._in_c = _exchange.function(first, tuple(taken) if len(taken) < count else None,
                                       None if results.all_plain else results.numbers, *fixed)
    return _private.boxed(run)


def _use_threads(count):
    """Sets the number of threads. Loops run on the threads of torch's OpenMP runtime, or on the library's own if torch has none."""
    if not _thunder.use_openmp(_private.LIBRARY, count):
        _thunder.set_num_threads(count)


@functools.cache
def _borrow(index):
    """Memory of that CUDA device comes of torch's allocator from now on."""
    _exchange.lend_memory(index)


def backend(graph, example_inputs, *, mode=None, options=None):
    """Compiles what Dynamo captured; for torch.compile(backend="thunder", mode=..., options={...})."""
    options, by_torch, gradient = options_of(mode, options)
    own = gradient == "thunder"
    cut = _gradient.partition if own else _private.partition if by_torch.whole else _rewrites.partition
    if own:
        _gradient.check(graph)
    _use_threads(torch.get_num_threads())
    for index in _private.cuda_devices(example_inputs):
        _borrow(index)
    noted, broken, parts = [], _private.break_behind(graph), _direct.Parts(graph, example_inputs)

    def compiler(module, fakes, **more):
        return _program(module, fakes, options, by_torch, noted, broken, **more)
    _rewrites.assert_classes(graph)
    made = _private.compile_graph(graph, example_inputs, compiler, parts, whole=by_torch.whole, cut=cut)
    function = parts.function(made)
    _graphs[_private.innermost(function)] = noted
    return function
