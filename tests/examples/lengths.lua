-- A thousand lengths through the GPT of examples/gpt2, forward and backward: traced at most three times, no kernel compiled after the
-- twentieth new length, with the results of the reference. THUNDER_CACHE_DIR names a folder for this test alone.
package.path = "../examples/?.lua;lua/?.lua;" .. package.path
local th = require "thunder"
local model = require "gpt2.model"

local folder = assert(os.getenv "THUNDER_CACHE_DIR", "THUNDER_CACHE_DIR must name a folder")
os.execute(("rm -rf %q"):format(folder))
local function kernels()
  local list <close> = assert(io.popen(("ls %q 2>/dev/null | wc -l"):format(folder)))
  return list:read "n"
end

th.seed(7)
local net = model.make { layers = 2, width = 32, heads = 4, context = 1024, vocabulary = 50 }
local weights = net:parameters()
local traced = 0
local function step(tokens, targets, positions)
  traced = traced + 1
  return th.cross_entropy(net(tokens, positions):flatten(0, 1), targets:flatten())
end
local f = th.compile(th.value_and_grad(step, weights))
local reference = th.compile(th.value_and_grad(step, weights), { executors = "host", dynamic = false, recompile_limit = 64 })

local function check(a, b, path)
  if th.is_tensor(a) then assert(th.allclose(a, b, 1e-3, 1e-4), path) return end
  for key, child in pairs(a) do check(child, b[key], path .. "." .. tostring(key)) end
end

-- Kernels are made for kinds of lengths: what is short is fused otherwise, and rows of 512 are read otherwise. Some of each come first.
local lengths, early = { 512, 20, 14 }, nil
for i = 1, 1009 do
  local length = 2 + i * 389 % 1009 -- a prime: each comes once
  if #lengths < 1000 and length ~= 512 and length ~= 20 and length ~= 14 then lengths[#lengths + 1] = length end
end
for i, length in ipairs(lengths) do
  local tokens, targets = th.randint(0, 50, { 1, length }), th.randint(0, 50, { 1, length })
  local places = th.arange(length)
  local loss, gradients = f(tokens, targets, places)
  if i == 20 then early = { kernels(), traced } end
  if i % 50 == 1 then
    local before = traced
    local wanted, slopes = reference(tokens, targets, places)
    traced = before
    check(loss, wanted, "loss of length " .. length)
    check(gradients, slopes, "length " .. length)
  end
end
assert(early[1] > 0 and kernels() == early[1], ("%d kernels after 20 lengths, %d after all"):format(early[1], kernels()))
assert(traced <= 3 and traced == early[2], traced)
assert(th.stats(f).misses == #lengths)
