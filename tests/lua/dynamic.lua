-- What docs/dynamic.md shows runs as it stands; sizes are looked at one by one.
local th = require "thunder"
local text, count = require("support.page").run "../docs/dynamic.md"
assert(count == 2)
assert(text == "true\ntrue\ntrue\n1", text)

local traced = 0
local f = th.compile(function(x)
  traced = traced + 1
  return x * x:size(1)
end, { dynamic = true })
for length = 2, 5 do assert(f(th.ones(length, 3)):equal(th.ones(length, 3) * 3)) end
assert(traced == 2, traced) -- once to see which size is looked at
assert(f(th.ones(5, 4)):equal(th.ones(5, 4) * 4))
