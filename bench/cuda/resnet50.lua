-- resnet50.lua EXAMPLES [BATCH]: what resnet50.py measures, by us: images a second over 20 training steps of a ResNet-50 on the first GPU, and the
-- most memory, in float32 and in bfloat16.
local examples = arg[1] or "examples"
package.path = examples .. "/resnet/?.lua;" .. package.path
local th = require "thunder"
local model = require "model"

local batch, gpu = math.tointeger(arg[2] or 64), th.cuda(0)

local function measure(dtype)
  th.seed(0)
  collectgarbage()
  th.cuda.empty_cache()
  th.cuda.reset_peak_memory_stats()
  local net = model.make("resnet50", 10):to(gpu):to(dtype)
  local parameters = net:parameters()
  local optimizer = th.optim.SGD(parameters, { lr = 0.02, momentum = 0.9 })
  local images, labels = th.randn(batch, 3, 224, 224):to(gpu):to(dtype), th.randint(0, 10, { batch }):to(gpu)
  local step = th.compile(function(x, y)
    local loss = th.cross_entropy(net(x):to(th.float32), y)
    optimizer:step(th.grad_of(loss, parameters))
    return loss
  end)
  for _ = 1, 5 do step(images, labels) end
  step(images, labels):item()
  local start, loss = th.clock(), nil
  for _ = 1, 20 do loss = step(images, labels) end
  local last = loss:item()
  print(("%s: %.0f images/s, loss %.4f, %d MiB at most"):format(tostring(dtype), 20 * batch / (th.clock() - start), last,
    th.cuda.max_memory_allocated() >> 20))
  return th.memory_report(step):match "on cuda:0: [^\n]*"
end

for _, dtype in ipairs { th.float32, th.bfloat16 } do print(measure(dtype)) end
