-- gpt2.lua EXAMPLES: milliseconds a training step of GPT-2 124M in float32 (batch 8 of 512 tokens, gradients clipped, AdamW) on the first GPU.
package.path = (arg[1] or "examples") .. "/?.lua;" .. package.path
local th = require "thunder"
local model, train = require "gpt2.model", require "text.train"

local net = model.make(setmetatable({ vocabulary = 256, dropout = 0 }, { __index = model.sizes.gpt2 }))
net:to(th.cuda(0))
local parameters = net:parameters()
local optimizer = th.optim.AdamW(parameters, { lr = 1e-3, weight_decay = 0.1 })
local rows = th.randint(0, 255, { 8, 513 }):to(th.cuda(0))
local step = th.compile(function(tokens) return train.update(net, tokens, parameters, optimizer, 1.0) end)

local start = th.clock()
print(("first step: loss %.4f, %.1f s with compiling"):format(step(rows):item(), th.clock() - start))
for _ = 1, 4 do step(rows) end
step(rows):item()
start = th.clock()
local loss
for _ = 1, 20 do loss = step(rows) end
print(("loss %.4f, %.1f ms a step"):format(loss:item(), (th.clock() - start) / 20 * 1e3))
