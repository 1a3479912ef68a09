"""resnet50.py [BATCH]: what examples/resnet/resnet.lua --size resnet50 does, in PyTorch, eager: images a second over 20 training steps."""
import sys

import torch
import torch.nn.functional as F
from torch import nn

from timed import seconds


class Block(nn.Module):
    def __init__(self, inputs, width, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(inputs, width, 1, bias=False), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width)
        self.conv3, self.bn3 = nn.Conv2d(width, 4 * width, 1, bias=False), nn.BatchNorm2d(4 * width)
        around = stride > 1 or inputs != 4 * width
        self.downsample = nn.Sequential(nn.Conv2d(inputs, 4 * width, 1, stride, bias=False), nn.BatchNorm2d(4 * width)) if around else nn.Identity()

    def forward(self, x):
        y = F.relu(self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x))))))
        return F.relu(self.bn3(self.conv3(y)) + self.downsample(x))


def resnet50(classes):
    layers, inputs = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)], 64
    for stage, blocks in enumerate((3, 4, 6, 3)):
        for i in range(blocks):
            layers.append(Block(inputs, 64 << stage, 2 if stage and not i else 1))
            inputs = 4 * (64 << stage)
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, classes))


def measure(batch, dtype, tf32):
    torch.backends.cudnn.allow_tf32 = tf32
    torch.cuda.reset_peak_memory_stats()
    net = resnet50(10).cuda().to(dtype)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9)
    images, labels = torch.randn(batch, 3, 224, 224, device="cuda", dtype=dtype), torch.randint(0, 10, (batch,), device="cuda")

    def step():
        optimizer.zero_grad()
        F.cross_entropy(net(images).float(), labels).backward()
        optimizer.step()

    print(f"{dtype}, tf32 {'on' if tf32 else 'off'}: {batch / seconds(step, 20, warmup=5):.0f} images/s, "
          f"{torch.cuda.max_memory_allocated() >> 20} MiB at most")


if __name__ == "__main__":
    print(f"PyTorch {torch.__version__}, cuDNN {torch.backends.cudnn.version()}")
    for kind in ((torch.float32, False), (torch.float32, True), (torch.bfloat16, True)):
        measure(int(sys.argv[1]) if len(sys.argv) > 1 else 64, *kind)
