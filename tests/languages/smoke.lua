-- The smoke program in Lua, over SWIG: smoke.lua MODEL.safetensors DIGITS.csv
local th = require "thunder_swig"
local model, csv = arg[1], arg[2]

local function show(label, ...)
  local words = { label }
  local function add(value)
    if type(value) == "table" then
      for _, element in ipairs(value) do add(element) end
    else
      words[#words + 1] = math.type(value) == "float" and ("%.4f"):format(value) or tostring(value)
    end
  end
  add { ... }
  print(table.concat(words, " "))
end

local x = th.tensor { { 1.0, 2.0 }, { 3.0, 4.0 } }
show("operators", (x * 2 + 1 - x / 2):totable())
show("negated", (-x):totable())
show("reversed", (2 - x):totable())
show("matmul", x:matmul(x):totable())
show("named", x:sum({ dim = 1 }):totable())
local ops = 0
for name, row in pairs(th.ops) do
  if th[name] and row.doc ~= "" then ops = ops + 1 end
end
show("ops", ops)
show("integers", th.tensor({ math.maxinteger, math.mininteger, 9007199254740993 }):totable())

local f = th.compile(function(a) return (a:matmul(a) + 1):relu():sum() end)
show("compiled", f(x):item(), f(x):item(), "misses", f:stats().misses)
show("gradient", select(2, f:value_and_grad()(x)):totable())

local _, refused = pcall(x.matmul, x, th.tensor { { 1.0, 2.0, 3.0 } })
show("error", refused.code, refused.message)
_, refused = pcall(th.compile(function(a) return a:matmul(th.ones { 3, 3 }) end), x)
show("traced error", refused.code)
_, refused = pcall(th.compile(function() error { text = "mine", number = 42 } end), x)
show("raised", refused.text, refused.number)

-- A Lua state has one thread; coroutines take turns.
local row, sums = th.compile(function(a, n) return (a * n):sum() end), {}
for n = 1, 4 do sums[n] = coroutine.wrap(function() return row(x, n + 0.0):item() end)() end
show("threads", sums)

-- The gradient is twice what it should be, which shows whose it is.
th.add_op("square_plus(tensor x, float c=1.0) -> tensor", "x * x + c.", function(a, c) return a * a + c end,
  function(args, _, cotangents) return { cotangents[1] * args[1] * 4 } end)
local own = th.compile(function(a) return a:square_plus():sum() end)
show("own op", x:square_plus():totable(), "gradient", select(2, own:value_and_grad()(x)):totable())

local net = th.module("Sequential"):add(0, th.module("Linear", 64, 32)):add(1, th.module("ReLU"))
  :add(2, th.module("Linear", 32, 10)):load(model)
local rows = th.read_csv(csv)
local images = rows:slice { dim = 1, start = 0, ["end"] = 64 } / 16
local labels = rows:slice({ dim = 1, start = 64, ["end"] = 65 }):squeeze(1):to("i64")
local found = th.compile(function(batch) return net(batch):argmax(-1) end)(images)
show("digits", found:eq(labels):sum():item(), "of", images:size(0), "first", table.move(found:totable(), 1, 10, 1, {}))
show("relu", th.ops.relu.doc)
