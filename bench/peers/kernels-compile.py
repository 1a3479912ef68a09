#!/usr/bin/env python3
"""The kernels of bench/groups/kernels.py through torch.compile, with its defaults."""
import kernels

kernels.main(compiled=True)
