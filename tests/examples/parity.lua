-- examples/gpt2 and examples/llama against PyTorch: the same weights give the same logits and, step by step, the same
-- losses. reference/write.py wrote what is compared, here and, for a whole size, into a folder of the user's choice:
--   thunder run examples/parity.lua [MODEL SIZE FOLDER], in tests/
package.path = "../examples/?.lua;" .. package.path
local th = require "thunder"
local train = require "text.train"
local weights = require "text.weights"

local LOGITS, LOSSES = 1e-4, 1e-3
local committed = "examples/reference"
-- What write.py makes for the committed files.
local small = { layers = 2, width = 64, heads = 4, context = 24, vocabulary = 64, key_heads = 2, inner = 96, base = 10000.0, eps = 1e-5 }

local function farthest(a, b) return (a - b):abs():amax():item() end

local function compare(name, config, folder)
  local model = require(name .. ".model")
  local expected = th.data.safetensors(("%s/%s_expected.safetensors"):format(folder, name))
  local net = model.make(config)
  weights.fill(model, net, weights.read(model, { ("%s/%s_weights.safetensors"):format(folder, name) }))

  local rows = expected.rows
  local length = rows.shape[3] - 1
  local forward = th.compile(net)
  local apart = farthest(forward(rows[{ 1, {}, { 1, length } }]:contiguous()), expected.logits)
  assert(apart < LOGITS, ("%s: logits differ by %g"):format(name, apart))

  local parameters = net:parameters()
  local optimizer = th.optim.AdamW(parameters, { lr = 1e-3 })
  local step = th.compile(function(batch) return train.update(net, batch, parameters, optimizer) end)
  local drift = 0
  for i = 1, rows.shape[1] do
    local loss = step(rows[i]:contiguous()):item()
    drift = math.max(drift, math.abs(loss - expected.losses[i]:item()))
  end
  assert(drift < LOSSES, ("%s: losses differ by %g"):format(name, drift))
  assert(th.stats(step).misses == 1)
  assert(folder ~= committed or expected.losses[-1]:item() < expected.losses[1]:item() - 0.3, "these losses hardly fall")
  print(("%s: logits within %.2g, the losses of %d steps within %.2g"):format(name, apart, rows.shape[1], drift))
end

local name, size, folder = table.unpack(arg)
if name then
  local vocabulary = { gpt2 = 50257, llama = 49152 }
  compare(name, setmetatable({ vocabulary = vocabulary[name] }, { __index = require(name .. ".model").sizes[size] }), folder)
else
  for _, which in ipairs { "gpt2", "llama" } do compare(which, small, committed) end
end
