#!/usr/bin/env python3
"""The training step of bench/groups/resnet18.py through torch.compile, with its defaults."""
import resnet18

resnet18.main(compiled=True)
