-- What of the host a compiled function sees: upvalues, globals, tables and attributes that changed after it was traced, and the column
-- of docs/compiled-functions.md that says so.
local th = require "thunder"
local expect = require "support.expect"
local nn = th.nn

-- How a change is seen by a compiled function.
local function seen(f, change)
  local compiled, x = th.compile(f), th.ones(1)
  local before = compiled(x):item()
  change()
  local after = compiled(x):item()
  assert(after == f(x):item() and after == compiled(x):item())
  if after == before then return "once" end
  return th.stats(compiled).misses == 2 and "guarded" or "live"
end

local rows = {}
rows["elements of captured tensors"] = function()
  local w = th.ones(1)
  return seen(function(x) return x * w end, function() w:fill_(3) end)
end
rows["a float argument"] = function()
  local f = th.compile(function(x, s) return x * s end)
  assert(f(th.ones(1), 0.5):item() == 0.5 and f(th.ones(1), 0.25):item() == 0.25)
  return th.stats(f).misses == 1 and "live" or "guarded"
end
rows["`train()`"] = function()
  local drop = nn.Dropout(1.0)
  return seen(function(x) return drop(x) end, function() drop:eval() end)
end
rows["members and parameters"] = function()
  local net = nn.Module { inner = nn.Identity() }
  function net:forward(x) return self.inner(x) * 2 end
  return seen(function(x) return net(x) end, function() net.inner = nn.Threshold(9, 7) end)
end
rows["options of layers"] = function()
  local layer = nn.LeakyReLU(0.5)
  return seen(function(x) return layer(-x) end, function() layer.negative_slope = 0.25 end)
end
rows["hooks"] = function()
  local net = nn.Identity()
  return seen(function(x) return net(x) end, function() net:register_forward_hook(function(_, _, y) return y + 1 end) end)
end
rows["attributes of a module"] = function()
  local net = nn.Module {}
  net.factor = 2
  function net:forward(x) return x * self.factor end
  return seen(function(x) return net(x) end, function() net.factor = 5 end)
end
rows["captured variables"] = function()
  local factor = 2
  return seen(function(x) return x * factor end, function() factor = 5 end)
end
rows["globals"] = function()
  scale = 2 -- luacheck: ignore
  local function helper(x) return x * scale end
  return seen(function(x) return helper(x) end, function() scale = 5 end)
end
rows["functions and methods that are defined again"] = function()
  local Class = {}
  Class.__index = Class
  function Class:scaled(x) return x * self.factor end
  local object = setmetatable({ factor = 2 }, Class)
  local how = seen(function(x) return object:scaled(x) end, function() function Class:scaled(x) return x * self.factor * 4 end end)
  local function helper(x) return x * 2 end
  assert(how == seen(function(x) return helper(x) end, function() helper = function(x) return x * 3 end end))
  return how
end
rows["what lists, dicts, sets"] = function()
  local config, list = { deep = { factor = 2 } }, { 1, 2 }
  local how = seen(function(x) return x * config.deep.factor end, function() config.deep.factor = 5 end)
  assert(how == seen(function(x) return x * #list end, function() list[3] = 1 end))
  return how
end
rows["attributes of objects"] = function()
  local Class = {}
  Class.__index = Class
  Class.factor = 2
  local object = setmetatable({}, Class)
  local how = seen(function(x) return x * object.factor end, function() Class.factor = 3 end)
  assert(how == seen(function(x) return x * object.factor end, function() object.factor = 5 end))
  return how
end
rows["tensors that it assigns"] = function()
  local log = {}
  local f = th.compile(function(x) log[#log + 1] = x * 2; return x end)
  f(th.ones(1)); f(th.ones(1))
  expect.error(function() return log[1] + 1 end, "after the function that it belongs to")
  return #log == 1 and "once" or "each call"
end
rows["tensors that it makes"] = function()
  local f = th.compile(function(x) local t = th.tensor { 0. }; t:add_(x); return t * 1 end)
  return f(th.ones(1)):item() == 1 and f(th.ones(1)):item() == 1 and "each call" or "once"
end
rows["tensors that it puts elsewhere"] = rows["tensors that it assigns"]
rows["numbers that it counts"] = function()
  local calls = 0
  local f = th.compile(function(x) calls = calls + 1; return x * 2 end)
  for _ = 1, 3 do f(th.ones(1)) end
  return calls == 1 and "once" or "each call"
end
rows["`seed()`"] = function()
  local f = th.compile(function() th.seed(3); return th.rand(1) end)
  local first, second = f():item(), f():item()
  return first ~= second and "once" or "each call"
end
rows["files, the clock"] = function()
  local read = 0
  local function clock() read = read + 1; return read end
  local f = th.compile(function(x) return x * clock() end)
  return f(th.ones(1)):item() == f(th.ones(1)):item() and "once" or "each call"
end

local page = assert(io.open("../docs/compiled-functions.md")):read "a"
local told = 0
for what, lua in page:match("| what the function uses |[^\n]*\n[^\n]*\n(.-)\n\n"):gmatch "| ([^|]+) | [^|]+ | ([^|]+) |[^|]+|" do
  local found
  for name, program in pairs(rows) do
    if what:sub(1, #name) == name then found = program end
  end
  assert(found, "no program for the row: " .. what)
  local ran, how = pcall(found)
  assert(ran, what .. ": " .. tostring(how))
  assert(how == lua, ("%s: the page says %s, it is %s"):format(what, lua, how))
  told = told + 1
end
assert(told == 18)

-- A compiled function inside of another, and one that was traced for several shapes.
local factor = 2
local inner = th.compile(function(x) return x * factor end)
local outer = th.compile(function(x) return inner(x) + 1 end)
assert(outer(th.ones(1)):item() == 3 and outer(th.ones(2)):tolist()[2] == 3)
factor = 5
assert(outer(th.ones(1)):item() == 6 and outer(th.ones(2)):tolist()[2] == 6)

-- Options that decide what a layer is made of are refused, and a bias may be taken away.
local layer = nn.Linear(2, 3)
expect.error(function() layer.in_features = 5 end, "in_features is 2", "Linear(in_features=5, ...)")
layer.bias = nil
expect.values(layer(th.ones(1, 2)), (th.ones(1, 2):matmul(layer.weight:t())):tolist(), 1e-6)
local norm = nn.BatchNorm1d(2)
norm.momentum = nil
assert(tostring(norm):find "momentum" == nil and norm.eps == 1e-05)
