-- Every op that th.ops() lists, each argument as every other kind of value: it works, or is refused by the op's name.
local th = require "thunder"

local x = th.tensor { { 1.0, 2.0, 3.0 }, { 4.0, 5.0, 6.0 } }
local ended  -- a value of a function that was traced
th.compile(function(t) ended = t; return t end, { executors = "host" })(x)

-- What an argument is where it is not the one that is tried.
local integers, booleans = th.tensor({ 0, 1 }, "i64"), x:gt(2)
local by_name = { index = integers, target = integers, mask = booleans, condition = booleans, size = { 2, 3 }, shape = { 3, 2 }, dims = { 1, 0 },
                  normalized_shape = { 3 }, kernel_size = { 1, 1 }, pad = { 1, 1 } }
local by_kind = { tensor = x, ["tensor[]"] = { x, x }, int = 1, float = 0.5, bool = true, str = "mean", ["int[]"] = { 1 }, ["float[]"] = { 0.5 },
                  dtype = "f32", device = "cpu" }

local nothing = {}
local others = { nothing, 2, 300, math.maxinteger, math.mininteger, -7, 1.5, 1e300, 0 / 0, true, false, "mean", "", "f32", {}, { 1, 2 }, { 1 << 62, 4 },
                 { "a" }, { x }, { x, 3 }, { key = x }, { 1, nil, 3 }, x, th.ones(0), th.ones(1, 2, 1, 3, 1), th.tensor(1.5), th.tensor(2, "i64"),
                 th.tensor(1.5, "f64"), th.tensor(1.5, "bf16"), th.tensor(true), ended, print, coroutine.create(print), io.stdout, th.nn.ReLU(),
                 setmetatable({}, { __index = error, __len = error, __tostring = error }) }

local function function_of(name)
  local at = th
  for part in name:gmatch "[^.]+" do at = at[part] end
  return at
end

-- The arguments of a call, of which number `i` is another.
local function arguments(row, i, other)
  local given, last = {}, 0
  for k, p in ipairs(row.parameters) do
    if k == i then
      if other ~= nothing then given[k] = other end
      last = k
    elseif not p.has_default and not p.optional then
      local own = by_name[p.name]
      given[k] = own == nil and by_kind[p.kind] or own
      last = k
    end
  end
  return given, math.max(last, i)
end

local calls, worked = 0, 0
local function try(row, way, i, other, f, ...)
  local ok, why = pcall(f, ...)
  calls = calls + 1
  if ok then
    worked = worked + 1
    return true
  end
  local text = type(why) == "string" and why or tostring(why)
  local named = text:find(row.name, 1, true) or text:find("out of memory", 1, true)
  assert(named and not text:find "please report", ("%s, %s, argument %d: %s"):format(row.name, way, i, text))
end

for _, row in ipairs(th.ops()) do
  local f = function_of(row.name)
  for i = 1, #row.parameters do
    for k, other in ipairs(others) do
      local given, n = arguments(row, i, other)
      if try(row, "eager", i, other, function() return f(table.unpack(given, 1, n)) end) and k % 3 == 0 then
        try(row, "compiled", i, other, th.compile(function() return f(table.unpack(given, 1, n)) end, { executors = "host" }))
      end
    end
  end
end
assert(calls > 5000 and worked > 500, ("%d calls, %d worked"):format(calls, worked))

-- Where PyTorch takes a number there is one; elsewhere the message says what was given.
local function refused(message, f, ...)
  local ok, why = pcall(f, ...)
  assert(not ok and tostring(why):find(message, 1, true), tostring(why))
end
refused("mean: argument 'input' must be a tensor, got the integer 3", th.mean, 3)
refused("softmax: argument 'input' must be a tensor, got the integer 1", th.softmax, 1, 0)
refused("matmul: argument 'other' must be a tensor, got the integer 2", th.matmul, x, 2)
refused("layer_norm: argument 'input' must be a tensor, got the integer 1", th.layer_norm, 1, { 1 })
refused("embedding: argument 'weight' must be a tensor, got the integer 1", th.embedding, integers, 1)
refused("cross_entropy: argument 'target' must be a tensor, got the integer 1", th.cross_entropy, x, 1)
assert(th.where(booleans, x, 0.0):sum():item() == 18 and th.add(1, x):sum():item() == 27 and th.clamp(x, 2, 3):sum():item() == 16)
