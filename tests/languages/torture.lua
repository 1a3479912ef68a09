-- Makes and drops tensors, functions and compiled functions in random order, with the collector running in between.
local th = require "thunder_swig"

math.randomseed(1)
local slots, compiled, alive = {}, {}, setmetatable({}, { __mode = "k" })
local function tensor()
  local _, found = next(slots)
  return found or th.tensor { { 1.0, 2.0 }, { 3.0, 4.0 } }
end
local acts = {
  function() slots[math.random(12)] = th.tensor { { math.random(), 2.0 }, { 3.0, 4.0 } } end,
  function() slots[math.random(12)] = tensor() * 0.5 + tensor():tanh() end,
  function() slots[math.random(12)] = nil end,
  function() compiled[math.random(4)] = nil end,
  function()
    local captured, own = tensor(), nil
    own = th.compile(function(a) return own and a * captured or a end, { executors = "host" })
    alive[own] = true
    compiled[math.random(4)] = math.random(2) == 1 and own or own:value_and_grad()
  end,
  function()
    local _, f = next(compiled)
    if f then pcall(f, tensor()) end
  end,
  function()
    local reason = {}
    local _, raised = pcall(th.compile(function() error(reason) end), tensor())
    assert(raised == reason)
  end,
  function() collectgarbage() end,
  function()  -- while a function is called that only its call holds
    local collecting = setmetatable({}, { __len = function() collectgarbage() return 0 end })
    assert(th.compile(function(a) return a end)(tensor(), collecting))
  end,
}
for _ = 1, 800 do acts[math.random(#acts)]() end
slots, compiled = {}, {}
collectgarbage()
collectgarbage()
assert(next(alive) == nil, "compiled functions that hold themselves were never collected")

-- Large tensors are small objects to the collector: it is told when to run.
local x = th.zeros { 512, 512 }
for _ = 1, 2000 do x = x + 1 end
for line in io.lines "/proc/self/status" do
  local peak = line:match "VmHWM:%s+(%d+)"
  assert(not peak or tonumber(peak) < 1200 * 1024, "the loop took too much memory: " .. line)
end
print "tortured"
