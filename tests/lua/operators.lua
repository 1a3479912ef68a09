-- Operators of tensors: each is the op of its name, with PyTorch's results and dtypes, reflected and compiled as well.
local th = require "thunder"
local expect = require "support.expect"

local function operands()
  return th.tensor { 3.0, -5.0 }, th.tensor { 12, 10, -7 }, th.tensor { true, false }, th.tensor({ 200, 3 }, th.uint8)
end

-- What PyTorch gives: the function, the values, the dtype.
local rows = {
  { "x + 2", { 5, -3 }, "float32" }, { "2 - x", { -1, 7 }, "float32" }, { "i * 2.5", { 30, 25, -17.5 }, "float32" }, { "i / 2", { 6, 5, -3.5 }, "float32" },
  { "i * 2", { 24, 20, -14 }, "int64" }, { "x // 2", { 1, -3 }, "float32" }, { "7 // i", { 0, 0, -1 }, "int64" }, { "i // 0.5", { 24, 20, -14 }, "float32" },
  { "x % 2", { 1, 1 }, "float32" }, { "7 % i", { 7, 7, 0 }, "int64" }, { "i % -4", { 0, -2, -3 }, "int64" }, { "u % 3", { 2, 0 }, "uint8" },
  { "x ^ 2", { 9, 25 }, "float32" }, { "2 ^ x", { 8, 0.03125 }, "float32" }, { "i ^ 2", { 144, 100, 49 }, "int64" },
  { "i & 6", { 4, 2, 0 }, "int64" }, { "6 & i", { 4, 2, 0 }, "int64" }, { "i | 1", { 13, 11, -7 }, "int64" }, { "1 | i", { 13, 11, -7 }, "int64" },
  { "i ~ 5", { 9, 15, -4 }, "int64" }, { "5 ~ i", { 9, 15, -4 }, "int64" }, { "~i", { -13, -11, 6 }, "int64" }, { "~u", { 55, 252 }, "uint8" },
  { "i << 1", { 24, 20, -14 }, "int64" }, { "i >> 1", { 6, 5, -4 }, "int64" }, { "1 << u", { 0, 8 }, "uint8" }, { "u << 1", { 144, 6 }, "uint8" },
  { "b & true", { true, false }, "bool" }, { "true & b", { true, false }, "bool" }, { "b | b", { true, false }, "bool" }, { "b ~ true", { false, true }, "bool" },
  { "~b", { false, true }, "bool" }, { "b & 1", { 1, 0 }, "int64" }, { "b << 1", { 2, 0 }, "int64" }, { "-x", { -3, 5 }, "float32" },
}
for _, row in ipairs(rows) do
  local text, values, dtype = table.unpack(row)
  local f = assert(load(("return function(x, i, b, u) return %s end"):format(text)))()
  for how, g in pairs { eager = f, compiled = th.compile(f) } do
    local got = g(operands())
    assert(got.dtype == th[dtype], ("%s %s: %s"):format(text, how, tostring(got.dtype)))
    for k, value in ipairs(got:tolist()) do assert(value == values[k], ("%s %s: element %d is %s"):format(text, how, k, tostring(value))) end
  end
end

-- A remainder is exact: by the rounded divisor 1e9 leaves what fmod of doubles leaves.
local divisor = th.tensor(math.pi):item()
expect.values(th.tensor { 1e9, 1e8 } % math.pi, { math.fmod(1e9, divisor), math.fmod(1e8, divisor) }, 1e-6)
assert((th.tensor { 1.0 } % math.huge)[1]:item() == 1)

-- Reals have no bits.
expect.error(function() return th.ones(2) & 1 end, "bitwise_and: operands must be integers or booleans")
expect.error(function() return ~th.ones(2) end, "bitwise_not")
expect.error(function() return th.arange(2) << 1.5 end, "bitwise_left_shift")

-- Numbers in lists meet in one dtype.
for _, row in ipairs { { { true, 2 }, "int64" }, { { 2, true }, "int64" }, { { true, 1.5 }, "float32" }, { { 1, 2.5 }, "float32" }, { { true }, "bool" },
                       { {}, "float32" }, { { { 1 }, { 2.0 } }, "float32" } } do
  assert(th.tensor(row[1]).dtype == th[row[2]], row[2])
end
expect.values(th.tensor { true, 2 }, { 1, 2 })
expect.error(function() return th.tensor({ 300 }, th.uint8) end, "300 does not fit uint8")
