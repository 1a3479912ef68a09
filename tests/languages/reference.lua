-- reference.lua MODEL.safetensors DIGITS.csv: trains a small classifier of digits, saves it, and prints what the smoke
-- program of every language must print for it.
local th = require "thunder"
local path, csv = arg[1], arg[2]

local function show(label, ...)
  local words = { label }
  for _, value in ipairs { ... } do
    words[#words + 1] = math.type(value) == "float" and ("%.4f"):format(value) or tostring(value)
  end
  print(table.concat(words, " "))
end

local rows = th.data.csv(csv)
local images, labels = rows[{ {}, { 1, 64 } }] / 16, rows[{ {}, 65 }]:to(th.int64)

th.seed(7)
local net = th.nn.Sequential(th.nn.Linear(64, 32), th.nn.ReLU(), th.nn.Linear(32, 10))
local parameters = net:parameters()
local optimizer = th.optim.AdamW(parameters, { lr = 4e-3 })
local step = th.compile(function(x, y)
  local loss = th.cross_entropy(net(x), y)
  optimizer:step(th.grad_of(loss, parameters))
  return loss
end)
for _ = 1, 200 do step(images, labels) end
net:save(path)

show("operators", 2.5, 4.0, 5.5, 7.0)
show("negated", -1.0, -2.0, -3.0, -4.0)
show("text", "tensor([[1., 2.],\n        [3., 4.]])")
show("reversed", 1.0, 0.0, -1.0, -2.0)
show("matmul", 7.0, 10.0, 15.0, 22.0)
show("named", 3.0, 7.0)
local ops = 0
for _, row in ipairs(th.ops()) do
  if not row.prim then ops = ops + 1 end
end
show("ops", ops)
show("integers", math.maxinteger, math.mininteger, 9007199254740993)
show("compiled", 58.0, 58.0, "misses", 1)
show("gradient", 7.0, 11.0, 9.0, 13.0)
show("error", 3, "matmul: inner dimensions differ: got 2 and 1; input is f32[2, 2], other is f32[1, 3]")
show("traced error", 3)
show("raised", "mine", 42)
show("threads", 10.0, 20.0, 30.0, 40.0)

show("own op", 2.0, 5.0, 10.0, 17.0, "gradient", 4.0, 8.0, 12.0, 16.0)

show("lbfgs", 1456.0, 5.0, 11.0)
-- All bits of what was drawn, as one number.
th.seed(7)
local drawn = th.nn.init.orthogonal_(th.zeros(3, 4)) + th.nn.init.trunc_normal_(th.zeros(3, 4))
show("init", (drawn:to(th.float64) * 2 ^ 40):to(th.int64):sum():item())
show("artifacts", 0)
show("damaged", 15)

local predict = th.compile(function(x) return net(x):argmax(-1) end)
local found = predict(images)
local right = found:eq(labels):to(th.int64):sum():item()
assert(right > 1500, "the classifier has not learnt its digits: " .. right)
local first = {}
for i = 1, 10 do first[i] = found[i]:item() end
show("digits", right, "of", images:size(0), "first", table.unpack(first))
show("loaded", right, "parameters", 4)
for _, row in ipairs(th.ops()) do
  if row.name == "relu" then show("relu", row.doc) end
end
