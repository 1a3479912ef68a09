-- Ops: positional and named arguments, operators, promotion, errors, random numbers.
-- covers: bindings/lua/op.c
local th = require "thunder"
local expect = require "support.expect"

local x = th.tensor { { 1.0, 2.0 }, { 3.0, 4.0 } }

-- One rule: a table with names gives arguments by name, last or alone; one without is a list; nil is the default.
expect.values(th.sum(x, 0), { 4, 6 })
expect.values(th.sum(x, { dim = 0 }), { 4, 6 })
expect.values(th.sum { x, dim = { 1 }, keepdim = true }, { { 3 }, { 7 } })
expect.values(th.sum(x, { 0, 1 }), 10)
expect.values(th.sum(x, nil, true), { { 10 } })
expect.values(x:sum(-1), { 3, 7 })
expect.values(th.cat({ x, x }, 1)[1], { 1, 2, 1, 2 })
assert(x:reshape(4).ndim == 1 and x:reshape(1, 2, -1).ndim == 3 and x:reshape({ 4, 1 }).ndim == 2)
expect.values(x:permute(1, 0), { { 1, 3 }, { 2, 4 } })
assert(th.zeros(2, 3):numel() == 6 and th.zeros({ 2, 3 }, { dtype = th.int64 }).dtype == th.int64)
assert(x:reshape(8 / 2).ndim == 1, "a float that is whole is a size")

-- Operators, with numbers on either side.
expect.values(x + x, { { 2, 4 }, { 6, 8 } })
expect.values(1 - x, { { 0, -1 }, { -2, -3 } })
expect.values(2 * x / 4, { { 0.5, 1 }, { 1.5, 2 } })
expect.values(-x, { { -1, -2 }, { -3, -4 } })
expect.values(x ^ 2, { { 1, 4 }, { 9, 16 } })
expect.values(th.tensor { 7, -7 } // 2, { 3, -4 })
expect.values(th.tensor { 7, -7 } % 4, { 3, 1 })
assert((th.tensor { 1 } + 1).dtype == th.int64 and (th.tensor { 1 } + 1.5).dtype == th.float32)
assert((x + 2).dtype == th.float32, "a plain number does not widen a tensor")

-- Several results, and in-place forms.
local values, indices = x:reshape(1, 1, 2, 2):max_pool2d_with_indices { 2, 2 }
assert(values:item() == 4 and indices:item() == 3)
local low, high, rest = th.arange(5):split(2)
assert(select("#", th.arange(5):split { 1, 4 }) == 2)
expect.values(low, { 0, 1 })
expect.values(rest, { 4 })
local pair = th.compile(function(t) local a, b = t:chunk(2); return b - a end)
expect.values(pair(x), { { 2, 2 } })
local y = x:clone()
assert(y:mul_(2) and y[1][1]:item() == 2)
y:zero_()
expect.values(y, { { 0, 0 }, { 0, 0 } })

-- Errors name the line, the op, the argument and both values.
expect.error(function() return x + th.ones(3) end, "ops.lua:", "add: ", "2", "3")
expect.error(function() return th.softmaxx(x) end, "no op or function 'softmaxx'", "'softmax'")
expect.error(function() return th.sum(x, { dims = 1 }) end, "sum", "'dims'", "'dim'")
expect.error(function() return th.sum(x, "a") end, "sum: argument 'dim'", "a string")
expect.error(function() return th.sum(print) end, "sum: argument 'input' is a function")
expect.error(function() return th.cat({ x, 1 }, 0) end, "cat: argument 'tensors': element 2", "an integer")
expect.error(function() return x:reshape { 1, "a" } end, "reshape: argument 'shape': element 2")
expect.error(function() return x:matmul(th.ones(3, 3)) end, "matmul", "2", "3")
expect.error(function() return th.softmax() end, "softmax: argument 'input' is missing")
expect.error(function() return th.sum(x, { 5 }) end, "sum", "5")
expect.values(x + 1, { { 2, 3 }, { 4, 5 } })

-- The same seed draws the same numbers; each call draws others.
th.seed(42)
local a, b = th.rand(4), th.rand(4)
assert(not a:equal(b))
th.seed(42)
expect.same(a, th.rand(4))
local state = th.random_state():clone()
local c = th.randn { 3 }
th.random_state():copy_(state)
expect.same(c, th.randn { 3 })
expect.error(function() th.seed(1.5) end, "seed: an integer was expected")

-- Every op describes itself.
local ops = th.ops()
assert(#ops > 50)
for _, op in ipairs(ops) do assert(#op.doc > 0 and op.schema:sub(1, #op.name) == op.name, op.name) end
