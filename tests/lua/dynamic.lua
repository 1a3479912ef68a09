-- What docs/dynamic.md shows runs as it stands; sizes are looked at one by one.
local th = require "thunder"
local page = require "support.page"
local text, count = page.run "../docs/dynamic.md"
assert(count == 3)
local shown = page.read "../docs/dynamic.md"
assert(text:find(shown:match "```\n(2\nthe structure.-)\n```", 1, true) == 1, text) -- what the page says that the first block prints
assert(text:find "true\nfalse\n.*is marked to vary and cannot: the function looks at it as a number.*\ntrue\n2$", text)

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
expect.error(function() th.explain(marked, "guard") end, 'explain: got guard, expected "fusion", "loops", "guards" or "breaks"')
