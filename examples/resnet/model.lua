-- ResNets (https://arxiv.org/abs/1512.03385), whose parameters have the names and shapes of torchvision's.
local th = require "thunder"
local nn = th.nn
local model = {}

-- `deep`: blocks of 1x1, 3x3 and 1x1 convolutions, the last of which is four times as wide, in place of two of 3x3.
model.sizes = {
  resnet18 = { blocks = { 2, 2, 2, 2 } },
  resnet34 = { blocks = { 3, 4, 6, 3 } },
  resnet50 = { blocks = { 3, 4, 6, 3 }, deep = true },
  resnet101 = { blocks = { 3, 4, 23, 3 }, deep = true },
  resnet152 = { blocks = { 3, 8, 36, 3 }, deep = true },
}

local function convolution(inputs, outputs, size, stride)
  return nn.Conv2d(inputs, outputs, size, { stride = stride, padding = size // 2, bias = false })
end

-- {convolution, norm} pairs as conv1, bn1, conv2, ...; a ReLU between two of them, and one after the sum with the way around.
local function block(inputs, width, stride, deep)
  local outputs = deep and 4 * width or width
  local members = deep and {
    conv1 = convolution(inputs, width, 1, 1), bn1 = nn.BatchNorm2d(width),
    conv2 = convolution(width, width, 3, stride), bn2 = nn.BatchNorm2d(width),
    conv3 = convolution(width, outputs, 1, 1), bn3 = nn.BatchNorm2d(outputs),
  } or {
    conv1 = convolution(inputs, width, 3, stride), bn1 = nn.BatchNorm2d(width),
    conv2 = convolution(width, width, 3, 1), bn2 = nn.BatchNorm2d(width),
  }
  local downsamples = stride > 1 or inputs ~= outputs
  if downsamples then
    members.downsample = nn.Sequential(convolution(inputs, outputs, 1, stride), nn.BatchNorm2d(outputs))
  end
  local net, last = nn.Module(members), deep and 3 or 2
  function net:forward(x)
    local y = x
    for i = 1, last do
      y = self["bn" .. i](self["conv" .. i](y))
      if i < last then y = th.relu(y) end
    end
    return th.relu(y + (downsamples and self.downsample(x) or x))
  end
  return net, outputs
end

-- size: a name of model.sizes. Images are float[batch, 3, height, width], logits float[batch, classes].
function model.make(size, classes)
  local config = model.sizes[size]
  local members = { conv1 = convolution(3, 64, 7, 2), bn1 = nn.BatchNorm2d(64) }
  local inputs = 64
  for stage, count in ipairs(config.blocks) do
    local blocks = {}
    for i = 1, count do
      blocks[i], inputs = block(inputs, 64 << (stage - 1), i == 1 and stage > 1 and 2 or 1, config.deep)
    end
    members["layer" .. stage] = nn.Sequential(table.unpack(blocks))
  end
  members.fc = nn.Linear(inputs, classes)
  local net = nn.Module(members)
  function net:forward(x)
    x = th.max_pool2d(th.relu(self.bn1(self.conv1(x))), 3, { stride = 2, padding = 1 })
    for stage = 1, 4 do x = self["layer" .. stage](x) end
    return self.fc(x:mean { dim = { 2, 3 } })
  end
  return net
end

return model
