#!/usr/bin/env python3
"""The steps of bench/groups/resnet18.py through lightning-thunder."""
import resnet18
import ways

resnet18.main(ways.lightning_thunder())
