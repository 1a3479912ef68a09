-- Compiled functions: trees of arguments, what is live and what is a constant, the cache, calls inside calls.
local th = require "thunder"
local expect = require "support.expect"

local x = th.tensor { 1.0, 2.0, 3.0 }

-- Nested tables in and out.
local f = th.compile(function(batch, how)
  local sum = batch.x + batch.parts[1] * how.scale
  return { sum = sum, list = { sum * 2, batch.parts[1] } }, sum
end)
local tree, sum = f({ x = x, parts = { x } }, { scale = 2 })
expect.values(tree.sum, { 3, 6, 9 })
expect.values(tree.list[1], { 6, 12, 18 })
expect.values(tree.list[2], { 1, 2, 3 })
expect.same(sum, tree.sum)

-- Floats stay live, integers and strings are guarded, shapes and dtypes are in the key.
local traced = 0
local g = th.compile(function(t, scale, n, word)
  traced = traced + 1
  assert(math.type(n) == "integer" and type(word) == "string" and th.is_tensor(scale))
  for _ = 1, n do t = t * scale end
  return t
end)
expect.values(g(x, 2.0, 2, "a"), { 4, 8, 12 })
expect.values(g(x, 0.5, 2, "a"), { 0.25, 0.5, 0.75 })
assert(traced == 1)
expect.values(g(x, 2.0, 1, "a"), { 2, 4, 6 })
assert(type(th.explain(g)) == "string")
assert(th.explain(g) == th.explain(g, "fusion") and type(th.explain(g, "loops")) == "string")
assert(not pcall(th.explain, g, "nests"))
assert(th.memory_report(g):find "^a call: %d+ bytes at most")
-- More often than there are programs: to see that the function looks at the integer that was seen to vary.
assert(traced == 3 and th.last_miss(g):find("1") and th.last_miss(g):find("2"))
g(x, 2.0, 1, "b")
g(th.ones(2), 2.0, 1, "b")
local before = traced
expect.values(g(x, 3.0, 2, "a"), { 9, 18, 27 })
assert(traced == before)
local stats = th.stats(g)
assert(stats.calls == 6 and stats.misses == 4 and stats.hits == 2 and stats.entries == 4)

-- The memory report has the values and lines of the program as it prints them, those inside of a region, too.
local deep = th.compile(function(t) return th.matmul(th.softmax(th.relu(th.matmul(t, t)) * 2, -1), t):sum(0) end)
deep(th.randn(8, 8))
local printed, lines = th.last_traces(deep), {}
for value, call, sizes in tostring(printed[#printed]):gmatch "(t%[%d+%]) = ([^\n]*)%-%- f32%[([%d, ]*)%]" do
  local bytes = 4
  for size in sizes:gmatch "%d+" do bytes = bytes * math.tointeger(size) end
  lines[#lines + 1] = { value = value, call = call, bytes = bytes }
end
local kept = {} -- by value that a region makes: whether it leaves it
for names, body in tostring(printed[#printed]):gmatch "do  %-%- region ([t%[%], %d]*)(.-)\n  end\n" do
  for value in body:gmatch "(t%[%d+%]) = " do kept[value] = names:find(value, 1, true) ~= nil end
end
local places = 0
for from, to, value, first, last in th.memory_report(deep):gmatch "arena (%d+) to (%d+): (t%[%d+%]), lines (%d+) to (%d+)" do
  local made, read = false, false
  for i = math.tointeger(first), math.tointeger(last) do
    made = made or (lines[i].value == value and lines[i].bytes == to - from)
    read = read or lines[i].call:find(value, 1, true)
  end
  assert(made and read and kept[value] ~= false, value .. " is not what the report says")
  places = places + 1
end
assert(places >= 2 and next(kept))

-- Captured tensors are read at each call; upvalues that are numbers are compared before it.
local bias, factor = th.tensor { 1.0, 1.0, 1.0 }, 2
local h = th.compile(function(t) return t * factor + bias end)
expect.values(h(x), { 3, 5, 7 })
bias:fill_(0)
factor = 100
expect.values(h(x), { 100, 200, 300 })

-- Writes in place reach the caller's tensor.
local total = th.zeros(3)
local add = th.compile(function(t)
  total:add_(t)
  return total * 1
end)
expect.values(add(x), { 1, 2, 3 })
expect.values(add(x), { 2, 4, 6 })
expect.values(total, { 2, 4, 6 })
local set = th.compile(function(t)
  local copy = t:clone()
  copy[2] = 0
  return copy
end)
expect.values(set(x), { 1, 0, 3 })

-- A compiled function inside another joins it.
local inner = th.compile(function(t) return t + 1 end)
local outer = th.compile(function(t) return inner(t) * 2 end)
expect.values(outer(x), { 4, 6, 8 })
assert(th.stats(inner).calls == 0)

-- In a coroutine, and with no arguments or results.
expect.values(coroutine.wrap(function() return f({ x = x, parts = { x } }, { scale = 2 }) end)().sum, { 3, 6, 9 })
assert(select("#", th.compile(function() end)()) == 0)
local co = th.compile(function(t)
  return coroutine.wrap(function() return inner(t) end)()
end)
expect.values(co(x), { 2, 3, 4 })

-- Options are judged when compiling.
expect.error(function() th.compile(print, { executer = "host" }) end, "executer", "executors")
expect.error(function() th.compile(3) end, "compile: a function was expected, got an integer")
expect.values(th.compile(function(t) return t + 1 end, { executors = { "host" } })(x), { 2, 3, 4 })

-- Cycles of compiled functions and what they close over are collected.
local alive = setmetatable({}, { __mode = "k" })
do
  local holder = {}
  holder.f = th.compile(function(t) return holder and t end)
  holder.f(x)
  alive[holder] = true
end
collectgarbage()
collectgarbage()
assert(next(alive) == nil)

-- A float that reaches a plain number of an op is a constant with a guard, as one that the function reads.
local norm = th.compile(function(t, eps) return th.layer_norm(t, { 3 }, { eps = eps }) end)
assert(math.abs(norm(th.tensor { 1.0, 2.0, 3.0 }, 1e-5):tolist()[3] - 1.22474) < 1e-4)
expect.values(th.compile(function(t, v) return th.pad(t, { 1, 0 }, { value = v }) end)(x, 7.5), { 7.5, 1, 2, 3 })
-- A float argument in an `if`: what it is, and what to do.
expect.error(function() th.compile(function(t, rate) return rate > 0.1 and t or -t end)(x, 0.5) end, "Float arguments of a compiled function are live",
  "passed as an integer, a boolean or a string", "th.where(condition, a, b)")
local _, plain = pcall(function() return x < x end)
assert(not plain:find("live"))
-- Numbers where tensors belong are refused by name.
expect.error(function() th.mean(3) end, "mean", "'input' must be a tensor")
expect.error(function() th.matmul(x, 2) end, "matmul", "'other' must be a tensor")
-- A method's tensor is where's input, as in PyTorch.
expect.values(x:where(x:gt(1.5), th.zeros { 3 }), { 0, 2, 3 })

-- Stances and cache modes.
do
  local h = th.compile(function(t) return t * 2 end)
  assert(th.set_stance "force_eager" == "default")
  expect.values(h(x), { 2, 4, 6 })
  assert(th.set_stance "fail_on_recompile" == "force_eager")
  expect.error(function() h(x) end, "the stance is fail_on_recompile, and no program fits this call: first call")
  th.set_stance "default"
  assert(th.stats(h).misses == 0 and th.stats(h).eager_calls == 1)
  expect.error(function() th.set_stance "force_eagre" end, "did you mean 'force_eager'?")
  local same = th.compile(function(t) return t * 2 end, { cache = "same input" })
  same(th.ones(2, 3))
  assert(#same(th.ones(3, 2)).shape == 2)
  expect.error(function() same(x) end, "promises that inputs stay what they are")
  local stages, enough = {}, true
  local told = th.compile(function(t) return t * 2 end, { progress = function(stage, done, total)
    stages[#stages + 1] = stage
    assert(done >= 0 and done < total)
    if enough and stage == "claim" then error("enough", 0) end
  end })
  expect.error(function() told(x) end, "enough")
  enough = false
  collectgarbage()
  expect.values(told(x), { 2, 4, 6 })
  assert(stages[1] == "trace" and stages[#stages] ~= "claim")
  local promised = th.compile(function(t, n) return t * n end, { dynamic = false, guard_filter_fn = function(guards)
    assert(guards[1].name == "1" and guards[1].guard_type == "CONSTANT_MATCH" and guards[1].value == 2)
    return false
  end })
  expect.values(promised(x, 2), { 2, 4, 6 })
  expect.values(promised(x, 7), { 2, 4, 6 })
  expect.error(function() th.compile(function(t) return t end, { executors = function() end }) end, "option 'executors' cannot be a function")
  local traced = 0
  local any = th.compile(function(t) traced = traced + 1 return t * 2 end, { cache = "symbolic values" })
  for length = 2, 5 do assert(any(th.ones(length)):size(0) == length) end
  assert(traced == 1 and th.explain(any, "guards"):find("size%(.-%) == s0"))
  expect.error(function() th.compile(function(t) return t end, { cache = "symbolic values", dynamic = false }) end,
    "say different things about sizes")
end
