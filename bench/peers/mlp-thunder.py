#!/usr/bin/env python3
"""The training step of bench/groups/mlp.py through lightning-thunder."""
import mlp
import ways

mlp.main(ways.lightning_thunder())
