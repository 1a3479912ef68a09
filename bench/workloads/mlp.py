"""A classifier of 784 inputs, 1024 hidden units and 10 classes; nn is a package's nn."""
BATCH, INPUTS, HIDDEN, CLASSES = 64, 784, 1024, 10
NAME = f"mlp: training step {INPUTS}-{HIDDEN}-{CLASSES}, batch {BATCH}"

# Each product three times, without the gradient by the input of the first.
TRAINING_FLOPS = 2 * BATCH * HIDDEN * (2 * INPUTS + 3 * CLASSES)
UPDATE_BYTES = 28 * (INPUTS * HIDDEN + HIDDEN + HIDDEN * CLASSES + CLASSES)


def model(nn):
    return nn.Sequential(nn.Linear(INPUTS, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, CLASSES))
