#!/usr/bin/env python3
"""A classifier with scikit-learn's methods, fit, predict and score: in its pipelines and searches, where it is installed, or alone.

    python3 estimator.py [--device cuda]
"""
import argparse

import numpy as np
import thunder as th
import thunder.nn.functional as F
from thunder import nn, optim
from thunder.utils.data import DataLoader, TensorDataset

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
except ImportError:  # what of them is used here
    class BaseEstimator:
        def set_params(self, **params):
            vars(self).update(params)
            return self

    class ClassifierMixin:
        def score(self, x, y):
            return float((self.predict(x) == y).mean())


class MLPClassifier(ClassifierMixin, BaseEstimator):
    def __init__(self, width=32, epochs=30, lr=1e-2, batch_size=32, device="cpu", seed=0):
        self.width, self.epochs, self.lr, self.batch_size, self.device, self.seed = width, epochs, lr, batch_size, device, seed

    def fit(self, x, y):
        th.manual_seed(self.seed)
        self.classes_, labels = np.unique(y, return_inverse=True)
        x = th.tensor(np.asarray(x, np.float32))
        self.net_ = nn.Sequential(nn.Linear(x.shape[1], self.width), nn.ReLU(), nn.Linear(self.width, len(self.classes_))).to(self.device)
        opt = optim.AdamW(self.net_.parameters(), lr=self.lr)
        for _ in range(self.epochs):
            for images, wanted in DataLoader(TensorDataset(x, th.tensor(labels)), batch_size=self.batch_size, shuffle=True):
                opt.zero_grad()
                with th.tape():
                    F.cross_entropy(self.net_(images.to(self.device)), wanted.to(self.device)).backward()
                opt.step()
        return self

    @th.no_grad()
    def predict_proba(self, x):
        return self.net_(th.tensor(np.asarray(x, np.float32)).to(self.device)).softmax(1).cpu().numpy()

    def predict(self, x):
        return self.classes_[self.predict_proba(x).argmax(1)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    random = np.random.default_rng(0)
    x = random.uniform(-1, 1, (400, 2))
    y = np.where((x ** 2).sum(1) < 0.5, "inside", "outside")
    scores = {width: MLPClassifier(width=width, device=options.device).fit(x[:300], y[:300]).score(x[300:], y[300:]) for width in (4, 32)}
    print(scores)
    assert scores[32] > 0.9, scores


if __name__ == "__main__":
    main()
