-- What docs/segments.md shows runs as it stands; and functions that read values give what eager code gives.
local th = require "thunder"
local page = require "support.page"
local expect = require "support.expect"
local text, count = page.run "../docs/segments.md"
assert(count == 1)
assert(text:find "^tensor%(%[ 1%.4142,  3%.0000, 10%.0000%]%)\ntrue\ntrue\ntrue\n", text)
assert(text:find("the value of div, f32[], was read, after", 1, true), text)

local function both(f, ...)
  local cut, eager = th.compile(f, { fullgraph = false }), th.compile(f, { disable = true })
  for _ = 1, 2 do
    local got, want = cut(...), eager(...)
    assert((got - want):abs():amax():item() <= 1e-6, tostring(got) .. tostring(want))
  end
  assert(th.stats(cut).segments > 0)
  return cut
end

-- Branches, prints, tables, masks.
local function branch(x)
  if (x:sum()):item() > 0 then return th.exp(x) end
  return -x
end
both(branch, th.tensor { 1.0, 2.0 })
both(branch, th.tensor { -1.0, -2.0 })
local seen = {}
both(function(x)
  local y = x * 3
  seen[#seen + 1] = tostring(y)
  return y + y:tolist()[1]
end, th.tensor { 1.0, 2.0 })
assert(#seen == 4 and seen[1] == seen[2] and seen[1]:find("[3., 6.]", 1, true), seen[1])
both(function(x) return x[x:gt(1)] * 2 end, th.tensor { 1.0, 2.0, 3.0 })

-- Modules: parameters are what they are at each call, buffers are written.
local net = th.nn.Sequential(th.nn.Linear(3, 4), th.nn.BatchNorm1d(4), th.nn.ReLU(), th.nn.Linear(4, 2))
local forward = th.compile(function(x)
  local y = net(x)
  if y:abs():amax():item() > 1e6 then error "it diverged" end
  return y * 2
end, { fullgraph = false })
local x = th.randn(5, 3)
net:train(false)
local still = forward(x)
assert(still:equal(net(x) * 2) or (still - net(x) * 2):abs():amax():item() < 1e-5)
net:train(true)
forward(x)
net:train(false)
assert(not forward(x):equal(still)) -- the running statistics moved

-- A step of training that looks at its loss.
local opt = th.optim.SGD(net:parameters(), { lr = 0.1 })
local first, last
local step = th.compile(function(a, b)
  local loss = th.mse_loss(net(a), b)
  local value = loss:item()
  first, last = first or value, value
  opt:step(th.grad_of(loss, net:parameters()))
  return loss
end, { fullgraph = false })
local target = th.zeros(5, 2)
step(x, target)
local compiled = th.stats(step).misses
for _ = 1, 20 do step(x, target) end
assert(last < first and th.stats(step).misses == compiled)

-- Errors end a call and nothing else; a compiled function inside of another breaks that one.
local bad = true
local fails = th.compile(function(y)
  y = y + 1
  y:sum():item()
  if bad then error "stopped here" end
  return y
end, { fullgraph = false })
expect.error(function() fails(x) end, "stopped here")
bad = false
assert(fails(x):equal(x + 1))
local inner = th.compile(branch)
local outer = th.compile(function(y) return inner(y * 2) + 1 end, { fullgraph = false })
assert((outer(th.ones(2)) - (th.exp(th.ones(2) * 2) + 1)):abs():amax():item() < 1e-5)
expect.error(function() th.compile(branch)(x) end, "fullgraph = false")
expect.error(function()
  th.compile(function(y) return th.func.vmap(branch)(y) end, { fullgraph = false })(x)
end, "has no data")
local breaks = th.graph_breaks(outer)
assert(#breaks == 1 and breaks[1].where:find "segments.lua:%d+$" and breaks[1].times == 1 and breaks[1].lines == 2, breaks[1].where)
