-- Tensors print as in PyTorch, and th.set_printoptions says how.
local th = require "thunder"

local x = th.tensor { 1.23456, 20.0 }
assert(tostring(x) == "tensor([ 1.2346, 20.0000])")
assert(tostring(th.tensor { { 1, 2 }, { 3, 14 } }) == "tensor([[ 1,  2],\n        [ 3, 14]])")
assert(tostring(th.tensor(2.5)) == "tensor(2.5000)" and tostring(th.tensor { true, false }) == "tensor([ True, False])")
assert(tostring(th.tensor({ 1 }, th.int32)) == "tensor([1], dtype=thunder.int32)")
assert(tostring(th.full({ 5000 }, 1.0)) == "tensor([1., 1., 1.,  ..., 1., 1., 1.])")
assert(th.repr { x } == "{tensor([ 1.2346, 20.0000])}")

th.set_printoptions { precision = 2, threshold = 3, edgeitems = 1 }
assert(tostring(x) == "tensor([ 1.23, 20.00])" and tostring(th.arange(4)) == "tensor([0,  ..., 3])")
local now = th.get_printoptions()
assert(now.precision == 2 and now.threshold == 3 and now.edgeitems == 1 and now.linewidth == 80 and now.sci_mode == nil)
th.set_printoptions { sci_mode = true }
assert(tostring(x) == "tensor([1.23e+00, 2.00e+01])" and th.get_printoptions().sci_mode == true)
th.set_printoptions { threshold = math.huge }
assert(#tostring(th.zeros { 2000 }) > 2000 and th.get_printoptions().threshold == math.huge)
th.set_printoptions { profile = "default" }
assert(tostring(x) == "tensor([ 1.2346, 20.0000])")

local ok, message = pcall(th.set_printoptions, { precison = 2 })
assert(not ok and message:find("set_printoptions: unknown option 'precison' (did you mean 'precision'?)", 1, true), message)

-- In a compiled function there are no elements yet.
local seen
th.compile(function(y)
  seen = tostring(y)
  return y
end)(x)
assert(seen == "tensor(..., size=(2,), traced)", seen)
