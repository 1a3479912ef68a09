#!/usr/bin/env python3
"""The forward of ResNet-18 in onnxruntime, which trains nothing."""
import torch
from onnx_export import time
from torch import nn
from torch.nn import functional
from workloads import resnet18


def main():
    torch.manual_seed(0)
    net = resnet18.model(nn, functional).eval()
    time(resnet18.FORWARD_NAME, "ms", net, [torch.randn(resnet18.BATCH, 3, resnet18.SIZE, resnet18.SIZE)], 5)


if __name__ == "__main__":
    main()
