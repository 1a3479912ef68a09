-- What docs/dynamic.md shows runs as it stands; sizes are looked at one by one.
local th = require "thunder"
local page = require "support.page"
local text, count = page.run "../docs/dynamic.md"
assert(count == 5)
local shown = page.read "../docs/dynamic.md"
assert(text:find(shown:match "```\n(2\nthe structure.-)\n```", 1, true) == 1, text) -- what the page says that the first block prints
assert(text:find "true\nfalse\n.*is marked to vary and cannot: the function looks at it as a number.*\nits lines serve all sizes for which .-\ntrue\n2\ntrue$", text)

local traced = 0
local f = th.compile(function(x)
  traced = traced + 1
  return x * x:size(1)
end, { dynamic = true })
for length = 2, 5 do assert(f(th.ones(length, 3)):equal(th.ones(length, 3) * 3)) end
assert(traced == 2, traced) -- once to see which size is looked at
assert(f(th.ones(5, 4)):equal(th.ones(5, 4) * 4))

-- Marks, of tensors that have data, within their range.
local expect = require "support.expect"
local x = th.ones(4, 3)
expect.error(function() th.mark_dynamic(x, 2) end, "dim 2 is not one of f32[4, 3]")
expect.error(function() th.mark_dynamic(x, 0, 5) end, "dim 0 of f32[4, 3] is not between min 5")
expect.error(function() th.mark_unbacked(x, 0) end, "mark_unbacked")
th.maybe_mark_dynamic(x, 0)
th.mark_static(x, -1)
local times = 0
local marked = th.compile(function(y)
  times = times + 1
  return -y
end)
marked(x)
assert(marked(th.ones(9, 3)):equal(-th.ones(9, 3)))
assert(times == 1 and th.explain(marked, "guards"):find("size(0, 0) == s0", 1, true))
expect.error(function() th.explain(marked, "guard") end,
             "explain: there is no report, and no stage, of the name 'guard' (did you mean 'guards'?)")

-- With symbols = true sizes and integers that vary are objects, whose operators keep the formula.
local function counted(f, options)
  local count = { 0 }
  options = options or {}
  options.symbols = true
  return th.compile(function(...)
    count[1] = count[1] + 1
    return f(...)
  end, options), count
end
local function same_for(f, calls, traces)
  local compiled, count = counted(f)
  for _, call in ipairs(calls) do
    local want, got = f(table.unpack(call)), compiled(table.unpack(call))
    assert(got:equal(want), tostring(got) .. tostring(want))
  end
  assert(count[1] == traces, count[1])
  return compiled
end
local lengths, integers = {}, {}
for n = 4, 7 do
  lengths[#lengths + 1] = { th.ones(n, 3) }
  integers[#integers + 1] = { th.ones(8, 3), n }
end
same_for(function(x) return x:reshape(x.shape[1] * x.shape[2]) + (x:size(0) - 1) end, lengths, 2)
same_for(function(x) return x:reshape { x:size(0) // 1, 3 } * x:size(0) % 5 end, lengths, 2)
same_for(function(x) return x:size(0) > 5 and -x or x end, lengths, 3)
same_for(function(x) return th.sizes_equal(x:size(0), 5) and -x or x end, { { th.ones(5) }, { th.ones(6) }, { th.ones(5) }, { th.ones(7) } }, 2)
same_for(function(x) return x * th.size_number(x:size(0)) end, lengths, 5)
same_for(function(x) return x + #("" .. x:size(0)) + x:size(0) / 2 + x:size(0) ^ 2 end, lengths, 5)
same_for(function(x)
  for _ = 1, x:size(0) do x = x + 1 end -- a loop needs a number
  return x
end, lengths, 5)
local live = same_for(function(x, n) return x * n + (n + 1) - (-n) end, integers, 2)
assert(th.stats(live).misses == 2)
assert(th.explain(live, "guards"):find("leaf 1 == s0", 1, true))
same_for(function(x, n) return x[n] + x[{ { 1, n } }]:sum(0) + th.arange(n):sum() end, integers, 2)
same_for(function(x, n) return x:narrow(0, n - 2, 2) end, integers, 2)
local pair = counted(function(x, n) return x, n + 1 end)
for n = 3, 5 do assert(select(2, pair(th.ones(2), n)) == n + 1) end
expect.error(function() th.compile(print, { symbols = 1 }) end, "option 'symbols' must be a boolean, got an integer")

-- A decoder that keeps keys in place: one trace for two hundred tokens, with the results of eager calls.
local function decoder()
  th.seed(3)
  local q, k, keys = th.randn(16, 16), th.randn(16, 16), th.zeros(2, 200, 16)
  return function(x, position)
    keys[{ {}, position }] = x:matmul(k * 0.1)
    local seen = keys[{ {}, { 1, position } }]
    local scores = seen:matmul(x:matmul(q):unsqueeze(-1)):squeeze(-1)
    return x * 0.5 + th.softmax(scores, -1):unsqueeze(1):matmul(seen):squeeze(1)
  end
end
local eager, decode, tokens = decoder(), counted(decoder())
local a, b = th.ones(2, 16), th.ones(2, 16)
for position = 1, 200 do
  a, b = eager(a, position), decode(b, position)
  assert(th.allclose(a, b, 1e-4, 1e-4), position)
end
assert(tokens[1] <= 3, tokens[1])
