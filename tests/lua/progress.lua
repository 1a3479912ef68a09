-- Progress: it iterates like what it wraps. What it writes is for terminal.py to check.
local th = require "thunder"
local expect = require "support.expect"

local seen = 0
local bar = th.progress(5, { label = "count" })
for i in bar do
  seen = seen + i
  bar:note("sum %d", seen)
end
assert(seen == 15)

local pairs_seen = 0
local function three(_, i)
  i = (i or 0) + 1
  if i <= 3 then return i, i * i end
end
for i, square in th.progress(three, { total = 3 }) do
  assert(square == i * i)
  pairs_seen = pairs_seen + 1
end
assert(pairs_seen == 3)
for _ in th.progress(0) do error("nothing to iterate") end
expect.error(function() th.progress(3, { lable = "x" }) end, "unknown option 'lable'", "'label'")
