#!/usr/bin/env python3
"""The training step of bench/groups/mlp.py through torch.compile, with its defaults."""
import mlp

mlp.main(compiled=True)
