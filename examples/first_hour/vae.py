#!/usr/bin/env python3
"""A variational autoencoder of points on a ring, by torch.distributions' names: rsample, log_prob, kl_divergence.

    python3 vae.py [--device cuda] [--steps N]
"""
import argparse
import math

import thunder as th
from thunder import nn, optim
from thunder.distributions import Independent, Normal, kl_divergence


class VAE(nn.Module):
    def __init__(self, width=64, latent=2):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, 2 * latent))
        self.decoder = nn.Sequential(nn.Linear(latent, width), nn.Tanh(), nn.Linear(width, 2))
        self.log_noise = nn.Parameter(th.full((2,), -1.5))

    def forward(self, x):
        """The bound on log p(x), of each example."""
        mean, log_scale = self.encoder(x).chunk(2, dim=-1)
        posterior = Independent(Normal(mean, log_scale.exp()), 1)
        prior = Independent(Normal(th.zeros_like(mean), th.ones_like(mean)), 1)
        z = posterior.rsample()
        likelihood = Independent(Normal(self.decoder(z), self.log_noise.exp()), 1)
        return likelihood.log_prob(x) - kl_divergence(posterior, prior)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--steps", type=int, default=800)
    options = parser.parse_args()
    th.manual_seed(0)
    model = VAE().to(options.device)
    opt = optim.Adam(model.parameters(), lr=5e-3)
    bound = th.compile(model)
    first = None
    for step in range(options.steps):
        angle = th.rand(256) * 2 * math.pi
        x = (th.stack([angle.cos(), angle.sin()], dim=1) + 0.05 * th.randn(256, 2)).to(options.device)
        opt.zero_grad()
        with th.tape():
            loss = -bound(x).mean()
            loss.backward()
        opt.step()
        first = first or loss.item()
        if step % 100 == 99:
            print(f"step {step + 1}: -bound {loss.item():.3f}")
    with th.no_grad():
        drawn = model.decoder(th.randn(500, 2, device=options.device))
    radius = (drawn ** 2).sum(1).sqrt().mean().item()
    print(f"radius of what is drawn: {radius:.2f}")
    assert loss.item() < first - 1 and 0.7 < radius < 1.3, (first, loss.item(), radius)


if __name__ == "__main__":
    main()
