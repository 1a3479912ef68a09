"""Distributions: densities against their own integrals and sums, draws against means and variances, in eager and compiled code."""
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
    "Uniform": (D.Uniform(1.0, 3.0), D.Uniform(0.0, 4.0)), "Exponential": (D.Exponential(0.7), D.Exponential(1.3))}
WHOLE = {"Bernoulli": (D.Bernoulli(0.3), D.Bernoulli(logits=0.4), 2), "Geometric": (D.Geometric(0.3), D.Geometric(0.5), 80),
         "Binomial": (D.Binomial(4, 0.3), None, 5), "Poisson": (D.Poisson(1.5), D.Poisson(2.5), 40)}


class Continuous(unittest.TestCase):
    def cases(self):
        for name, (p, q) in CONTINUOUS.items():
            x = GRID[GRID > 0] if name in ("LogNormal", "Exponential") else GRID
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
                if name != "Poisson":
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
