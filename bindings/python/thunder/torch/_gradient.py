"""options={"gradient": "thunder"}: a backward of the library's gradients, an op at a time, in place of the one that torch's autograd has
recorded. What a graph does not show of gradients is refused by name."""
import operator

import torch

from .. import func
from . import _private
from ._decide import Unsupported
from ._places import text_of
from ._rows import draws_numbers, find, sized, stores
from .aten.nodes import sum_of, zeros_of

NAMES = ("torch", "thunder")
_HIDDEN = {"autograd_function_apply": "an autograd.Function", "tag_activation_checkpoint": "a checkpoint", "wrap_activation_checkpoint": "a checkpoint"}


def _turns_off(node, off):
    """Whether gradients are turned off behind a node of Dynamo's graph."""
    if node.target is torch._C._set_grad_enabled:
        return not node.args[0]
    if node.target is torch.autograd.grad_mode._enter_inference_mode:
        return bool(node.args[0])
    return off and node.target is not torch.autograd.grad_mode._exit_inference_mode


def _hidden(graph):
    """(node, what it does with gradients that the graph of ops does not show)."""
    off = False
    for node in graph.nodes:
        off = _turns_off(node, off)
        given = [one.meta.get("example_value") for one in node.all_input_nodes]
        if off and any(isinstance(one, torch.Tensor) and one.requires_grad for one in given):
            yield node, "a region without gradients"
        if isinstance(node.target, torch._ops.HigherOrderOperator) and node.target.name() in _HIDDEN:
            yield node, _HIDDEN[node.target.name()]


def check(graph):
    """Refuses what Dynamo captured where its gradients are not those of its ops."""
    for module in graph.modules():
        for node, what in _hidden(module.graph) if isinstance(module, torch.fx.GraphModule) else ():
            raise Unsupported(f'{text_of(node)}: {what}: the library\'s own gradients do not see it; leave the option gradient="thunder" out')


# ---- the gradient of one op ----

def _places(value, wanted, way=()):
    """The ways to the nodes among arguments that are wanted."""
    if isinstance(value, torch.fx.Node):
        return [way] if value in wanted else []
    if isinstance(value, (list, tuple)):
        return [found for at, one in enumerate(value) for found in _places(one, wanted, (*way, at))]
    return []


def _at(value, way):
    for at in way:
        value = value[at]
    return value


def _filled(value, found, way=()):
    """Arguments with others at some ways."""
    if way in found:
        return found[way]
    return [_filled(one, found, (*way, at)) for at, one in enumerate(value)] if isinstance(value, (list, tuple)) else value


def gradient_of(of, wrt, reached):
    """The gradient of a forward node as the target of another one, which takes (arguments, cotangents of the results that are reached) and
    gives the gradients of the arguments at the ways `wrt`."""
    row = find(of.target)

    def gradient(arguments, cotangents, **named):
        def forward(*primals):
            given = _filled(arguments, dict(zip(wrt, primals)))
            made = row.call(of, given, named)
            made = made if isinstance(made, (tuple, list)) else (made,)
            return tuple(made[at] for at in reached)
        results, backward = func.vjp(forward, *[_at(arguments, way) for way in wrt])
        return backward(*[sized(one, result.shape) for one, result in zip(cotangents, results)])
    def by_second(arguments, cotangents, second):
        return (row.gradient(arguments, cotangents[0], second),)
    made = by_second if row.gradient else gradient
    made.__name__ = f"gradient_of_{of.target._schema.name.rpartition(':')[2]}"
    return made


# ---- the backward of a graph ----

class _Backward:
    """Adds to a joint graph the gradients of its forward, by the inputs that torch has gradients of."""

    def __init__(self, joint, count):
        self.graph = joint.graph
        self.output = next(iter(joint.graph.find_nodes(op="output")))
        self.results, self.old = list(self.output.args[0][:count]), list(self.output.args[0][count:])
        described = self.output.meta["desc"][:count]
        inputs = joint.graph.find_nodes(op="placeholder")
        self.primals, self.tangents = inputs[:len(self.old)], inputs[len(self.old):]
        self.seeds = [(self.results[described.index(one.meta["desc"].output)], one) for one in self.tangents]
        self.forward = self._reached(self.results)
        self.wanted = self._wanted()
        self.written = {node.args[0] for node in stores(joint.graph)}
        self.cotangents = {}  # by node, or node and number of its result

    def _reached(self, results):
        """The nodes of the forward, in order."""
        found, todo = set(), [one for one in results if isinstance(one, torch.fx.Node)]
        while todo:
            node = todo.pop()
            if node not in found:
                found.add(node)
                todo.extend(node.all_input_nodes)
        return [node for node in self.graph.nodes if node in found]

    def _wanted(self):
        """The nodes on the ways from inputs that have gradients."""
        wanted = {node for node, old in zip(self.primals, self.old) if old is not None}
        for node in self.forward:
            real = any(isinstance(one, torch.Tensor) and one.is_floating_point() for one in _values(node))
            if node.op == "call_function" and not find(node.target).ends_gradient and real and wanted.intersection(node.all_input_nodes):
                wanted.add(node)
        return wanted

    def run(self):
        last, *_ = *stores(self.graph), self.output
        with self.graph.inserting_before(last):
            for node, tangent in self.seeds:
                self._add(node, tangent)
            for node in reversed(self.forward):
                if node in self.wanted and node.op == "call_function":
                    self._differentiate(node)
            found = [None if old is None else self._cotangent(node) or self._zeros(node) for node, old in zip(self.primals, self.old)]
        self.output.args = ([*self.results, *found],)

    def _made(self, target, args, named, value, of):
        node = self.graph.call_function(target, args, named)
        node.meta["val"], node.stack_trace = value, of.stack_trace
        return node

    def _zeros(self, node):
        fake = node.meta["val"]
        with fake.fake_mode:
            value = fake.new_empty(fake.shape)
        return self._made(*zeros_of(fake), value, node)

    def _add(self, node, cotangent, at=None):
        if node in self.wanted:
            self.cotangents.setdefault((node, at), []).append(cotangent)

    def _cotangent(self, node, at=None):
        total, *rest = self.cotangents.pop((node, at), [None])
        for one in rest:
            total = self._made(*sum_of(total, one), total.meta["val"], node)
        return total

    def _differentiate(self, node):
        several = isinstance(node.meta["val"], (tuple, list))
        found = {at: self._cotangent(node, at) for at in (range(len(node.meta["val"])) if several else (None,)) if (node, at) in self.cotangents}
        if not found:
            return
        if node.target is operator.getitem:
            self._add(node.args[0], found[None], node.args[1])
        else:
            self._by_rule(node, [at or 0 for at in found], list(found.values()))

    def _by_rule(self, node, reached, cotangents):
        wrt = _places(node.args, self.wanted)
        named = [one for one in node.kwargs.values() if isinstance(one, torch.fx.Node) and one in self.wanted]
        row = find(node.target)
        draws = draws_numbers(node) and not row.gradient
        if named or draws or not isinstance(node.target, torch._ops.OpOverload) or not row.function:
            why = "it draws random numbers" if draws else "its rule lacks an argument" if named else "the library has no such op"
            raise Unsupported(f'{text_of(node)}: {why}, so that it has no gradient of the library\'s own; leave the option gradient="thunder" out')
        # What is written when the backward runs is no longer what it was; a rule that was told so reads nothing of it.
        given = _filled(node.args, {way: self._zeros(one) for one in self.written for way in _places(node.args, {one})})
        more = {}
        if row.gradient:
            seconds = [user for user in node.users if user.target is operator.getitem and user.args[1] == 1]
            more["second"] = seconds[0] if seconds else self._second(node)
        fakes = [_at(node.args, way).meta["val"] for way in wrt]
        with fakes[0].fake_mode:
            values = tuple(fake.new_empty(fake.shape) for fake in fakes)
        made = self._made(gradient_of(node, wrt, reached), (list(given), cotangents), {**node.kwargs, **more}, values, node)
        for at, (way, value) in enumerate(zip(wrt, values)):
            self._add(_at(node.args, way), self._made(operator.getitem, (made, at), {}, value, node))

    def _second(self, node):
        with self.graph.inserting_after(node):
            return self._made(operator.getitem, (node, 1), {}, node.meta["val"][1], node)


def _values(node):
    value = node.meta.get("val")
    return value if isinstance(value, (tuple, list)) else (value,)


def partition(joint, inputs, *, num_fwd_outputs, **named):
    """torch's smallest cut of a joint graph whose backward is the library's."""
    joint.graph.eliminate_dead_code()
    _Backward(joint, num_fwd_outputs).run()
    joint.graph.eliminate_dead_code()
    joint.recompile()
    return _private.partition(joint, inputs, num_fwd_outputs=num_fwd_outputs, **named)
