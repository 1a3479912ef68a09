"""Distributions: densities against their own integrals and sums, draws against means and variances, in eager and compiled code."""
# covers: bindings/python/thunder/distributions/*.py
import unittest

import numpy as np
import thunder as th
from thunder import distributions as D

th.seed(0)  # the same numbers at each run

GRID = np.linspace(-40, 60, 400_001)


def value(x):
    return float(np.asarray(x))


CONTINUOUS = {
    "Normal": (D.Normal(0.5, 1.5), D.Normal(1.0, 2.0)), "Laplace": (D.Laplace(0.5, 1.5), D.Laplace(1.0, 2.0)),
    "Gumbel": (D.Gumbel(0.5, 0.7), D.Gumbel(0.0, 1.0)), "LogNormal": (D.LogNormal(0.1, 0.3), D.LogNormal(0.2, 0.5)),
    "Uniform": (D.Uniform(1.0, 3.0), D.Uniform(0.0, 4.0)), "Exponential": (D.Exponential(0.7), D.Exponential(1.3)),
    "Gamma": (D.Gamma(2.5, 1.5), D.Gamma(3.0, 1.0)), "Chi2": (D.Chi2(5.0), D.Chi2(6.0)), "Beta": (D.Beta(2.0, 3.0), D.Beta(3.0, 2.5)),
    "StudentT": (D.StudentT(7.0, 0.5, 1.5), None)}
POSITIVE = ("LogNormal", "Exponential", "Gamma", "Chi2")
WHOLE = {"Bernoulli": (D.Bernoulli(0.3), D.Bernoulli(logits=0.4), 2), "Geometric": (D.Geometric(0.3), D.Geometric(0.5), 80),
         "Binomial": (D.Binomial(4, 0.3), None, 5), "Poisson": (D.Poisson(1.5), D.Poisson(2.5), 40)}


class Continuous(unittest.TestCase):
    def cases(self):
        for name, (p, q) in CONTINUOUS.items():
            x = GRID[GRID > 0] if name in POSITIVE else np.linspace(1e-6, 1 - 1e-6, 100_001) if name == "Beta" else GRID
            with np.errstate(all="ignore"), self.subTest(name):
                yield p, q, x, p.log_prob(th.tensor(x)).numpy().astype(np.float64)

    def test_densities_entropies_and_moments_are_their_integrals(self):
        for p, _, x, logs in self.cases():
            density = np.exp(logs)
            parts = np.where(density > 0, density * np.where(density > 0, logs, 0), 0)
            for got, wanted in ((1, np.trapezoid(density, x) if hasattr(np, "trapezoid") else np.trapz(density, x)),
                                (p.entropy(), -np.trapz(parts, x)), (p.mean, np.trapz(density * x, x)),
                                (p.variance, np.trapz(density * (x - value(p.mean)) ** 2, x))):
                self.assertAlmostEqual(value(got), wanted, 2)

    def test_divergences_are_their_integrals(self):
        for p, q, x, logs in self.cases():
            if q is None:
                continue
            density, others = np.exp(logs), q.log_prob(th.tensor(x)).numpy().astype(np.float64)
            inside = density > 1e-300
            self.assertAlmostEqual(value(D.kl_divergence(p, q)), np.trapz(np.where(inside, density * (np.where(inside, logs, 0) - np.where(inside, others, 0)), 0), x), 2)

    def test_draws_have_the_mean_and_the_variance(self):
        for p, _, _, _ in self.cases():
            drawn = p.sample((40_000,)).numpy()
            self.assertAlmostEqual(drawn.mean(), value(p.mean), delta=5 * value(p.stddev) / 200)
            self.assertAlmostEqual(drawn.var() / value(p.variance), 1, delta=0.1)

    def test_gradients_pass_rsample_and_no_draw_of_sample(self):
        loc = th.tensor([1.0, 2.0], requires_grad=True)
        with th.tape():
            D.Normal(loc, 1.0).rsample((3,)).sum().backward()
        self.assertEqual(loc.grad.tolist(), [3, 3])
        with th.tape(), self.assertRaisesRegex(RuntimeError, "depends on nothing"):
            D.Normal(loc, 1.0).sample().sum().backward()
        with self.assertRaisesRegex(NotImplementedError, "Bernoulli has no rsample"):
            D.Bernoulli(0.5).rsample()


class Whole(unittest.TestCase):
    def test_probabilities_sum_to_one_and_give_what_is_derived(self):
        for name, (p, q, count) in WHOLE.items():
            with self.subTest(name):
                k = np.arange(count, dtype=np.float32)
                logs = p.log_prob(th.tensor(k)).numpy().astype(np.float64)
                mass = np.exp(logs)
                self.assertAlmostEqual(mass.sum(), 1, 4)
                self.assertAlmostEqual((mass * k).sum(), value(p.mean), 4)
                self.assertAlmostEqual((mass * (k - value(p.mean)) ** 2).sum(), value(p.variance), 3)
                if q is not None:
                    self.assertAlmostEqual((mass * (logs - q.log_prob(th.tensor(k)).numpy())).sum(), value(D.kl_divergence(p, q)), 4)
                self.assertAlmostEqual(p.sample((40_000,)).numpy().mean(), value(p.mean), delta=0.05)

    def test_categories(self):
        probs = np.array([[0.2, 0.5, 0.3], [0.0, 1.0, 3.0]], np.float32)
        p, q = D.Categorical(th.tensor(probs)), D.Categorical(logits=th.tensor([[0.0, 1.0, 2.0]]))
        wanted = probs / probs.sum(1, keepdims=True)
        np.testing.assert_allclose(p.log_prob(th.tensor([1, 2])).exp().numpy(), [0.5, 0.75], rtol=1e-5)
        self.assertEqual(p.log_prob(th.zeros(4, 2, dtype=th.int64)).shape, (4, 2))
        drawn = p.sample((40_000,))
        self.assertEqual((drawn.shape, drawn.dtype), ((40_000, 2), th.int64))
        for at in range(3):
            np.testing.assert_allclose((drawn.numpy() == at).mean(0), wanted[:, at], atol=0.02)
        logs, others = np.log(np.maximum(wanted, 1e-7)), np.log(np.exp([0, 1, 2]) / np.exp([0, 1, 2]).sum())
        np.testing.assert_allclose(p.entropy().numpy(), -(wanted * logs).sum(1), atol=1e-4)
        np.testing.assert_allclose(D.kl_divergence(p, q).numpy(), (wanted * (logs - others)).sum(1), atol=1e-4)
        hot = D.OneHotCategorical(th.tensor(probs))
        one = hot.sample((5,))
        self.assertEqual((one.shape, one.sum(-1).tolist()), ((5, 2, 3), [[1, 1]] * 5))
        self.assertEqual(hot.log_prob(one).shape, (5, 2))


class Gammas(unittest.TestCase):
    def test_draws_change_with_their_parameters_as_their_means_do(self):
        concentration = th.full((40_000,), 0.4).requires_grad_()
        with th.tape():
            D.Gamma(concentration, 2.0).rsample().sum().backward()
        self.assertAlmostEqual(concentration.grad.numpy().mean(), 0.5, delta=0.02)  # of concentration / rate
        a, b = th.full((40_000,), 2.0).requires_grad_(), th.full((40_000,), 3.0)
        with th.tape():
            D.Beta(a, b).rsample().sum().backward()
        self.assertAlmostEqual(a.grad.numpy().mean(), 3 / 25, delta=0.005)  # of a / (a + b)

    def test_slopes_are_those_of_the_distribution_at_the_draw(self):
        x = th.full((200,), 1.0, dtype=th.float64)  # where a draw is exponential, and its distribution 1 - exp(-x)
        with th.tape():
            drawn = th.standard_gamma(x)
            slope, = th.grad_of(drawn.sum(), [x])
        step, t = 1e-4, np.linspace(0, 1, 200_001)[1:]
        for z, got in zip(drawn.tolist()[:20], slope.tolist()):
            t_z = t * z
            below, above = (np.trapz(np.concatenate([[0 if shape > 1 else np.nan], t_z ** (shape - 1) * np.exp(-t_z)])[1:], t_z) / value(th.lgamma(th.tensor(shape)).exp())
                            + t_z[0] ** shape / shape for shape in (1 - step, 1 + step))
            self.assertAlmostEqual(got, -(above - below) / (2 * step) / np.exp(-z), delta=0.02 * max(1, got))

    def test_shares_are_those_of_dirichlet(self):
        c, q = th.tensor([[2.0, 3.0, 0.5], [1.0, 1.0, 1.0]]), D.Dirichlet(th.tensor([1.0, 2.0, 3.0]))
        p = D.Dirichlet(c)
        drawn = p.sample((40_000,))
        np.testing.assert_allclose(drawn.numpy().mean(0), p.mean.numpy(), atol=0.01)
        np.testing.assert_allclose(drawn.numpy().var(0), p.variance.numpy(), atol=0.005)
        np.testing.assert_allclose(drawn.sum(-1).numpy(), 1, rtol=1e-5)
        np.testing.assert_allclose(-p.log_prob(drawn).numpy().mean(0), p.entropy().numpy(), atol=0.03)
        np.testing.assert_allclose((p.log_prob(drawn) - q.log_prob(drawn)).numpy().mean(0), D.kl_divergence(p, q).numpy(), rtol=0.05)
        small = D.Dirichlet(th.full((3,), 0.001)).sample((1000,)).numpy()
        self.assertTrue(np.isfinite(small).all() and (small.max(-1) > 0.5).all())
        self.assertEqual(D.Dirichlet(th.tensor([0.5, 0.9, 0.2])).mode.tolist(), [0, 1, 0])

    def test_they_are_drawn_alike_in_compiled_code(self):
        def f(c):
            return D.Gamma(c, 1.0).rsample(), D.Poisson(c * 9).sample(), D.StudentT(c + 2).rsample(), D.Dirichlet(c).sample()
        c = th.rand(50) + 0.5
        compiled = th.compile(f)
        for _ in range(2):
            th.seed(4)
            wanted = f(c)
            th.seed(4)
            for got, right in zip(compiled(c), wanted):
                np.testing.assert_allclose(got.numpy(), right.numpy(), rtol=1e-5)


class Vectors(unittest.TestCase):
    def test_a_normal_of_independent_parts_is_their_product(self):
        loc, scale, x = th.rand(3), th.rand(3) + 0.5, th.rand(4, 3)
        p = D.MultivariateNormal(loc, scale_tril=th.diag(scale))
        q = D.Independent(D.Normal(loc, scale), 1)
        np.testing.assert_allclose(p.log_prob(x).numpy(), q.log_prob(x).numpy(), rtol=1e-4)
        np.testing.assert_allclose(p.entropy().numpy(), q.entropy().numpy(), rtol=1e-4)
        other = D.MultivariateNormal(loc + 1, covariance_matrix=th.diag(scale ** 2 * 4))
        parts = D.Independent(D.Normal(loc + 1, scale * 2), 1)
        np.testing.assert_allclose(value(D.kl_divergence(p, other)), value(D.kl_divergence(q, parts)), rtol=1e-3)

    def test_they_are_compiled(self):
        def f(loc, logits, x):
            action = D.Categorical(logits=logits).sample()
            return D.Normal(loc, 2.0).log_prob(x).sum(), D.Categorical(logits=logits).log_prob(action), D.Normal(loc, 1.0).rsample((2,))
        compiled = th.compile(f)
        loc, logits, x = th.rand(3), th.rand(4, 5), th.rand(3)
        th.seed(3)
        wanted = f(loc, logits, x)
        th.seed(3)
        for got, right in zip(compiled(loc, logits, x), wanted):
            np.testing.assert_allclose(got.numpy(), right.numpy(), rtol=1e-5)

    def test_what_has_no_closed_form_is_said(self):
        with self.assertRaisesRegex(NotImplementedError, "Normal and Laplace: register_kl"):
            D.kl_divergence(D.Normal(0.0, 1.0), D.Laplace(0.0, 1.0))
        with self.assertRaisesRegex(ValueError, "either probs or logits"):
            D.Categorical()


if __name__ == "__main__":
    unittest.main()
