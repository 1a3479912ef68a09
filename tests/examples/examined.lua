-- What th.examine finds in the GPT-2 example: a kernel that is wrong, an op that is not there and a NaN, each planted, each named with the
-- user's line; and a page of it.
package.path = "../examples/?.lua;../examples/gpt2/?.lua;" .. package.path
local th = require "thunder"
local make = require("gpt2.model").make
th.seed(0)

local config = { layers = 2, width = 64, heads = 4, context = 64, vocabulary = 50 }
local tokens = th.randint(0, 50, { 2, 16 })
local function loss_of(net)
  return function(t)
    local logits = net(t[{ {}, { 1, -2 } }])
    return th.cross_entropy(logits:reshape(-1, 50), t[{ {}, { 2, -1 } }]:reshape(-1))
  end
end
local function find(found, kind)
  for _, finding in ipairs(found.findings) do
    if finding.kind == kind then return finding end
  end
  error(kind .. " was not found:\n" .. tostring(found))
end

-- As it stands it is sound, its gradients too.
local sound = th.examine(loss_of(make(config)), tokens)
assert(sound.sound and sound.gradients and sound.checked > 20, tostring(sound))

-- A kernel that computes another function.
th.executor { name = "wrong", ops = { gelu = function(x) return th.relu(x) end } }
local f = th.compile(loss_of(make(config)), { executors = { "wrong", "fusion" } })
local found = th.examine(f, tokens)
local wrong = find(found, "wrong")
assert(not found.sound and wrong.op == "gelu" and wrong.where:find "gpt2/model.lua:%d+", tostring(found))
assert(wrong.text:find "run by executor 'wrong'", wrong.text)

-- An op that is not there.
local net = make(config)
local layer = net.h[2].mlp.c_proj
function layer:forward(x) return th.gellu(x) end
found = th.examine(loss_of(net), tokens)
local unsupported = find(found, "unsupported")
assert(not found.sound and unsupported.text:find "gelu" and unsupported.text:find "examined.lua:38", tostring(found))

-- A line that makes NaN.
net = make(config)
layer = net.h[1].ln_2
function layer:forward(x) return (x - 100):sqrt() end
found = th.examine(loss_of(net), tokens)
local nan = find(found, "nan")
assert(not found.sound and nan.op == "sqrt" and nan.where:find "examined.lua:46", tostring(found))

-- The page of a forward with 12 layers stays small.
local deep = make { layers = 12, width = 64, heads = 4, context = 64, vocabulary = 50 }
local path = os.tmpname()
th.report(loss_of(deep), path, tokens)
local page = io.open(path):read "a"
os.remove(path)
assert(#page < 3e6 and page:find "</html>", #page)
print(("the page of 12 layers has %d bytes"):format(#page))
