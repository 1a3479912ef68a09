"""backend="thunder": what torch.compile calls with what it captured, and what it calls instead of the model from then on."""
import weakref

import torch

from .. import _functions, _thunder
from . import _private, _rows
from ._graph import Graph

_exchange = _thunder.Exchange(torch.Tensor)

# Lengths are torch's matter: a graph that it captured with symbols is traced anew for each of them. So many programs it keeps.
_OWN = {"dynamic": False, "recompile_limit": 64}

_made = []  # weak references


def programs():
    """The compiled functions of all graphs that torch.compile holds, in the order in which they were made: of a function that is
    trained its forward, then its backward. last_traces() and the other reports take each of them."""
    _made[:] = [kept for kept in _made if kept() is not None]
    return [kept() for kept in _made]


def options_of(mode, options):
    """compile()'s options of those that torch.compile was given, whose names are judged here and now."""
    given = dict(options or {})
    if mode is not None:
        given["mode"] = mode
    _functions.compile(lambda: None, **given)
    return {**_OWN, **given}


def _seed():
    """The random state of one call, from torch's generator."""
    return torch.randint(-2**63, 2**63 - 1, (2,), device="cpu")


def _program(module, fakes, options):
    """The function that runs one graph: of a list of arguments, which it empties."""
    graph = Graph(module, fakes)
    compiled = _functions.compile(graph.replay, **options)
    _made.append(weakref.ref(compiled))
    results, call, draws = graph.results, _exchange.call, graph.draws

    def run(arguments):
        kept = results.keep(arguments)
        if draws:
            arguments.append(_seed())
        return results.given(call(compiled, arguments), kept)
    return _private.boxed(run)


def backend(graph, example_inputs, *, mode=None, options=None):
    """Compiles what Dynamo captured; for torch.compile(backend="thunder", mode=..., options={...})."""
    options = options_of(mode, options)
    _thunder.set_num_threads(torch.get_num_threads())
    return _private.compile_graph(graph, example_inputs, lambda module, fakes: _program(module, fakes, options), _rows.has)
