-- Errors inside traced functions: they keep line and object, and leave everything usable.
local th = require "thunder"
local expect = require "support.expect"

local x = th.tensor { { 1.0, 2.0 }, { 3.0, 4.0 } }

local function line() return debug.getinfo(2, "l").currentline end

-- An op that fails names its own line, and the traceback follows.
local bad_line
local f = th.compile(function(t)
  bad_line = line() + 1
  return t:matmul(th.ones(3, 3))
end)
for _ = 1, 2 do
  expect.error(function() f(x) end, "matmul", "traceback", "in method 'matmul'")
  expect.error(function() f(x) end, "errors.lua:" .. bad_line .. ":")
end

-- Lua's own errors and error objects.
expect.error(function() th.compile(function(t) return t.nothing end)(x) end, "no member 'nothing'")
expect.error(function() th.compile(function() local t; return t.x end)(x) end, "errors.lua:", "nil value")
local object = setmetatable({ code = 5 }, { __tostring = function() return "five" end })
local ok, caught = pcall(th.compile(function() error(object) end), x)
assert(not ok and caught == object)
ok, caught = pcall(th.compile(function() error(nil) end), x)
assert(not ok)

-- Nested: the innermost error comes out of all levels.
local inner = th.compile(function() error(object) end)
ok, caught = pcall(th.compile(function(t) return inner(t) end), x)
assert(not ok and caught == object)

-- Errors pass the library as themselves: through a module's forward, a tape, a gradient; false and nil too.
local net = th.nn.Module {}
function net:forward() error(object) end
for _, way in ipairs {
  function() net(x) end,
  function() th.compile(net)(x) end,
  function() th.tape(function() return th.compile(function(t) return net(t) end)(x) end) end,
  function() th.grad(function(t) return inner(t) end)(x) end,
} do
  ok, caught = pcall(way)
  assert(not ok and caught == object)
end
ok, caught = pcall(th.compile(function() error(false) end), x)
assert(not ok and caught == false)

-- One that was caught is not raised again in place of a later one, nor of an op's.
local function failing_after(later)
  return th.compile(function(t)
    pcall(inner, t)
    return later(t)
  end)
end
ok, caught = pcall(failing_after(function() error("late") end), x)
assert(not ok and caught:find("late", 1, true), caught)
local stale = th.compile(function(t) return t:matmul(th.ones(3, 3)) end)
expect.error(function() stale(x) end, "in method 'matmul'")

-- The library keeps no error alive.
local weak = setmetatable({}, { __mode = "v" })
pcall(th.compile(function()
  weak[1] = {}
  error(weak[1])
end), x)
caught = nil
collectgarbage()
collectgarbage()
assert(weak[1] == nil)

-- Arguments and results that are no leaves.
local id = th.compile(function(t) return t end)
expect.error(function() id(print) end, "argument 1: a function cannot")
expect.error(function() id { 1, a = 2 } end, "argument 1: a table mixes names with an integer")
expect.error(function() id { 1, [3] = 2 } end, "holes")
local loop = {}
loop.x = loop
expect.error(function() id(loop) end, "contain itself")
expect.error(function() th.compile(function() return print end)() end, "result 1", "a function cannot")
expect.values(id(x), { { 1, 2 }, { 3, 4 } })

-- A proxy that escapes says what it is.
local escaped
th.compile(function(t) escaped = t + 1; return t end)(x)
expect.error(function() return escaped + 1 end, "errors.lua:")
expect.error(function() return escaped:item() end, "errors.lua:")
expect.error(function() th.compile(function(t) return t:item() end)(x) end, "errors.lua:")
assert(tostring(escaped):find("traced"))

-- Methods given something else.
expect.error(function() x.sum(nil) end, "sum")
expect.error(function() x.item(3) end, "a tensor was expected, got an integer")
expect.error(function() th.last_traces(print) end, "a compiled function was expected, got a function")
expect.error(function() th.grad_of(x, x) end, "grad_of: nothing was recorded")

-- The context works afterwards.
expect.values(th.compile(function(t) return t + t end)(x), { { 2, 4 }, { 6, 8 } })
expect.values(x * 2, { { 2, 4 }, { 6, 8 } })
