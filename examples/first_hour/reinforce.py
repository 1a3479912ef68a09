#!/usr/bin/env python3
"""REINFORCE: a policy learns to walk to the right end of a line, by Categorical's sample and log_prob.

    python3 reinforce.py [--device cuda] [--episodes N]
"""
import argparse

import thunder as th
import thunder.nn.functional as F
from thunder import nn, optim
from thunder.distributions import Categorical

LENGTH, MOST = 6, 20


class Line:
    """Walkers begin in the middle; a step costs 0.1, the right end gives 1, the left end -1."""

    def reset(self):
        self.place, self.steps = LENGTH // 2, 0
        return self.place

    def step(self, action):
        self.place, self.steps = self.place + (1 if action else -1), self.steps + 1
        ended = self.place in (0, LENGTH)
        return self.place, (1.0 if self.place == LENGTH else -1.0 if ended else -0.1), ended or self.steps >= MOST


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--episodes", type=int, default=80)
    options = parser.parse_args()
    th.manual_seed(0)
    policy = nn.Sequential(nn.Linear(LENGTH + 1, 32), nn.Tanh(), nn.Linear(32, 2)).to(options.device)
    opt = optim.Adam(policy.parameters(), lr=2e-2)
    world, gamma, totals = Line(), 0.95, []
    for episode in range(options.episodes):
        log_probs, rewards, ended = [], [], False
        place = world.reset()
        with th.tape():
            while not ended:
                seen = F.one_hot(th.tensor(place), LENGTH + 1).float().to(options.device)
                choice = Categorical(logits=policy(seen))
                action = choice.sample()
                log_probs.append(choice.log_prob(action))
                place, reward, ended = world.step(int(action))
                rewards.append(reward)
            returns, after = [], 0.0
            for reward in reversed(rewards):
                after = reward + gamma * after
                returns.insert(0, after)
            loss = -(th.stack(log_probs) * th.tensor(returns, device=options.device)).sum()
            opt.zero_grad()
            loss.backward()
        opt.step()
        totals.append(sum(rewards))
        if episode % 20 == 19:
            print(f"episode {episode + 1}: reward {sum(totals[-20:]) / 20:.2f}")
    assert sum(totals[-20:]) / 20 > 0.5, totals[-20:]


if __name__ == "__main__":
    main()
