-- gpt2.lua EXAMPLES [SIZE BATCH LENGTH VOCABULARY [WHAT]]: milliseconds a training step of GPT-2 (124M, 8 windows of 512 bytes) on the first GPU, in
-- float32, in float32 with products in TF32, in bfloat16, that as a CUDA graph, by autocast, and in bfloat16 on a tape, op by op: gradients
-- clipped, AdamW. WHAT: one of them by the name below.
package.path = (arg[1] or "examples") .. "/?.lua;" .. package.path
local th = require "thunder"
local model, train, autocast = require "gpt2.model", require "text.train", require "text.autocast"

local size, batch = arg[2] or "gpt2", math.tointeger(arg[3] or 8)
local length, vocabulary = math.tointeger(arg[4] or 512), math.tointeger(arg[5] or 256)

-- A step that is not compiled.
local function on_a_tape(net, parameters, optimizer)
  return function(tokens)
    local loss, gradients = th.tape(function()
      local loss = train.loss(net, tokens)
      return loss, th.grad_of(loss, parameters)
    end)
    optimizer:step((th.clip_grad_norm(gradients, 1.0)))
    return loss
  end
end

local function measure(dtype, precision, mode, cast, eager)
  th.seed(0)
  collectgarbage()
  th.cuda.empty_cache()
  th.cuda.reset_peak_memory_stats()
  local net = model.make(setmetatable({ vocabulary = vocabulary, dropout = 0 }, { __index = model.sizes[size] }))
  net:to(dtype):to(th.cuda(0))
  if cast then autocast(net) end
  local parameters = net:parameters()
  local optimizer = th.optim.AdamW(parameters, { lr = 1e-3, weight_decay = 0.1 })
  local rows = th.randint(0, vocabulary - 1, { batch, length + 1 }):to(th.cuda(0))
  local step = eager and on_a_tape(net, parameters, optimizer) or th.compile(function(tokens) return train.update(net, tokens, parameters, optimizer, 1.0) end,
    { float32_matmul_precision = precision, mode = mode })
  local start = th.clock()
  local first = step(rows):item()
  local first_s = th.clock() - start
  for _ = 1, 4 do step(rows) end
  step(rows):item()
  start = th.clock()
  local loss
  for _ = 1, 20 do loss = step(rows) end
  local last = loss:item()
  print(("%s %dx%d, %s, products %s%s: first step %.1f s, loss %.4f; after 25 loss %.4f, %.1f ms a step, %d MiB at most"):format(
    size, batch, length, tostring(dtype), precision, mode and ", mode " .. mode or cast and ", autocast to bfloat16" or eager and ", op by op" or "", first_s, first, last, (th.clock() - start) / 20 * 1e3,
    th.cuda.max_memory_allocated() >> 20))
end

local kinds = {
  { "float32", th.float32, "highest" }, { "tf32", th.float32, "high" }, { "bfloat16", th.bfloat16, "highest" },
  { "graph", th.bfloat16, "highest", "reduce-overhead" }, { "autocast", th.float32, "highest", nil, true },
  { "eager", th.bfloat16, "highest", nil, nil, true },
}
for _, kind in ipairs(kinds) do
  if not arg[6] or arg[6] == kind[1] then measure(table.unpack(kind, 2, 6)) end
end
