-- llama.lua EXAMPLES [BATCH LENGTH]: a Llama of 1.1 billion parameters in bfloat16 on the first GPU: milliseconds of loss and gradients (2 windows
-- of 2048 tokens), and microseconds a token when one text is written with a cache of 512 positions.
package.path = (arg[1] or "examples") .. "/?.lua;" .. package.path
local th = require "thunder"
local attend, model, train = require "text.attend", require "llama.model", require "text.train"
local batch, length = math.tointeger(arg[2] or 2), math.tointeger(arg[3] or 2048)
local gpu, vocabulary = th.cuda(0), 32000

th.seed(0)
local config = setmetatable({ vocabulary = vocabulary, dropout = 0, context = 512 }, { __index = model.sizes["tinyllama-1.1b"] })
local net = model.make(config):to(th.bfloat16):to(gpu)
local parameters = net:parameters()

local rows = th.randint(0, vocabulary - 1, { batch, length + 1 }):to(gpu)
local step = th.compile(function(tokens)
  local loss = train.loss(net, tokens)
  return loss, th.grad_of(loss, parameters)
end)
local start = th.clock()
local first = step(rows):item()
local first_s = th.clock() - start
for _ = 1, 3 do step(rows) end
step(rows):item()
start = th.clock()
local loss
for _ = 1, 10 do loss = step(rows) end
loss:item()
print(("forward and backward %dx%d: first step %.1f s, loss %.4f; %.1f ms, %d MiB at most"):format(batch, length, first_s, first,
  (th.clock() - start) / 10 * 1e3, th.cuda.max_memory_allocated() >> 20))

net:eval()
local _, like = next(parameters)
local cache = attend.cache(config, like)
local positions = {}
for i = 1, 512 do positions[i] = th.tensor({ i - 1 }):to(gpu) end
for _, mode in ipairs { "default", "reduce-overhead" } do
  local decode = th.compile(function(tokens, at) return net(tokens, at, cache):argmax(-1) end, { mode = mode })
  start = th.clock()
  local token = decode(th.tensor({ { 1 } }):to(gpu), positions[1])
  token:item()
  first_s = th.clock() - start
  for i = 2, 12 do token = decode(token, positions[i]) end
  token:item()
  start = th.clock()
  for i = 13, 212 do token = decode(token, positions[i]) end
  local last = token:item()
  local us = (th.clock() - start) / 200 * 1e6
  print(("decode, mode %s: first token %.1f s; %.0f us a token, the last is %d"):format(mode, first_s, us, last))
end
