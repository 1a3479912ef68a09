-- Modules as trees: positions, slices, copies, apply, losses, dtypes.
local th = require "thunder"
local expect = require "support.expect"
local nn, optim = th.nn, th.optim

th.seed(3)
local x = th.randn(4, 6)
local net = nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 2))

-- ipairs ends: over tensors, rows of traced ones, children; a script's own index past the end is still an error.
local rows = {}
for i, row in ipairs(th.tensor { { 1, 2 }, { 3, 4 } }) do rows[i] = row:tolist() end
assert(#rows == 2 and rows[2][1] == 3)
for i, row in pairs(th.tensor { 5, 6 }) do rows[i] = row:item() end
assert(rows[2] == 6)
local summed = th.compile(function(t)
  local sum = 0
  for _, row in ipairs(t) do sum = sum + row end
  return sum
end)
expect.values(summed(th.tensor { { 1.0, 2.0 }, { 3.0, 4.0 } }), { 4, 6 })
expect.error(function() return th.ones(2)[3] end, "index 3 is out of range")
local names = {}
for i, child in ipairs(net) do names[i] = tostring(child):match("^%w+") end
assert(table.concat(names, " ") == "Linear Tanh Linear" and #net == 3)
expect.error(function() return net[4] end, "index 4 is out of range: this Sequential has 3 children")

-- A slice of a Sequential is one, and shares its tensors.
local head = net[{ 1, 2 }]
assert(#head == 2 and tostring(head):find("^Sequential") and head[1] == net[1] and net[-1].out_features == 2)
expect.values(net[3](head(x)), net(x):tolist(), 1e-6)
assert(#net[{ 2 }] == 2 and #net[{ -1, -1 }] == 1 and #net[{}] == 3)
expect.error(function() return net[{ 1, 9 }] end, "a slice is {from, to} among 3 children, got 9")
expect.error(function() return nn.Module { a = nn.Tanh() }[{ 1, 2 }] end, "only a Sequential")

-- What a layer was made with; children in order; apply, children first.
assert(net[1].in_features == 6 and nn.Conv2d(1, 2, 3).kernel_size[1] == 3 and net[1].bias:numel() == 5)
local seen = {}
assert(net:apply(function(m) seen[#seen + 1] = tostring(m):match("^%w+") end) == net)
assert(table.concat(seen, " ") == "Linear Tanh Linear Sequential" and #net:children() == 3)

-- A copy has tensors of its own, ties and forwards included.
local tied = nn.Module { a = nn.Linear(6, 6), list = nn.Sequential(nn.Tanh()) }
tied.again = tied.a
tied.sizes = { 1, { 2 } }
function tied:forward(input) return self.again(self.a(input)) * self.sizes[2][1] end
local before = tied(x):tolist()
local copy = tied:deepcopy()
expect.values(copy(x), before, 1e-6)
copy.a.weight:fill_(0)
copy.sizes[2][1] = 7
expect.values(tied(x), before, 1e-6)
assert(copy.again == copy.a and copy.a ~= tied.a and not copy.again.weight:any():item())
assert(tied.sizes[2][1] == 2 and copy:parameters()["again.weight"] == nil, "what is tied is there once")
local compiled_copy = th.compile(tied:deepcopy())
expect.values(compiled_copy(x), before, 1e-5)

-- Losses as modules are the ops.
local classes = th.tensor { 0, 1, 1, 0 }
local scores = net(x)
expect.same(nn.CrossEntropyLoss()(scores, classes), th.cross_entropy(scores, classes))
expect.same(nn.CrossEntropyLoss { label_smoothing = 0.1, reduction = "sum" }(scores, classes),
  th.cross_entropy(scores, classes, { label_smoothing = 0.1, reduction = "sum" }))
local weight = th.tensor { 1.0, 3.0 }
expect.same(nn.NLLLoss(weight)(scores, classes), th.nll_loss(scores, classes, weight))
expect.same(nn.MSELoss()(scores, th.zeros(4, 2)), th.mse_loss(scores, th.zeros(4, 2)))
expect.error(function() nn.MSELoss { reduction = "avg" } end, "MSELoss: reduction must be 'mean', 'sum' or 'none', got 'avg'")
expect.same(nn.functional.relu(x), th.relu(x))
expect.same(nn.functional.cross_entropy(scores, classes), th.cross_entropy(scores, classes))

-- Other dtypes: new tensors, all of them or none.
local wide = net:deepcopy():to(th.float64)
assert(wide[1].weight.dtype == th.float64 and net[1].weight.dtype == th.float32)
expect.values(wide(x:double()), net(x):tolist(), 1e-5)
assert(wide:bfloat16()[1].bias.dtype == th.bfloat16 and wide:float()[1].bias.dtype == th.float32)
expect.error(function() net:to(th.int64) end, "a module's dtype must be float16, bfloat16, float32 or float64, got i64")
expect.error(function() net:to("float64") end, "to: a dtype or a device was expected, got a string")

-- f64 and bf16 modules train.
for _, dtype in ipairs { th.float64, th.bfloat16 } do
  local model = nn.Sequential(nn.Linear(6, 8), nn.LayerNorm { 8 }, nn.Tanh(), nn.Linear(8, 2)):to(dtype)
  local params = model:parameters()
  local opt = optim.AdamW(params, 0.05)
  local step = th.compile(function(input, target)
    local loss = th.cross_entropy(model(input), target)
    opt:step(th.grad_of(loss, params))
    return loss
  end)
  local first = step(x:to(dtype), classes):item()
  for _ = 1, 30 do step(x:to(dtype), classes) end
  local last = step(x:to(dtype), classes)
  assert(last:item() < first / 4 and last.dtype == dtype and params["0.weight"].dtype == dtype)
end

-- Lazy layers read a size off their first input, and are plain ones from then on.
local lazy = nn.Sequential(nn.LazyLinear(5), nn.LazyBatchNorm1d(), nn.LazyLinear(2))
assert(tostring(lazy[1]) == "LazyLinear(out_features=5, bias=True)" and next(lazy:parameters()) == nil)
assert(#lazy(x) == 4 and tostring(lazy[1]) == "Linear(in_features=6, out_features=5, bias=True)")
assert(lazy[2].num_features == 5 and lazy[3].weight.shape[2] == 5)
expect.error(function() lazy(th.randn(4, 7)) end, "linear")

-- A loss by a distance of one's own.
local a, p, n = th.randn(3, 4), th.randn(3, 4), th.randn(3, 4)
local function city_block(u, v) return (u - v):abs():sum(-1) end
local by_distance = nn.TripletMarginWithDistanceLoss { distance_function = city_block, margin = 0.5, swap = true }
local function near(u, v) assert(math.abs(u(a, p, n):item() - v(a, p, n):item()) < 1e-4) end
near(by_distance, nn.TripletMarginLoss(0.5, 1.0, 0.0, true))
near(nn.TripletMarginWithDistanceLoss(), nn.TripletMarginLoss())

-- Many classes in clusters.
local clusters = nn.AdaptiveLogSoftmaxWithLoss(6, 10, { 3, 6 })
local logs, loss_of_all = clusters(x, th.tensor { 0, 4, 9, 2 })
assert(#logs == 4 and math.abs(loss_of_all:item() + logs:mean():item()) < 1e-6)

-- tree_map over several trees.
local sums = th.tree_map(function(a, b) return a + b end, { 1, { x = 2 } }, { 10, { x = 20 } })
assert(sums[1] == 11 and sums[2].x == 22)
local kept = th.tree_map(function(p) return p:clone() end, net:parameters())
assert(kept["0.weight"]:equal(net[1].weight))
assert(th.tree_map(function(a, b) return a * b end, 3, 4) == 12)
expect.error(function() th.tree_map(math.max, { a = { b = 1 } }, { a = {} }) end, "tree_map: tree 2 lacks a.b")
expect.error(function() th.tree_map(math.max, { 1 }, { 1, 2 }) end, "tree_map: tree 2 has 2, the first has not")
expect.error(function() th.tree_map(math.max, { a = { 1 } }, { a = 1 }) end, "tree 2 has no table at 'a.'")
