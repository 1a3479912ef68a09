-- Batches that come on a CUDA device, from Lua.
local th = require "thunder"

local x, y = th.randn { 11, 3 }, th.arange(11)
local here = th.data.batches({ x, y }, { size = 4, shuffle = true, seed = 5, epochs = 2 })
local there = th.data.batches({ x, y }, { size = 4, shuffle = true, seed = 5, epochs = 2, device = "cuda" })
local expected = {}
for i, a, b in here do expected[i] = { a, b } end
local count = 0
for i, a, b in there do
  assert(tostring(a.device) == "cuda:0" and tostring(b.device) == "cuda:0")
  assert(a:to("cpu"):equal(expected[i][1]) and b:to("cpu"):equal(expected[i][2]))
  count = i
end
assert(count == #expected and count == 6)

local batches = th.data.batches({ x }, { size = 4, device = th.cuda(0) })
local state, second
for i, batch in batches do
  if i == 1 then state = batches:state() else second = batch end
  if i == 2 then break end
end
batches:set_state(state)
for _, again in batches do
  assert(second:to("cpu"):equal(again:to "cpu"))
  break
end

local ok, why = pcall(th.data.batches, { x }, { device = "cuda:7" })
assert(not ok and tostring(why):find("cuda:7", 1, true), why)
print "batches on the device are those of the host"
