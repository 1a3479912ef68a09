-- Plain numbers beside tensors: an integer stays one, a float is converted once, to the type that computes; the rule is PyTorch's, written
-- down here with Lua's own numbers.
local th = require "thunder"
local expect = require "support.expect"

local function to_f32(v) return (string.unpack("f", string.pack("f", v))) end

-- Of what a remainder leaves: Lua rounds the quotient down after it was rounded, PyTorch does not.
local function quotient_down(a, b)
  return math.type(a) == "integer" and a // b or math.floor((a - a % b) / b + 0.5) + 0.0
end

local operators = {
  ["+"] = function(a, b) return a + b end, ["-"] = function(a, b) return a - b end, ["*"] = function(a, b) return a * b end,
  ["/"] = function(a, b) return a / b end, ["//"] = function(a, b) return a // b end, ["%"] = function(a, b) return a % b end,
}
local bits = {
  ["&"] = function(a, b) return a & b end, ["|"] = function(a, b) return a | b end, ["~"] = function(a, b) return a ~ b end,
  ["<<"] = function(a, b) return a << b end,
}

local function check(what, f, x, number, dtype, wanted)
  for how, g in pairs { eager = f, live = th.compile(f), constant = th.compile(function(t) return f(t, number) end) } do
    local got = g(th.tensor({ x }, dtype), number)
    local value = got:tolist()[1]
    assert(value == wanted or (value ~= value and wanted ~= wanted), ("%s %s: %s, not %s"):format(what, how, tostring(value), tostring(wanted)))
    assert(math.type(value) == math.type(wanted), what)
  end
end

-- float64 computes as Lua does; float32 in its own numbers, which doubles hold, and rounds once.
for symbol, f in pairs(operators) do
  for _, x in ipairs { 0.5, -7.0, 96.0 } do
    for _, number in ipairs { 0.1, 2 ^ 53 + 2, 65536.0, 2.5, -3.0, 9007199254740993 } do
      local of_reals, float = symbol == "//" and quotient_down or f, number + 0.0
      check(("f64 %s %s %s"):format(x, symbol, number), f, x, number, th.float64, of_reals(x, float))
      check(("%s %s f64 %s"):format(number, symbol, x), function(t, s) return f(s, t) end, x, number, th.float64, of_reals(float, x))
      if symbol ~= "%" then -- which rounds when the sign is mended
        check(("f32 %s %s %s"):format(x, symbol, number), f, x, number, th.float32, to_f32(of_reals(x, to_f32(float))))
      end
    end
  end
end

-- int64 keeps all bits, and wraps as Lua's integers do.
for symbol, f in pairs(operators) do
  for _, x in ipairs { 1, -7, 9007199254740993, math.maxinteger } do
    for _, number in ipairs { 3, -3, 9007199254740993, math.mininteger + 1 } do
      if symbol ~= "/" then check(("i64 %s %s %s"):format(x, symbol, number), f, x, number, th.int64, f(x, number)) end
    end
  end
end
for symbol, f in pairs(bits) do
  for _, x in ipairs { 1, -7, 9007199254740993 } do
    for _, number in ipairs { 3, 6, 40 } do check(("i64 %s %s %s"):format(x, symbol, number), f, x, number, th.int64, f(x, number)) end
  end
end

-- Each kind of argument that a schema has stores what it is given.
local stores = {
  full = function(x, s) return th.full({ 1 }, s, x.dtype) end,
  full_like = function(x, s) return th.full_like(x, s) end,
  fill_ = function(x, s) return th.fill_(x:clone(), s) end,
  masked_fill = function(x, s) return th.masked_fill(x, x:eq(x), s) end,
  where = function(x, s) return th.where(x:ne(x), x, s) end,
  element = function(x, s)
    local y = x:clone()
    y[1] = s
    return y
  end,
  add = function(x, s) return x * 0 + s end,
}
for name, store in pairs(stores) do
  for _, row in ipairs { { th.float64, 0.1 }, { th.float64, 1e39 }, { th.int64, 9007199254740993 }, { th.int64, math.mininteger }, { th.uint8, 255 } } do
    local dtype, number = row[1], row[2]
    local x = th.ones({ 1 }, dtype)
    for how, f in pairs { eager = store, compiled = th.compile(function(t) return store(t, number) end) } do
      local got = f(x, number)
      assert(got.dtype == dtype and got:tolist()[1] == number, ("%s %s %s: %s"):format(name, how, tostring(number), tostring(got:tolist()[1])))
    end
  end
  if name ~= "add" then expect.error(function() return store(th.ones({ 1 }, th.uint8), 300) end, "300") end
end
assert((th.tensor({ 0.0078125 }, th.float16) * 65536.0):tolist()[1] == 512)
assert(1 / (th.full({ 1 }, -0.0, th.float64)):tolist()[1] == -math.huge)
