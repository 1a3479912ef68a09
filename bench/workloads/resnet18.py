"""ResNet-18 (https://arxiv.org/abs/1512.03385) for images of 224x224 and 1000 classes; nn is a package's nn, F has its functions."""
BATCH, SIZE, CLASSES = 16, 224, 1000
NAME, FORWARD_NAME = (f"resnet18: {what}, batch {BATCH}" for what in ("training step", "forward"))


def _layers():
    """(channels in, channels out, kernel, size of the output) of each convolution."""
    yield 3, 64, 7, SIZE // 2
    before, size = 64, SIZE // 4
    for stage, width in enumerate((64, 128, 256, 512)):
        for block in range(2):
            if block == 0 and stage:
                size //= 2
                yield before, width, 1, size
            yield before, width, 3, size
            yield width, width, 3, size
            before = width


FORWARD_FLOPS = 2 * BATCH * (sum(i * o * k * k * s * s for i, o, k, s in _layers()) + 512 * CLASSES)
# Nobody needs the gradient by the images.
TRAINING_FLOPS = 3 * FORWARD_FLOPS - 2 * BATCH * 3 * 64 * 49 * (SIZE // 2) ** 2


def model(nn, F):
    class Block(nn.Module):
        def __init__(self, before, width, stride):
            super().__init__()
            self.conv1, self.bn1 = nn.Conv2d(before, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width)
            self.conv2, self.bn2 = nn.Conv2d(width, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width)
            self.narrows = stride > 1
            if self.narrows:
                self.conv3, self.bn3 = nn.Conv2d(before, width, 1, stride, 0, bias=False), nn.BatchNorm2d(width)

        def forward(self, x):
            y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
            return F.relu(y + (self.bn3(self.conv3(x)) if self.narrows else x))

    class Resnet18(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.bn = nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64)
            self.pool = nn.MaxPool2d(3, 2, 1)
            widths = [(64, 64, 1), (64, 64, 1), (64, 128, 2), (128, 128, 1), (128, 256, 2), (256, 256, 1), (256, 512, 2), (512, 512, 1)]
            self.blocks = nn.ModuleList([Block(*each) for each in widths])
            self.fc = nn.Linear(512, CLASSES)

        def forward(self, x):
            x = self.pool(F.relu(self.bn(self.conv(x))))
            for block in self.blocks:
                x = block(x)
            return self.fc(x.mean(dim=[2, 3]))

    return Resnet18()
