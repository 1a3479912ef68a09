-- The first things that a user of PyTorch types in Lua: they work, or say what to type.
local th = require "thunder"
local expect = require "support.expect"

local x = th.tensor { { 1.0, 2.0, 3.0 }, { 4.0, 5.0, 6.0 } }

-- Shapes: T reverses the dims, mT exchanges the last two.
expect.values(x.T, { { 1, 4 }, { 2, 5 }, { 3, 6 } })
expect.values(x.mT, { { 1, 4 }, { 2, 5 }, { 3, 6 } })
local cube = th.zeros { 2, 3, 4 }
assert(table.concat(cube.T.shape, " ") == "4 3 2" and table.concat(cube.mT.shape, " ") == "2 4 3")
assert(th.tensor(1.0).T:item() == 1 and th.ones(3).T.shape[1] == 3)

-- A dim gives values and where they are; another tensor the greater of both.
local values, positions = x:max(1)
expect.values(values, { 3, 6 })
expect.values(positions, { 2, 2 })
expect.values(x:max(th.full({ 2, 3 }, 4.5)), { { 4.5, 4.5, 4.5 }, { 4.5, 5, 6 } })

-- Files of tensors by name.
local path = os.tmpname()
th.save({ x = x, ["net.0"] = x[1] }, path)
local loaded = th.load(path)
expect.values(loaded.x, x:tolist())
expect.values(loaded["net.0"], { 1, 2, 3 })
os.remove(path)
expect.error(function() th.load(path) end, "first_hour.lua:", "cannot open")

-- GPUs: asked about, and refused where there are none.
assert(th.cuda.is_available() == (th.cuda.device_count() > 0))
assert(tostring(th.cuda(1)) == "cuda:1" and tostring(th.cuda):find "is_available")
expect.error(function() return th.cuda.is_avaliable end, "cuda has no member 'is_avaliable' (did you mean 'is_available'?)")
expect.values(x:cpu(), x:tolist())
-- A traced function may ask too: nothing of it is recorded.
local inside = {}
local asks = th.compile(function(t)
  inside[#inside + 1] = th.cuda.is_available()
  inside[#inside + 1] = th.cuda.device_count() > 0
  return t * 2
end)
expect.values(asks(th.ones { 2 }), { 2, 2 })
assert(#inside == 2 and inside[1] == th.cuda.is_available() and inside[2] == inside[1])
if not th.cuda.is_available() then
  expect.error(function() x:cuda() end, "there is no device cuda:0 here")
  expect.error(function() x:to "cuda" end, "there is no device cuda:0 here")
end

-- No message begins with a function of C, which no script calls.
for _, f in ipairs {
  function() x:to "cuda:7" end,
  function() th.load_plugin "/there/is/none.so" end,
  function() th.nn.Linear(2, 3):load "/there/is/none" end,
  function() th.from_trace "" end,
} do
  local ok, message = pcall(f)
  assert(ok or not message:find "thunder_", message)
end

-- What is far from all names is not guessed at.
expect.error(function() return x.grad end, "no member 'grad': grad_of(loss, parameters) gives the gradients")
expect.error(function() return th.utils end, "no op or function 'utils'")
assert(not select(2, pcall(function() return th.utils end)):find "did you mean")

-- A layer that fails is named by its path, behind the line of the script.
local net = th.nn.Sequential { th.nn.Sequential { th.nn.Linear(4, 2) } }
expect.error(function() net(x) end, "first_hour.lua:", "linear: input has 3 features, weight takes 4", "[at layer 0.0]")
local body = th.nn.Module { wte = th.nn.Embedding(4, 2) }
function body:forward(i) return self.wte(i) end
local line = debug.getinfo(1, "l").currentline + 1
local f = th.compile(function(i) return body(i) * 2 end)
expect.error(function() f(th.tensor { 7 }) end, "embedding: index 7 is out of range for dim 0 of size 4",
  "first_hour.lua:" .. line - 2 .. ", layer wte, run by executor")
