#!/usr/bin/env python3
"""The kernels of bench/groups/kernels.py through lightning-thunder."""
import kernels
import ways

kernels.main(ways.lightning_thunder())
