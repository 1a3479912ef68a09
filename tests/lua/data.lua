-- Data: files of arrays, shuffled batches, splits, and files that are not what they say.
local th = require "thunder"
local expect = require "support.expect"
local data = th.data

local path = os.tmpname()
local function write(text)
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
end

-- CSV, with and without a row of names.
write "a,b,label\n1,2,0\n3,4.5,1\n5,6,0\n"
local rows = data.csv(path)
expect.values(rows, { { 1, 2, 0 }, { 3, 4.5, 1 }, { 5, 6, 0 } })
assert(data.csv(path, th.float64).dtype == th.float64)
local count = 0
for i, x, y in data.batches(path, { size = 2 }) do
  count = count + 1
  assert(i == count and x.shape[2] == 2 and y.dtype == th.int64)
end
assert(count == 2)
write "1,2\n3,x\n"
expect.error(function() data.csv(path) end, "data.lua:", "x")
expect.error(function() data.csv "no/such.csv" end, "no/such.csv")
expect.error(function() data.csv(3) end, "a path was expected")

-- IDX as MNIST has it; cut short it is refused.
write("\0\0\8\2" .. "\0\0\0\2" .. "\0\0\0\3" .. "\1\2\3\4\5\255")
expect.values(data.idx(path), { { 1, 2, 3 }, { 4, 5, 255 } })
write("\0\0\8\2" .. "\0\0\0\2" .. "\0\0\0\3" .. "\1\2\3")
expect.error(function() data.idx(path) end, "data.lua:")

-- NPY and safetensors, there and back.
local t = th.tensor { { 1.5, -2 }, { 3, 4 } }
data.save_npy(t, path)
expect.same(data.npy(path), t)
data.save({ weight = t, count = th.tensor { 7 } }, path)
local read = data.safetensors(path)
expect.same(read.weight, t)
expect.same(read.count, th.tensor { 7 })
write "\255\0\0\0\0\0\0\0{"
expect.error(function() data.safetensors(path) end, "data.lua:")
os.remove(path)

-- Batches: each row once an epoch, another order each epoch, the same for the same seed.
local x = th.arange(10)
local function order(options)
  local seen = {}
  for _, batch in data.batches({ x, x * 2 }, options) do
    for _, value in ipairs(batch:tolist()) do seen[#seen + 1] = value end
  end
  return seen
end
local plain = order { size = 4 }
assert(#plain == 10 and plain[1] == 0 and plain[10] == 9)
local one = order { size = 4, shuffle = true, seed = 3, epochs = 2 }
assert(#one == 20 and table.concat(one, " ", 1, 10) ~= table.concat(one, " ", 11, 20))
assert(table.concat(one) == table.concat(order { size = 4, shuffle = true, seed = 3, epochs = 2 }))
table.sort(one)
assert(table.concat(one, "", 1, 4) == "0011")
assert(#order { size = 4, drop_last = true } == 8)
local batches = data.batches({ x }, { size = 2, shuffle = true, seed = 1 })
assert(#batches == 5)
local state, expected
for i, batch in batches do
  if i == 2 then expected = batch break end
  state = batches:state()
end
batches:set_state(state)
local again
for _, batch in batches do again = batch break end
expect.same(expected, again)

-- Each `for` is an epoch of its own, whatever became of the ones before, or around it.
local rows = data.batches({ x }, { size = 4 })
for _ in rows do break end
local whole = {}
for i, batch in rows do whole[i] = #batch end
assert(table.concat(whole, " ") == "4 4 2")
local pairs_seen, outer = 0, {}
for i, batch in rows do
  outer[#outer + 1] = ("%d:%d"):format(i, batch[1]:item())
  for k in rows do
    pairs_seen = pairs_seen + 1
    if i == 2 and k == 2 then break end
  end
end
assert(table.concat(outer, " ") == "1:0 2:4 3:8")
assert(pairs_seen == 3 + 2 + 3)
local shuffled = data.batches({ x }, { size = 4, shuffle = true, seed = 3 })
local epochs = {}
for epoch = 1, 3 do
  epochs[epoch] = {}
  for _, batch in shuffled do
    for _, value in ipairs(batch:tolist()) do table.insert(epochs[epoch], value) end
    if epoch == 2 then break end
  end
end
assert(#epochs[1] == 10 and #epochs[2] == 4 and #epochs[3] == 10)
assert(table.concat(epochs[1], " ") ~= table.concat(epochs[3], " "))
assert(table.concat(epochs[1], " ") == table.concat(order { size = 4, shuffle = true, seed = 3 }, " "))
expect.error(function() return shuffled(nil, 2) end, "batches: no loop at this line has come to batch 2")
expect.error(function() data.batches({ x }, { sise = 2 }) end, "unknown option 'sise'", "'size'")
expect.error(function() data.batches({ x, th.arange(3) }, { size = 2 }) end, "10", "3")
expect.error(function() return batches.stat end, "no member 'stat'")

-- A split takes each row once.
local rest, part = data.split({ x }, 0.3, { seed = 5 })
assert(#rest[1] == 7 and #part[1] == 3)
assert(rest[1]:sum():item() + part[1]:sum():item() == 45)
