-- What a compiled function makes of numbers is new at each call, wherever it is written; and what is known of traced tensors.
local th = require "thunder"
local expect = require "support.expect"
local nn = th.nn

local function three(f)
  local out = {}
  for i = 1, 3 do
    local results = table.pack(f(th.ones(3)))
    for k = 1, results.n do results[k] = tostring(results[k]) end
    out[i] = table.concat(results, "; ")
  end
  return table.concat(out, "\n")
end

local programs = {
  tensor = function(x) local t = th.tensor { 0., 0., 0. }; t:add_(1); return x * t, t end,
  total = function(x) local t = th.tensor(0.); t:add_(x:sum()); t:add_(1); return t end,
  ["two dims"] = function(x) local t = th.tensor { { 0., 0., 0. } }; t[1]:add_(x); return t end,
  zeros = function(x) local t = th.zeros(3); t:add_(1); return x * t end,
  integers = function(x) local n = th.tensor(0); n:add_(2); return x * n end,
  ["in a table"] = function(x) local t = { th.tensor { 0., 0., 0. } }; t[1]:add_(x); t.itself = t; return t[1] * 1 end,
  ["a layer"] = function(x) local b = nn.BatchNorm1d(3); b(th.expand(x:reshape(1, 3), 4, 3) * 2); return b.running_mean * 1 end,
  ["an optimiser"] = function(x)
    local p = th.tensor { 0., 0., 0. }
    local opt = th.optim.SGD({ p }, { lr = 1, momentum = 0.9 })
    opt:step { x }
    opt:step { x }
    return p
  end,
  gradient = function(x) return th.grad(function(a) local t = th.tensor { 0., 0., 0. }; t:add_(1); return (a * t):sum() end)(x) end,
}
for name, f in pairs(programs) do
  for _, options in ipairs { {}, { fullgraph = false }, { dynamic = true } } do
    assert(three(th.compile(f, options)) == three(f), name)
  end
end

-- One that was there before is written at each call.
local state = th.tensor { 0., 0. }
local f = th.compile(function(x) state:add_(x); return state * 1 end)
for i = 1, 3 do expect.values(f(th.ones(2)), { i, i }) end

-- What was written has no element to be read before the program runs.
local function read(x) local t = th.tensor(0.); t:add_(1); return x * t:item() end
expect.error(function() th.compile(read)(th.ones(1)) end, "while it is traced, and is read here")
expect.values(th.compile(read, { fullgraph = false })(th.ones(1)), { 1 })

-- Layout and bytes are those of the tensor that will be there.
local x = th.arange(12.):reshape(3, 4)
local function known(a)
  local b, c = a:t(), a:t():contiguous()
  return a * (a:is_contiguous() and 1 or 0), a * (b:is_contiguous() and 1 or 0), a * (c:is_contiguous() and 1 or 0), a * a:nbytes(), a * a:to(th.float64):nbytes()
end
assert(three(function() return known(x) end) == three(function() return th.compile(known)(x) end))
assert(three(function() return known(x:t()) end) == three(function() return th.compile(known)(x:t()) end))
