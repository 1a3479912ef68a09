-- torch.jit's trace from Lua: traces of functions and of methods, what the check finds, frozen ones.
local th = require "thunder"
local expect = require "support.expect"

-- Op by op and compiled, products and what follows them are rounded apart.
local function near(a, b) assert(th.allclose(a, b)) end

local runs = 0
local net = th.nn.Sequential(th.nn.Linear(3, 4), th.nn.Tanh())
local f = th.jit.trace(function(x)
  runs = runs + 1
  return net(x)
end, { th.ones(2, 3) }, { check_inputs = { { th.ones(2, 3) }, th.ones(5, 3) } })
local before = runs
near(f(th.ones(7, 3)), net(th.ones(7, 3)))
assert(runs == before)
near(th.jit.freeze(f)(th.ones(2, 3)), net(th.ones(2, 3)))
near(th.jit.optimize_for_inference(f)(th.ones(2, 3)), net(th.ones(2, 3)))

-- It goes into a file before it was called.
local path = os.tmpname()
local y = th.jit.trace(net, th.ones(2, 3))
y(th.ones(2, 3))
th.jit.save(y, path)
near(th.jit.load(path)(th.ones(2, 3)), net(th.ones(2, 3)))
os.remove(path)

-- What the check finds names both lines of this script.
local count = 0
local ok, message = pcall(th.jit.trace, function(x)
  count = count + 1
  local z = -x
  if count == 1 then return z * 2 end
  return z * 3
end, { th.ones(2) })
assert(not ok and message:find("the first op that differs, number 2", 1, true), message)
assert(message:find "jit.lua:%d+" and select(2, message:gsub("jit.lua:%d+", "")) >= 2, message)
expect.error(function() th.jit.trace(function(x) return { x } end, { th.ones(2) }) end, "its results hold a list or a map")
local listed = th.jit.trace(function(x) return { x } end, { th.ones(2) }, { strict = false })
expect.same(listed(th.ones(2))[1], th.ones(2))
expect.error(function() th.jit.trace(function(x) return x end, 7) end, "jit.trace: a list of arguments was expected, got an integer")
expect.error(function() th.jit.trace(function(x) return x end, { th.ones(2) }, { check_trac = true }) end, "unknown option 'check_trac'")

-- Methods of a module, each for itself.
local coder = th.nn.Module { enc = th.nn.Linear(3, 2) }
function coder:forward(x) return self:encode(x) * 2 end
function coder:encode(x) return self.enc(x) end
local both = th.jit.trace_module(coder, { forward = { th.ones(2, 3) }, encode = { th.ones(2, 3) } },
  { check_inputs = { { forward = { th.ones(4, 3) } } } })
near(both(th.ones(5, 3)), both.encode(th.ones(5, 3)) * 2)
near(th.jit.freeze(both)(th.ones(5, 3)), both(th.ones(5, 3)))

-- th.jit is th.compile.
expect.same(th.jit(function(x) return x + 1 end)(th.ones(2)), th.ones(2) * 2)
