-- Mixed precision by th.autocast: weights stay f32, products are bf16, losses f32.
local th = require "thunder"
local nn, optim = th.nn, th.optim

th.seed(5)
local x, y = th.randn(64, 16), th.randint(0, 4, { 64 })
local net = nn.Sequential(nn.Linear(16, 64), nn.GELU(), nn.LayerNorm { 64 }, nn.Linear(64, 4))
local parameters = net:parameters()
local opt = optim.AdamW(parameters, { lr = 1e-2 })

local function loss_of(input, target)
  local logits = net(input)
  assert(logits.dtype == th.bfloat16, tostring(logits.dtype))
  return th.cross_entropy(logits, target)
end

local step = th.compile(function(input, target)
  local loss = th.autocast(th.bfloat16, loss_of, input, target)
  local gradients = th.grad_of(loss, parameters)
  for _, gradient in pairs(gradients) do assert(gradient.dtype == th.float32) end
  opt:step(gradients)
  return loss
end)
local first = step(x, y):item()
local last
for _ = 1, 60 do last = step(x, y):item() end
assert(last < first / 4, ("loss %g, then %g"):format(first, last))
for _, p in pairs(parameters) do assert(p.dtype == th.float32) end

-- Eagerly, on a tape, and after an error the region is over.
assert(th.autocast(th.float16, function() return x:matmul(x:transpose(0, 1)) end).dtype == th.float16)
local tape_loss, gradient = th.autocast(th.bfloat16, function()
  return th.tape(function()
    local l = net(x):sum()
    return l, th.grad_of(l, parameters)
  end)
end)
assert(tape_loss.dtype == th.float32 and select(2, next(gradient)).dtype == th.float32)
assert(not pcall(th.autocast, th.bfloat16, function() error "stop" end))
assert(x:matmul(x:transpose(0, 1)).dtype == th.float32)

-- What is traced inside of it, for a transform or a checkpoint, computes in it too.
local w, batch = th.randn(3, 3), th.randn(4, 3, 3)
local function product(a)
  local y = a:matmul(w)
  assert(y.dtype == th.bfloat16, tostring(y.dtype))
  return y
end
local function within(f) return function(a) return th.autocast(th.bfloat16, f, a) end end
local ways = {
  vmap = function(a) return th.func.vmap(product)(a) end,
  checkpoint = function(a) return th.checkpoint(product)(a[1]) end,
}
for name, f in pairs(ways) do
  assert(within(f)(batch).dtype == th.bfloat16, name)
  assert(th.compile(within(f))(batch).dtype == th.bfloat16, name)
end
local slope = th.compile(within(function(a) return th.func.grad(function(b) return product(b):sum() end)(a[1]) end))
assert(slope(batch).dtype == th.float32)

local function refused(text, f, ...)
  local ok, message = pcall(f, ...)
  assert(not ok and tostring(message):find(text, 1, true), tostring(message))
end
refused("autocast computes in bf16 or f16; 0 ends it; the dtype is f64", th.autocast, th.float64, function() end)
refused("a dtype and a function were expected", th.autocast, th.bfloat16)
refused("'dtype' must be a dtype, got a function", th.autocast, function() end, function() end)
