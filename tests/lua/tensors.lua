-- Tensors: made from tables, read back, indexed, closed.
-- covers: bindings/lua/tensor.c bindings/lua/tensor.lua
local th = require "thunder"
local expect = require "support.expect"

-- Integers stay integers, floats make float32, booleans bool.
local m = th.tensor { { 1, 2, 3 }, { 4, 5, 6 } }
assert(m.dtype == th.int64 and #m == 2 and m.ndim == 2 and m:numel() == 6)
assert(m.shape[1] == 2 and m.shape[2] == 3 and m:size(-1) == 3)
expect.values(m, { { 1, 2, 3 }, { 4, 5, 6 } })
assert(math.type(m[1][2]:item()) == "integer")
assert(th.tensor({ 1, 2.5 }).dtype == th.float32)
assert(th.tensor({ true, false }).dtype == th.bool)
assert(th.tensor({ 1, 2 }, th.float64).dtype == th.float64)
assert(th.tensor({ 1, 2 }, { dtype = "bfloat16" }).dtype == th.bfloat16)
expect.values(th.tensor({ 1.5, -2 }, th.bfloat16), { 1.5, -2 })
assert(th.tensor(7):item() == 7 and th.tensor(7).ndim == 0)
assert(th.tensor(math.maxinteger):item() == math.maxinteger)
assert(th.tensor({}).shape[1] == 0 and th.tensor({ {}, {} }).shape[2] == 0)
expect.values(th.tensor({ 0, 255 }, th.uint8), { 0, 255 })

-- What is not a rectangle of numbers is refused, with both sizes.
expect.error(function() th.tensor { { 1, 2 }, { 3 } } end, "tensors.lua:", "those of one shape", "a list of 1 stands where a list of 2")
expect.error(function() th.tensor { { 1 }, 2 } end, "an integer stands where a list of 1")
expect.error(function() th.tensor { "x" } end, "must be a number", "a string")
expect.error(function() th.tensor({ 300 }, th.uint8) end, "300 does not fit uint8")
expect.error(function() th.tensor({ 1.5 }, th.int64) end, "must be an integer")
expect.error(function() th.tensor({ 1 }, "float16x") end, "unknown dtype 'float16x'", "did you mean")
local endless = {}
endless[1] = endless
expect.error(function() th.tensor(endless) end, "nested deeper")

-- x[i] counts from 1, -1 is the last; {from, to} holds both ends, {} all.
local x = th.tensor { { 1.0, 2.0, 3.0 }, { 4.0, 5.0, 6.0 } }
expect.values(x[2], { 4, 5, 6 })
expect.values(x[-1][-1], 6)
expect.values(x[{ {}, { 2, 3 } }], { { 2, 3 }, { 5, 6 } })
expect.values(x[{ 1, { -2, -1 } }], { 2, 3 })
expect.error(function() return x[3] end, "index 3 is out of range", "2 elements")
expect.error(function() return x[0] end, "index 0 is out of range")
expect.error(function() return x[{ 1, 1, 1 }] end, "rank")

-- Assignment writes through: an index is a view.
x[1] = 0
x[{ 2, { 1, 2 } }] = th.tensor { 7.0, 8.0 }
expect.values(x, { { 0, 0, 0 }, { 7, 8, 6 } })
local row = x[1]
row:add_(1)
expect.values(x[1], { 1, 1, 1 })

-- Members are strict.
expect.error(function() return x.shap end, "no member 'shap'", "'shape'")
expect.error(function() x.foo = 1 end, "member 'foo' cannot be set")
expect.error(function() x:reshap { 3, 2 } end, "'reshape'")
expect.error(function() return #th.tensor(1) end, "rank 0 has no length")
expect.error(function() return x < x end, "x:lt(y)")
assert(getmetatable(x) == false, "the metatable is locked")

-- Constants print as their names.
assert(tostring(th.float32) == "float32" and tostring(th.cpu) == "cpu")

-- A closed tensor says so; <close> closes it.
local closed
do
  local t <close> = th.tensor { 1 }
  closed = t
end
expect.error(function() return closed:item() end, "closed")
expect.error(function() return m:item() end, "only a tensor of one element")

-- The collector keeps up with memory that it cannot see: this would be 4 GB.
collectgarbage()
for _ = 1, 500 do th.full({ 1 << 20 }, 1.0, { dtype = th.float64 }) end
assert(collectgarbage("count") < 100 * 1024)

-- Every dtype, by its long and its short name, holds its ends and gives them back.
for name, ends in pairs {
  int8 = { -128, 127 }, uint16 = { 0, 65535 }, int16 = { -32768, 32767 }, uint32 = { 0, 4294967295 },
  uint64 = { 0, 1 << 53 }, float16 = { -65504.0, 2.0 ^ -24 },
} do
  local x = th.tensor(ends, name)
  assert(x.dtype == th[name], name)
  expect.values(x, ends)
  assert(th.to(th.tensor(ends[2], name), th.float64):item() == ends[2], name)
end
expect.error(function() th.tensor({ 128 }, th.int8) end, "128 does not fit int8")
expect.error(function() th.tensor({ -4294967296 }, th.uint32) end, "-4294967296 does not fit uint32")
assert(th.ones(2):half().dtype == th.float16 and th.half == th.float16 and th.ones(2):char().dtype == th.int8)
assert((th.ones(2):half() + th.ones(2):bfloat16()).dtype == th.float32)
expect.error(function() return th.tensor({ 1 }, "uint16") + th.tensor({ 1 }, "int32") end, "add: promotion of uint16", "u16", "i32")
