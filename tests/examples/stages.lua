-- stages.lua [DEVICE]: every stage of a training step of the GPT of examples/gpt2 has a text, on the CPU or another device, and the step
-- gives the same loss without each stage that may be left out.
package.path = "../examples/?.lua;" .. package.path
local th = require "thunder"
local model = require "gpt2.model"

local device = arg and arg[1] or "cpu"
local tokens, targets = th.randint(0, 50, { 2, 12 }):to(device), th.randint(0, 50, { 2, 12 }):to(device)

-- The losses of two steps, and the step.
local function train(options)
  th.seed(7)
  local net = model.make { layers = 2, width = 32, heads = 4, context = 16, vocabulary = 50 }:to(device)
  local optimizer = th.optim.AdamW(net:parameters(), { lr = 1e-2 })
  local gradient = th.value_and_grad(function() return th.cross_entropy(net(tokens):flatten(0, 1), targets:flatten()) end, net:parameters())
  local step = th.compile(function()
    local loss, gradients = gradient()
    optimizer:step(gradients)
    return loss
  end, options)
  return { step():item(), step():item() }, step
end

local losses, step = train {}
assert(losses[2] < losses[1], "it trains")
local count = 0
for name in th.explain(step, "stages"):gmatch "([%w_]+): [%d.]+ ms" do
  local text = th.explain(step, name)
  assert(#text > 0 and text:sub(-1) == "\n", name .. " has no text")
  count = count + 1
  local options = { disable_passes = { name } }
  local left_out, result, without = pcall(train, options)
  if left_out then
    assert(math.abs(result[2] - losses[2]) < 1e-4, ("without %s the loss is %g, not %g"):format(name, result[2], losses[2]))
    assert(th.explain(without, name):find("was left out", 1, true), name)
  else
    assert(tostring(result):find(("pass '%s' is required"):format(name), 1, true), tostring(result))
  end
end
assert(count >= 24, count .. " stages")
print(count .. " stages on " .. device)
