#!/usr/bin/env python3
"""The training step of bench/groups/mlp.py through torch.compile, for these shapes alone."""
import mlp
import ways

mlp.main(ways.COMPILED)
