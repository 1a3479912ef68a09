#!/usr/bin/env python3
"""The steps of bench/groups/resnet18.py through torch.compile, for these shapes alone."""
import resnet18
import ways

resnet18.main(ways.COMPILED)
