"""executors=["torch"]: the bits of eager. Of what Dynamo captures: some models ask whether they are compiled, and compute otherwise then."""
import copy
import sys
import unittest

import support

if support.HAVE:
    import torch
    from workloads import torch_models

    import thunder
    from thunder.torch import _decide, _rows


def run(model, function, inputs):
    """Results and gradients, by name."""
    torch.manual_seed(1)
    out = function(**inputs)
    leaves = [t for t in support.tensors(dict(out) if hasattr(out, "keys") else out) if t.is_floating_point()]
    leaves[0].sum().backward()
    found = {f"result {i}": t.detach() for i, t in enumerate(leaves)}
    found.update((name, p.grad) for name, p in model.named_parameters() if p.grad is not None)
    found.update((name, b) for name, b in model.named_buffers())
    return found


def ours(function):
    """The ops that the library runs, but for those that are no PyTorch's in any case."""
    graphs = [program.__wrapped__.__self__ for program in thunder.torch.programs(function)]
    nodes = [node for graph in graphs for node, decision in graph.nodes if decision.who is _decide.OURS]
    overloads = [node.target for node in nodes if isinstance(node.target, torch._ops.OpOverload)]
    return {str(one).rpartition(".")[0] for one in overloads if not (_rows.find(one).always or any(r.alias_info for r in one._schema.returns))}


def _test(make):
    def test(self):
        torch.manual_seed(0)
        model, inputs = make(tiny=True)
        model.train(make is not torch_models.whisper)  # it draws there whether a layer is left out, between two graphs
        theirs = copy.deepcopy(model)
        torch._dynamo.reset()
        want = run(theirs, torch.compile(theirs, backend="eager"), inputs)
        torch._dynamo.reset()
        compiled = torch.compile(model, backend="thunder", options={"executors": ["torch"]})
        state = copy.deepcopy(model.state_dict())
        for _ in range(2):  # the second past AOTAutograd's wrapper
            model.load_state_dict(state)
            model.zero_grad()
            got = run(model, compiled, inputs)
            self.assertEqual(set(got), set(want))
            wrong = {name: (got[name] - value).abs().max().item() for name, value in want.items() if not torch.equal(got[name], value)}
            self.assertEqual(wrong, {})
        self.assertEqual(ours(compiled), set())
    return test


@support.needs_torch
@support.needs("transformers", "torchvision")
class Bits(unittest.TestCase):
    def setUp(self):
        self.threads = torch.get_num_threads()
        torch.set_num_threads(1)  # with more, eager's own sums at equal indices differ from run to run

    def tearDown(self):
        torch.set_num_threads(self.threads)


if support.HAVE:
    for _make in torch_models.ALL:
        setattr(Bits, f"test_{_make.__name__}", _test(_make))

if __name__ == "__main__":
    unittest.main(argv=sys.argv)
