#!/usr/bin/env python3
"""The kernels of bench/groups/kernels.py through torch.compile, for these shapes alone."""
import kernels
import ways

kernels.main(ways.COMPILED)
