"""Distributions that can be sampled, and of which logarithms of densities are differentiated: torch.distributions, of ops.

    policy = distributions.Categorical(logits=net(state))
    action = policy.sample()
    loss = -policy.log_prob(action) * reward

They work in compiled functions and on tapes; what is drawn follows thunder.seed(). Arguments are not checked (validate_args is taken,
and changes nothing).
"""
from .. import _names
from ._base import Distribution
from ._continuous import Cauchy, Exponential, Gumbel, Independent, Laplace, LogNormal, Normal, Uniform
from ._discrete import Bernoulli, Binomial, Categorical, Geometric, OneHotCategorical, Poisson
from ._divergences import MultivariateNormal, kl_divergence, register_kl
from ._gammas import Beta, Chi2, Dirichlet, Gamma, StudentT

__all__ = ["Bernoulli", "Beta", "Binomial", "Categorical", "Cauchy", "Chi2", "Dirichlet", "Distribution", "Exponential", "Gamma", "Geometric",
           "Gumbel", "Independent", "Laplace", "LogNormal", "MultivariateNormal", "Normal", "OneHotCategorical", "Poisson", "StudentT", "Uniform",
           "kl_divergence", "register_kl"]

__getattr__ = _names.getattr_of(__name__)
