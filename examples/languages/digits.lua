-- Trains an MLP on handwritten digits: digits.lua DIGITS.csv. What the programs beside it do in their languages.
local th = require "thunder"
local epochs = 5

local rows = th.data.csv(arg[1])
local images, labels = rows:slice(1, 0, 64) / 16, rows:slice(1, 64, 65):squeeze(1):to "int64"
local training = { images:slice(0, 0, 1500), labels:slice(0, 0, 1500) }
local held_out = { images:slice(0, 1500, 1797), labels:slice(0, 1500, 1797) }

local function network()
  return th.nn.Sequential { th.nn.Linear(64, 128), th.nn.ReLU(), th.nn.Linear(128, 10) }
end

th.seed(42)
local net = network()
local params = net:parameters()
local opt = th.optim.AdamW(params, { lr = 4e-3 })
local batches = th.data.batches(training, { size = 32, shuffle = true, drop_last = true, seed = 2, epochs = epochs })
local schedule = th.optim.CosineAnnealingLR(opt, { T_max = #batches })

local step = th.compile(function(x, y) -- forward, loss, gradients and update: one program
  local loss = th.cross_entropy(net(x), y)
  opt:step((th.clip_grad_norm(th.grad_of(loss, params), 1.0)))
  return loss
end)

for i, x, y in batches do
  local loss = step(x, y)
  schedule:step()
  if i % 46 == 0 then print(("epoch %d: loss %.4f, lr %.6f"):format(i // 46, loss:item(), schedule:get_last_lr()[1])) end
end

local folder = os.tmpname()
net:save(folder .. ".net")
opt.state:save(folder .. ".opt")
local again = network():load(folder .. ".net")
local resumed = th.optim.AdamW(again, { lr = 1.0 })
resumed.state:load(folder .. ".opt")
resumed.lr = 1e-4 -- compiles nothing
print(("resumed at step %d, lr %.4f"):format(resumed.state.step:item(), resumed.lr:item()))
for _, name in ipairs { folder, folder .. ".net", folder .. ".opt" } do os.remove(name) end

local position = batches:state() -- and the order of the data
local _, _, first = batches()
batches:set_state(position)
local _, _, again_first = batches()
print(("the same batch again: %d of 32 labels"):format(first:eq(again_first):sum():item()))
print(("clipped to %.1f"):format(th.clip_grad_value({ images }, 0.5)[1]:amax():item()))

local predict = th.compile(function(x) return again(x):argmax(-1) end)
local right = predict(held_out[1]):eq(held_out[2]):sum():item()
print(("%d of %d right, %d programs"):format(right, #held_out[2], th.stats(step).misses))
