-- losses.lua EXAMPLES FOLDER: the losses of 50 training steps of GPT-2 (124M, each step 4 other rows of 256 tokens) on the first GPU, in float32,
-- in bfloat16 and by autocast, each with a constant learning rate of 3e-4 and with one that rises to it. Leaves weights, rows and losses in FOLDER
-- for losses.py, which trains the same in PyTorch and compares.
package.path = (arg[1] or "examples") .. "/?.lua;" .. package.path
local th = require "thunder"
local model, train, autocast = require "gpt2.model", require "text.train", require "text.autocast"
local folder = arg[2] or "."
local STEPS, BATCH, LENGTH, VOCABULARY, RATE = 50, 4, 256, 256, 3e-4

th.seed(0)
local start = model.make(setmetatable({ vocabulary = VOCABULARY, dropout = 0 }, { __index = model.sizes["gpt2"] }))
local state = start:state_dict()
-- Rows that can be learnt: each token is the one before it, plus 1 to 3.
local steps = th.randint(1, 3, { STEPS * BATCH, LENGTH + 1 })
local rows = th.remainder(th.cumsum(steps, 1), VOCABULARY):view(STEPS, BATCH, LENGTH + 1)
th.save(state, folder .. "/weights.safetensors")

local kept = { rows = rows }
local function losses(name, rises)
  local cast = name == "autocast"
  local net = model.make(setmetatable({ vocabulary = VOCABULARY, dropout = 0 }, { __index = model.sizes["gpt2"] }))
  net:load_state_dict(state)
  net:to(cast and th.float32 or th[name]):to(th.cuda(0))
  if cast then autocast(net) end
  local parameters = net:parameters()
  local optimizer = th.optim.AdamW(parameters, { lr = RATE, weight_decay = 0.1 })
  local step = th.compile(function(tokens) return train.update(net, tokens, parameters, optimizer, 1.0) end)
  local out = {}
  for i = 1, STEPS do
    if rises then optimizer.lr = RATE * i / STEPS end
    out[i] = step(rows[i]:to(th.cuda(0))):item()
  end
  return out
end

for _, name in ipairs { "float32", "bfloat16", "autocast" } do
  for _, schedule in ipairs { "constant", "rising" } do
    local found = losses(name, schedule == "rising")
    kept[name .. " " .. schedule] = th.tensor(found)
    print(("%s, %s rate: loss %.6f, after 10 steps %.6f, after %d %.6f"):format(name, schedule, found[1], found[11], STEPS - 1, found[STEPS]))
  end
end
th.save(kept, folder .. "/losses.safetensors")
