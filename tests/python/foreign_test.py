"""Tensors of other libraries, which come in by DLPack: as arguments, as state, and where they cannot."""
import collections
import importlib.util
import sys
import unittest

import numpy as np
import thunder as th
from thunder import nn

th.seed(0)  # the same numbers at each run

CPU, CUDA, METAL = 1, 2, 8


class Foreign:
    """What another library's tensor shows of itself: DLPack, and nothing of numpy."""

    def __init__(self, data, dtype=np.float32, device=(CPU, 0), requires_grad=False):
        self.memory, self.device, self.requires_grad = np.asarray(data, dtype), device, requires_grad

    def __dlpack__(self, stream=None):
        if self.requires_grad:
            raise BufferError("no export of what requires grad")
        return self.memory.__dlpack__()

    def __dlpack_device__(self):
        return self.device

    def detach(self):
        return Foreign(self.memory, self.memory.dtype, self.device)

    def cpu(self):
        return Foreign(self.memory, self.memory.dtype, requires_grad=self.requires_grad)


class Booleans(Foreign):
    """A tensor whose elements its library does not export, but shows to numpy."""

    def __dlpack__(self, stream=None):
        raise RuntimeError("Bool type is not supported by dlpack")

    def __array__(self, dtype=None, copy=None):
        return self.memory


class Arguments(unittest.TestCase):
    def test_a_foreign_tensor_is_an_argument_of_an_op_a_method_and_an_operator(self):
        x = Foreign([1, 2])
        for given in (th.relu(x), th.add(x, 0), th.ones(2).mul(x), th.zeros(2) + x, x + th.zeros(2), th.zeros(2).copy_(x)):
            self.assertEqual(given.tolist(), [1, 2])
        self.assertEqual(th.cat([x, th.zeros(1)]).tolist(), [1, 2, 0])
        self.assertEqual((th.tensor([True, False]) | Booleans([False, True], bool)).tolist(), [True, True])

    def test_its_memory_is_used_without_a_copy_where_the_layout_allows(self):
        x = Foreign(np.zeros((2, 3), np.float32).T)
        for shared in (th.asarray(x), th.from_dlpack(x)):
            shared[0, 0] = shared[0, 0].item() + 1
        self.assertEqual(x.memory[0, 0], 2)
        th.tensor(x)[0, 0] = 7
        self.assertEqual(x.memory[0, 0], 2)

    def test_its_memory_is_given_back(self):
        x = Foreign([1, 2])
        before = sys.getrefcount(x.memory)
        f = th.compile(lambda y: y * 2)
        for _ in range(3):
            th.relu(x), f(x), th.cat([x] * 40)
        shared = th.asarray(x)
        self.assertGreater(sys.getrefcount(x.memory), before)
        del shared
        self.assertEqual(sys.getrefcount(x.memory), before)

    def test_elements_that_dlpack_has_no_way_for_come_through_numpy(self):
        self.assertEqual(th.where(Booleans([True, False], bool), th.ones(2), th.zeros(2)).tolist(), [1, 0])

    def test_any_number_of_arrays_stands_in_a_list(self):
        self.assertEqual(th.stack([Foreign([i]) for i in range(70)]).sum().item(), sum(range(70)))

    def test_a_foreign_tensor_is_an_argument_of_a_compiled_function(self):
        f = th.compile(lambda x, tree, *, scale: x * tree["b"][0] + scale)
        for first in (1, 3):
            self.assertEqual(f(Foreign([first, 2]), {"b": [Foreign([2, 2])]}, scale=Foreign(1)).tolist(), [2 * first + 1, 5])
        self.assertEqual(th.stats(f)["misses"], 1)
        self.assertEqual(th.grad(lambda x: (x * x).sum())(Foreign([3, 4])).tolist(), [6, 8])
        self.assertEqual(nn.ReLU()(Foreign([-1, 1])).tolist(), [0, 1])

    def test_a_tensor_that_requires_grad_is_refused_with_detach(self):
        x = Foreign([1.0], requires_grad=True)
        for call, where in ((lambda: th.relu(x), "relu: argument 'input'"), (lambda: th.compile(lambda y, z: z)(th.ones(1), x), "argument 1"),
                            (lambda: th.compile(lambda y: y)(y=x), "argument 'y'"), (lambda: th.from_dlpack(x), "from_dlpack")):
            with self.assertRaisesRegex(TypeError, f"{where}: .*detach"):
                call()
        self.assertEqual(th.relu(x.detach()).tolist(), [1])
        self.assertEqual(th.tensor(x).tolist(), [1])

    def test_a_tensor_on_another_device_is_refused_with_cpu(self):
        for device, name in (((CUDA, 1), "cuda:1"), ((METAL, 0), "kind 8")):
            x = Foreign([1.0], device=device)
            with self.assertRaisesRegex(TypeError, rf"exp: argument 'input': .*{name}.*\.cpu\(\)"):
                th.exp(_OnDevice(x))

    def test_elements_that_no_dtype_is_for_are_named_with_the_dtypes(self):
        for dtype in (np.complex64, np.complex128):
            with self.assertRaisesRegex(TypeError, "relu: argument 'input': elements of type .*convert them; there are bool, .*float16"):
                th.relu(Foreign([1], dtype))

    def test_read_only_memory_is_read_and_not_written(self):
        memory = np.ones(2, np.float32)
        memory.flags.writeable = False
        self.assertEqual(th.relu(memory).tolist(), [1, 1])
        with self.assertRaisesRegex(th.Error, r"add_.*read-only.*clone"):
            th.asarray(memory).add_(1)


class _OnDevice(Foreign):
    """Memory on a device: the structure says so, which is all that may be looked at."""

    def __init__(self, like):
        super().__init__(like.memory, device=like.device)

    def __dlpack__(self, stream=None):
        raise BufferError("no memory here")


class StateDicts(unittest.TestCase):
    def given(self):
        return collections.OrderedDict(weight=Foreign([[1, 2], [3, 4]]), bias=Foreign([5, 6], requires_grad=True))

    def test_a_state_dict_of_foreign_tensors_loads(self):
        net = nn.Linear(2, 2)
        keys = net.load_state_dict(self.given())
        self.assertEqual((net.weight.tolist(), net.bias.tolist()), ([[1, 2], [3, 4]], [5, 6]))
        self.assertEqual((tuple(keys), repr(keys)), (([], []), "<All keys matched successfully>"))

    def test_names_and_shapes_that_do_not_fit_are_all_listed(self):
        net = nn.Linear(2, 3)
        before = net.weight.tolist()
        with self.assertRaisesRegex(RuntimeError, r'(?s)state_dict for Linear:.*Unexpected.*"extra".*Missing.*"bias".*'
                                                  r'size mismatch for weight: .*\(2, 2\).*\(3, 2\)'):
            net.load_state_dict({"weight": Foreign([[1, 2], [3, 4]]), "extra": Foreign([1])})
        with self.assertRaisesRegex(RuntimeError, "size mismatch for weight"):
            net.load_state_dict({"weight": th.ones(1)}, strict=False)
        self.assertEqual(net.weight.tolist(), before)
        keys = net.load_state_dict({"weight": th.ones(3, 2), "extra": th.ones(1)}, strict=False)
        self.assertEqual((keys.missing_keys, keys.unexpected_keys), (["bias"], ["extra"]))

    def test_names_with_another_prefix_say_how_to_change_them(self):
        net, state = nn.Linear(2, 2), self.given()
        with self.assertRaisesRegex(RuntimeError, r'begin with "module\.", .*removeprefix'):
            net.load_state_dict({"module." + name: tensor for name, tensor in state.items()})
        with self.assertRaisesRegex(RuntimeError, r'of the module begin with "0\.", .*"0\." \+ name'):
            nn.Sequential(net).load_state_dict(state)
        with self.assertRaisesRegex(RuntimeError, r"load_state_dict\(state\['model'\]\)"):
            net.load_state_dict({"model": state, "epoch": 3})
        with self.assertRaisesRegex(TypeError, r"load\(path\)"):
            net.load_state_dict("net.safetensors")
        with self.assertRaisesRegex(TypeError, "load_state_dict: bias: .*int"):
            net.load_state_dict({"weight": th.ones(2, 2), "bias": 3})


@unittest.skipUnless(importlib.util.find_spec("torch"), "PyTorch is not installed")
class PyTorch(unittest.TestCase):
    def test_its_tensors_and_state_dicts_are_taken(self):
        import torch
        x = torch.tensor([[1.0, -2.0]])
        theirs, ours = torch.nn.Linear(2, 3), nn.Linear(2, 3)
        ours.load_state_dict(theirs.state_dict())
        np.testing.assert_allclose(ours(x), theirs(x).detach().numpy(), rtol=1e-6)
        np.testing.assert_allclose(th.compile(ours)(x), theirs(x).detach().numpy(), rtol=1e-6)
        self.assertEqual(th.where(x > 0, x, 0.0).tolist(), [[1, 0]])
        self.assertEqual((x + th.ones(2)).tolist(), [[2, -1]])
        self.assertEqual(th.relu(x.bfloat16()).dtype, th.bfloat16)
        with self.assertRaisesRegex(TypeError, "detach"):
            th.relu(theirs.weight)
        self.assertEqual(th.relu(x.half()).dtype, th.float16)
        with self.assertRaisesRegex(TypeError, "complex64.*convert"):
            th.relu(x.to(torch.complex64))


if __name__ == "__main__":
    unittest.main()
