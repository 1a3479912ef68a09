#!/usr/bin/env python3
"""DQN on the same line as reinforce.py: a memory of transitions, a target network, actions that are tried at random at first.

    python3 dqn.py [--device cuda] [--episodes N]
"""
import argparse
import collections
import copy
import random

import thunder as th
import thunder.nn.functional as F
from reinforce import LENGTH, Line
from thunder import nn, optim

Transition = collections.namedtuple("Transition", "place action reward after ended")


def seen(places, device):
    return F.one_hot(th.tensor(places), LENGTH + 1).float().to(device)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--episodes", type=int, default=60)
    options = parser.parse_args()
    device = options.device
    th.manual_seed(0)
    random.seed(0)
    q = nn.Sequential(nn.Linear(LENGTH + 1, 32), nn.ReLU(), nn.Linear(32, 2)).to(device)
    target = copy.deepcopy(q).requires_grad_(False)
    opt, memory, world, totals = optim.Adam(q.parameters(), lr=5e-3), collections.deque(maxlen=500), Line(), []

    @th.compile
    def step(states, actions, rewards, afters, ended):
        chosen = q(states).gather(1, actions[:, None])[:, 0]
        with th.no_grad():
            wanted = rewards + 0.95 * target(afters).max(1).values * (1 - ended)
        loss = F.smooth_l1_loss(chosen, wanted)
        opt.zero_grad()
        loss.backward()
        opt.step()
        return loss

    for episode in range(options.episodes):
        place, ended, total = world.reset(), False, 0.0
        while not ended:
            if random.random() < 0.9 ** episode + 0.02:
                action = random.randrange(2)
            else:
                with th.no_grad():
                    action = q(seen([place], device)).argmax(1).item()
            after, reward, ended = world.step(action)
            memory.append(Transition(place, action, reward, after, float(ended)))
            place, total = after, total + reward
            if len(memory) >= 32:
                places, actions, rewards, afters, ends = zip(*random.sample(memory, 32))
                step(seen(places, device), th.tensor(actions, device=device), th.tensor(rewards, device=device), seen(afters, device),
                     th.tensor(ends, device=device))
        if episode % 3 == 2:
            target.load_state_dict(q.state_dict())
        totals.append(total)
        if episode % 20 == 19:
            print(f"episode {episode + 1}: reward {sum(totals[-20:]) / 20:.2f}")
    assert sum(totals[-20:]) / 20 > 0.5, totals[-20:]


if __name__ == "__main__":
    main()
