-- Mixed precision: the forward and backward in bf16, the weights that learn in f32.
local th = require "thunder"
local nn, optim = th.nn, th.optim

th.seed(5)
local x, y = th.randn(64, 16), th.randint(0, 4, { 64 })
local net = nn.Sequential(nn.Linear(16, 64), nn.GELU(), nn.LayerNorm { 64 }, nn.Linear(64, 4))

-- The recipe: a copy of the net in bf16 computes; its gradients move the f32 weights, which are then rounded into it.
local function mixed_step(model)
  local half = model:deepcopy():to(th.bfloat16)
  local masters, weights = model:parameters(), half:parameters()
  local opt = optim.AdamW(masters, { lr = 1e-2 })
  return th.compile(function(input, target)
    local loss = th.cross_entropy(half(input:to(th.bfloat16)):to(th.float32), target)
    opt:step(th.grad_of(loss, weights))
    for path, weight in pairs(weights) do weight:copy_(masters[path]) end
    return loss
  end), half
end

local function plain_step(model)
  local params = model:parameters()
  local opt = optim.AdamW(params, { lr = 1e-2 })
  return th.compile(function(input, target)
    local loss = th.cross_entropy(model(input), target)
    opt:step(th.grad_of(loss, params))
    return loss
  end)
end

local plain = plain_step(net:deepcopy())
local mixed, half = mixed_step(net)
local first, wanted, reached
for i = 1, 60 do
  wanted, reached = plain(x, y):item(), mixed(x, y):item()
  first = first or wanted
  if i == 1 then assert(math.abs(reached - wanted) < 0.05, "the first losses differ by bf16's rounding") end
end
assert(wanted < first / 20 and reached < first / 20, ("%g: plain %g, mixed %g"):format(first, wanted, reached))
assert(th.stats(mixed).misses == 1)
for path, weight in pairs(half:parameters()) do
  assert(weight.dtype == th.bfloat16 and net:parameters()[path].dtype == th.float32)
  assert(weight:equal(net:parameters()[path]:to(th.bfloat16)), path)
end

-- Why the f32 weights: steps this small are lost in bf16, whose neighbours of 1 are 1/128 apart.
local function moved(dtype)
  local w = th.ones(1):to(dtype)
  local opt = optim.SGD({ w }, 1e-3)
  for _ = 1, 20 do opt:step { th.ones(1):to(dtype) } end
  return 1 - w:to(th.float32)[1]:item()
end
assert(moved(th.bfloat16) == 0 and math.abs(moved(th.float32) - 0.02) < 1e-6)
