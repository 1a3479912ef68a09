-- Training steps of a ResNet (forward, loss, backward, SGD with momentum) on random images: how fast a machine is at it.
--
--   thunder run resnet.lua [--size resnet50] [--batch N] [--image N] [--steps N] [--device cuda] [--dtype bfloat16|autocast]
--
-- Prints the loss and the images a second of each ten steps after the first, which compiles. The images are of as many colours as there
-- are classes, so that the loss falls.
local folder = arg[0]:match "^(.*/)[^/]*$" or "./"
package.path = folder .. "?.lua;" .. package.path
local th = require "thunder"
local model = require "model"

local options = { size = "resnet18", batch = 8, image = 64, steps = 30, device = "cpu", dtype = "float32", classes = 10 }

local function usage(problem)
  io.stderr:write(problem, "\nusage: resnet.lua [--size resnet50] [--batch N] [--image N] [--steps N] [--classes N] [--device cuda] [--dtype bfloat16|autocast]\n")
  os.exit(1, true)
end

for at = 1, #arg, 2 do
  local name = arg[at]:match "^%-%-(%l+)$"
  if not options[name] then usage("unknown option " .. arg[at]) end
  local value = arg[at + 1] or usage(arg[at] .. " needs a value")
  if math.type(options[name]) then value = math.tointeger(tonumber(value)) or usage(arg[at] .. " must be an integer, got " .. value) end
  options[name] = value
end
if not model.sizes[options.size] then usage("no size " .. options.size) end
-- autocast: products in bfloat16, weights in float32.
local cast = options.dtype == "autocast"
local dtype = cast and th.float32 or th[options.dtype] or usage("no dtype " .. options.dtype)

th.seed(0)
local net = model.make(options.size, options.classes):to(options.device):to(dtype)
local parameters = net:parameters()
local optimizer = th.optim.SGD(parameters, { lr = 0.02, momentum = 0.9 })
local step = th.compile(function(images, labels)
  local function forward() return net(images) end
  local logits = cast and th.autocast(th.bfloat16, forward) or not cast and forward()
  local loss = th.cross_entropy(logits:to(th.float32), labels)
  optimizer:step(th.grad_of(loss, parameters))
  return loss
end)

-- Noise on a colour that the label names.
local colours = th.rand(options.classes, 3, 1, 1)
local function draw()
  local labels = th.randint(0, options.classes, { options.batch })
  local images = colours:index { labels } + 0.2 * th.randn(options.batch, 3, options.image, options.image)
  return images:to(options.device):to(dtype), labels:to(options.device)
end

local weights = 0
for _, p in pairs(parameters) do weights = weights + p:numel() end
print(("%s, %.1f million parameters, batches of %d images of %dx%d, %s on %s"):format(options.size, weights / 1e6, options.batch, options.image,
  options.image, options.dtype, options.device))

local batches = {}
for i = 1, 8 do batches[i] = { draw() } end
local start = th.clock()
print(("first step: loss %.4f, %.1f s with compiling"):format(step(table.unpack(batches[1])):item(), th.clock() - start))
start = th.clock()
for i = 1, options.steps do
  local loss = step(table.unpack(batches[i % #batches + 1]))
  if i % 10 == 0 then
    local value, now = loss:item(), th.clock()
    print(("step %d: loss %.4f, %.0f images/s"):format(i, value, 10 * options.batch / (now - start)))
    start = th.clock()
  end
end
