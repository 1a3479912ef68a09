"""Steps that leave parameters alone: each parameter counts its own, as PyTorch's do."""
import os
import tempfile
import unittest

import numpy as np
import thunder as th
from thunder import optim

_KINDS = [("SGD", {"momentum": 0.9, "dampening": 0.5}), ("Adam", {}), ("Adam", {"amsgrad": True, "maximize": True}), ("AdamW", {"weight_decay": 0.1}),
          ("Adamax", {}), ("NAdam", {}), ("RAdam", {}), ("Adagrad", {"lr_decay": 0.5}), ("ASGD", {"lambd": 0.1, "t0": 2}), ("Adafactor", {}),
          ("RMSprop", {"momentum": 0.5})]
_SKIPS = [(False, True), (False, False), (True, False), (False, False), (True, True), (False, False)]  # of each step: who has no gradient


def _numbers(at):
    return np.random.default_rng(at).standard_normal((2, 3)).astype(np.float32)


def _gradient(at, which):
    return th.tensor(_numbers(10 + 2 * at + which))


def _params():
    return [th.tensor(_numbers(which)) for which in range(2)]


def _values(params):
    return [p.tolist() for p in params]


def _alone(kind, options):
    """Each parameter with an optimiser of its own, which is stepped where there is a gradient."""
    params = _params()
    for which, p in enumerate(params):
        opt = getattr(optim, kind)([p], lr=0.1, **options)
        for at, skips in enumerate(_SKIPS):
            if not skips[which]:
                opt.step([_gradient(at, which)])
    return _values(params)


def _gradients(at):
    return [None if skip else _gradient(at, which) for which, skip in enumerate(_SKIPS[at])]


class Steps(unittest.TestCase):
    def test_a_parameter_counts_the_steps_that_move_it(self):
        for kind, options in _KINDS:
            wanted = _alone(kind, options)
            for grouped in (False, True):
                for compiled in (False, True):
                    with self.subTest(kind=kind, **options, grouped=grouped, compiled=compiled):
                        params = _params()
                        opt = getattr(optim, kind)([{"params": [p]} for p in params] if grouped else params, lr=0.1, **options)
                        step = th.compile(opt.step) if compiled else opt.step
                        for at in range(len(_SKIPS)):
                            step(_gradients(at))
                        np.testing.assert_allclose(_values(params), wanted, rtol=1e-5, atol=1e-6)

    def test_a_step_that_was_compiled_sees_that_others_skipped(self):
        params = _params()
        opt = optim.Adam(params, lr=0.1)
        step = th.compile(opt.step)
        for at in (1, 0, 3):
            step(_gradients(at))
        alone = _params()
        others = [optim.Adam([p], lr=0.1) for p in alone]
        for at in (1, 0, 3):
            for which, other in enumerate(others):
                if not _SKIPS[at][which]:
                    other.step([_gradient(at, which)])
        np.testing.assert_allclose(_values(params), _values(alone), rtol=1e-5, atol=1e-6)

    def resumed(self, save_and_load):
        """Half of the steps, then the others by another optimiser."""
        params = _params()
        opt, other = (optim.Adam(params, lr=0.1) for _ in range(2))
        for at in range(3):
            opt.step(_gradients(at))
        save_and_load(opt, other)
        self.assertEqual({name: t.tolist() for name, t in other.state_dict().items()}, {name: t.tolist() for name, t in opt.state_dict().items()})
        for at in range(3, len(_SKIPS)):
            other.step(_gradients(at))
        np.testing.assert_allclose(_values(params), _alone("Adam", {}), rtol=1e-5, atol=1e-6)

    def test_counts_of_skipped_steps_are_saved_and_loaded(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "state.safetensors")
            self.resumed(lambda opt, other: (opt.save(path), other.load(path)))
        self.resumed(lambda opt, other: other.load_state_dict({name: t.clone() for name, t in opt.state_dict().items()}))

    def test_a_state_without_counts_means_that_no_step_was_skipped(self):
        plain = optim.Adam(_params(), lr=0.1)
        plain.step([_gradient(0, 0), _gradient(0, 1)])
        self.assertNotIn("skipped.1", plain.state_dict())
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "state.safetensors")
            plain.save(path)
            for load in (lambda other: other.load(path), lambda other: other.load_state_dict(plain.state_dict())):
                other = optim.Adam(_params(), lr=0.1)
                other.step(_gradients(0))
                self.assertEqual(other.state_dict()["skipped.1"].item(), 1)
                load(other)
                self.assertEqual(other.state_dict()["skipped.1"].item(), 0)

    def test_counts_of_what_is_no_parameter_are_refused(self):
        for kind, name in (("Adam", "skipped.7"), ("RMSprop", "skipped.1")):
            opt = getattr(optim, kind)(_params(), lr=0.1)
            with self.assertRaisesRegex(RuntimeError, f'Unexpected key.*"{name}"'):
                opt.load_state_dict({**opt.state_dict(), name: th.tensor(1.0)})

    def test_states_of_pytorch_have_a_step_for_each_parameter(self):
        moments = {"exp_avg": th.zeros(2, 3), "exp_avg_sq": th.zeros(2, 3)}
        opt = optim.Adam(_params(), lr=0.1)
        groups = [{"lr": 0.1, "params": [0, 1]}]
        opt.load_state_dict({"state": {0: {"step": th.tensor(5.0), **moments}, 1: {"step": th.tensor(3.0), **moments}}, "param_groups": groups})
        self.assertEqual({name: t.item() for name, t in opt.state_dict().items() if not t.shape}, {"lr": 0.1, "step": 5.0, "skipped.1": 2.0})
        opt.load_state_dict({"state": {0: {"step": th.tensor(5.0), **moments}}, "param_groups": groups})
        self.assertEqual(opt.state_dict()["skipped.1"].item(), 5)
        opt = optim.SGD(_params(), lr=0.1, momentum=0.9, dampening=0.5)
        opt.load_state_dict({"state": {0: {"momentum_buffer": th.ones(2, 3)}, 1: {"momentum_buffer": None}}, "param_groups": groups})
        self.assertEqual([opt.state_dict()[name].item() for name in ("step", "skipped.1")], [1, 1])


class Formulas(unittest.TestCase):
    def test_weight_decay_of_adam_may_be_decoupled(self):
        adam, adamw = _params()[:1], _params()[:1]
        optims = optim.Adam(adam, lr=0.1, weight_decay=0.1, decoupled_weight_decay=True), optim.AdamW(adamw, lr=0.1, weight_decay=0.1)
        for at in range(3):
            for opt in optims:
                opt.step([_gradient(at, 0)])
        self.assertEqual(_values(adam), _values(adamw))

    def test_numbers_of_a_state_are_rounded_to_f32_as_those_of_pytorch(self):
        for kind, name in (("NAdam", "mu_product.0"), ("ASGD", "eta.0")):
            p = th.tensor(_numbers(0).astype(np.float64))
            opt = getattr(optim, kind)([p], lr=0.1)
            opt.step([th.tensor(_numbers(1).astype(np.float64))])
            value = opt.state_dict()[name].item()
            self.assertEqual(value, float(np.float32(value)))


if __name__ == "__main__":
    unittest.main()
