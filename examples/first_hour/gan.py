#!/usr/bin/env python3
"""A GAN that learns a normal distribution: two networks and two optimisers, each stepping by gradients that pass the other one.

    python3 gan.py [--device cuda] [--steps N]
"""
import argparse

import thunder as th
import thunder.nn.functional as F
from thunder import nn, optim

MEAN, SCALE = 4.0, 1.25


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--steps", type=int, default=800)
    options = parser.parse_args()
    device = options.device
    th.manual_seed(0)
    generator = nn.Sequential(nn.Linear(1, 16), nn.ELU(), nn.Linear(16, 1)).to(device)
    critic = nn.Sequential(nn.Linear(1, 32), nn.LeakyReLU(0.2), nn.Linear(32, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1)).to(device)
    opt_g = optim.Adam(generator.parameters(), lr=2e-3, betas=(0.5, 0.999))
    opt_d = optim.Adam(critic.parameters(), lr=4e-3, betas=(0.5, 0.999))
    real, fake = th.ones(128, 1, device=device), th.zeros(128, 1, device=device)
    for step in range(options.steps):
        x = (MEAN + SCALE * th.randn(128, 1)).to(device)
        z = th.randn(128, 1, device=device)

        opt_d.zero_grad()
        with th.tape():
            made = generator(z)
            d_loss = (F.binary_cross_entropy_with_logits(critic(x), real)
                      + F.binary_cross_entropy_with_logits(critic(made.detach()), fake))
            d_loss.backward()
        assert generator[0].weight.grad is None or step, "detach() keeps the critic's loss from the generator"
        opt_d.step()

        opt_g.zero_grad()
        with th.tape():
            g_loss = F.binary_cross_entropy_with_logits(critic(generator(z)), real)
            g_loss.backward()
        opt_g.step()
        if step % 200 == 199:
            print(f"step {step + 1}: critic {d_loss.item():.3f}, generator {g_loss.item():.3f}")
    with th.no_grad():
        drawn = generator(th.randn(4000, 1, device=device))
    print(f"drawn: mean {drawn.mean().item():.2f} of {MEAN}, deviation {drawn.std().item():.2f} of {SCALE}")
    assert abs(drawn.mean().item() - MEAN) < 1.0, drawn.mean().item()


if __name__ == "__main__":
    main()
