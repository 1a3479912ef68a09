-- What the Lua tests share: errors that must say something, and tensors that must hold numbers.
local th = require "thunder"
local expect = {}

th.seed(0) -- the same numbers at each run

-- f(...) must raise an error whose text holds each of the given pieces.
function expect.error(f, ...)
  local ok, message = pcall(f)
  assert(not ok, "no error was raised")
  message = tostring(message)
  for _, piece in ipairs { ... } do
    assert(message:find(piece, 1, true), ("the error lacks '%s': %s"):format(piece, message))
  end
end

local function close(a, b, tolerance)
  if type(a) == "table" then
    if type(b) ~= "table" or #a ~= #b then return false end
    for i = 1, #a do
      if not close(a[i], b[i], tolerance) then return false end
    end
    return true
  end
  return a == b or (type(a) == "number" and type(b) == "number" and math.abs(a - b) <= tolerance)
end

-- The tensor's elements must be those of the nested list, up to a tolerance.
function expect.values(tensor, list, tolerance)
  assert(close(tensor:tolist(), list, tolerance or 0), "unexpected values: " .. tostring(tensor))
end

function expect.same(a, b)
  assert(th.is_tensor(a) and th.is_tensor(b))
  assert(a:equal(b), ("tensors differ: %s and %s"):format(tostring(a), tostring(b)))
end

return expect
