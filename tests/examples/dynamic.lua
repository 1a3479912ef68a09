-- The GPT of examples/gpt2 over texts of many lengths, forward and backward: traced at the first alone, with the results of plain sizes.
package.path = "../examples/?.lua;lua/?.lua;" .. package.path
local th = require "thunder"
local model = require "gpt2.model"

th.seed(7)
local config = { layers = 2, width = 32, heads = 4, context = 64, vocabulary = 50 }
local net = model.make(config)
local weights = net:parameters()

local traced = 0
local function step(tokens, targets, positions)
  traced = traced + 1
  local logits = net(tokens, positions)
  return th.cross_entropy(logits:flatten(0, 1), targets:flatten())
end
local lengths = { 5, 9, 17, 2, 33, 9, 40, 5 }
local function results(options)
  local f = th.compile(th.value_and_grad(step, weights), options)
  local out = {}
  traced = 0
  for i, length in ipairs(lengths) do
    th.seed(i)
    local tokens, targets = th.randint(0, config.vocabulary, { 2, length }), th.randint(0, config.vocabulary, { 2, length })
    local loss, gradients = f(tokens, targets, th.arange(length))
    out[i] = { loss = loss, gradients = gradients }
  end
  return out, th.stats(f)
end

local plain = results { recompile_limit = 64, dynamic = false }
assert(traced == 6, traced)
local function same(a, b, path)
  if th.is_tensor(a) then assert(a:equal(b), path) return end
  for key, child in pairs(a) do same(child, b[key], path .. "." .. tostring(key)) end
end
for _, options in ipairs { { dynamic = true }, { recompile_limit = 2 } } do
  local varied, stats = results(options)
  assert(traced <= 3, traced) -- until it is known that the batch is looked at
  assert(stats.misses == 6 and stats.hits == 2)
  for i in ipairs(lengths) do same(plain[i], varied[i], "length " .. lengths[i]) end
end
