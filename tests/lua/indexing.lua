-- x[key] with steps, "...", th.newaxis, tensors of indices and masks; dim(); reading and writing.
local th = require "thunder"
local expect = require "support.expect"

local x = th.reshape(th.arange(24), { 2, 3, 4 })
local numbers = x:tolist()

-- Ranges with a step hold both ends where the step meets them; "..." stands for the dims that are not named.
expect.values(x[{ 1, 2, { 1, 4, 2 } }], { 4, 6 })
expect.values(x[{ 1, 2, { 1, -1, 3 } }], { 4, 7 })
expect.values(x[{ "...", 1 }], { { 0, 4, 8 }, { 12, 16, 20 } })
expect.values(x[{ 2, "...", { 2, 3 } }], { { 13, 14 }, { 17, 18 }, { 21, 22 } })
assert(table.concat(x[{ "...", th.newaxis }].shape, " ") == "2 3 4 1")
assert(table.concat(x[{ th.newaxis, 1 }].shape, " ") == "1 3 4" and x[th.newaxis]:dim() == 4 and x:dim() == 3)
expect.error(function() return x[{ 1, 1, { 1, 4, 0 } }] end, "positive step")
expect.error(function() return x[{ "...", "..." }] end, "only one")
expect.error(function() return x[{ 1, 1, 1, "...", 1 }] end, "no dim 3 to index")
expect.error(function() return x[{ "x" }] end, "got string")

-- Tensors of indices count from 0, as argsort gives them; they broadcast, and stay where the dims were if those are neighbours.
local rows = th.tensor { 1, 0, 1 }
expect.values(x[rows][3], numbers[2])
expect.values(x[{ 1, th.tensor { 2, 0 } }], { numbers[1][3], numbers[1][1] })
local picked = x[{ {}, th.tensor { { 0, 2 }, { 1, 1 } } }]
assert(table.concat(picked.shape, " ") == "2 2 2 4")
expect.values(picked[{ 2, 1, 2 }], numbers[2][3])
expect.values(x[{ {}, th.tensor { 0, 2 }, th.tensor { 1, 3 } }], { { 1, 11 }, { 13, 23 } })
expect.values(x[{ th.tensor { 0, 1 }, {}, th.tensor { 1, 3 } }], { { 1, 5, 9 }, { 15, 19, 23 } })
local scores = th.tensor { 0.3, 0.1, 0.2 }
expect.values(scores[th.argsort(scores)], { 0.1, 0.2, 0.3 }, 1e-7)

-- A mask takes as many dims as it has.
expect.values(x[x:gt(20)], { 21, 22, 23 })
expect.values(x[th.tensor { false, true }][{ 1, 1 }], numbers[2][1])
expect.values(x[{ {}, th.tensor { true, false, true }, 1 }], { { 0, 8 }, { 12, 20 } })
assert(x[x:gt(99)]:numel() == 0)
expect.error(function() th.compile(function(t) return t[t:gt(1)] end)(x) end,
             "index: the shape of its result depends on values", "where(mask")

-- Writing.
local y = th.zeros { 3, 4 }
y[{ {}, { 1, 4, 2 } }] = 1
expect.values(y, { { 1, 0, 1, 0 }, { 1, 0, 1, 0 }, { 1, 0, 1, 0 } })
y[th.tensor { 0, 2 }] = th.tensor { 5.0, 6.0, 7.0, 8.0 }
expect.values(y, { { 5, 6, 7, 8 }, { 1, 0, 1, 0 }, { 5, 6, 7, 8 } })
y[{ {}, th.tensor { 1, 3 } }] = th.tensor { { 9.0, 9.5 }, { 8.0, 8.5 }, { 7.0, 7.5 } }
expect.values(y, { { 5, 9, 7, 9.5 }, { 1, 8, 1, 8.5 }, { 5, 7, 7, 7.5 } })
y[y:gt(7.0)] = -1
expect.values(y, { { 5, -1, 7, -1 }, { 1, -1, 1, -1 }, { 5, 7, 7, -1 } })
y[{ y:lt(0.0) }] = th.arange(5):float()
expect.values(y, { { 5, 0, 7, 1 }, { 1, 2, 1, 3 }, { 5, 7, 7, 4 } })
local cleared = th.compile(function(t)
  local made = t:clone()
  made[made:gt(4.0)] = 0
  made[{ 1, th.tensor { 1, 3 } }] = 8
  return made
end)
expect.values(cleared(y), { { 0, 8, 0, 8 }, { 1, 2, 1, 3 }, { 0, 0, 0, 4 } })
