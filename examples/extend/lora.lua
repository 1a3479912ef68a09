-- Low-rank adapters: each Linear of a network gets two small matrices beside its frozen weight; only they are trained,
-- they are saved alone, and they can be merged into the weights again.
--   thunder run examples/extend/lora.lua
local th = require "thunder"
local nn = th.nn

-- The op that the layer is: executors may claim it, and its gradient follows from the decomposition. scale is alpha / rank.
th.op {
  schema = "lora.linear(tensor input, tensor weight, tensor? bias, tensor a, tensor b, float scale) -> tensor",
  doc = "linear(input, weight, bias) + scale * input @ a.T @ b.T.",
  decompose = function(input, weight, bias, a, b, scale)
    return th.linear(input, weight, bias) + th.linear(th.linear(input, a), b) * scale
  end,
}

local lora = {}

local function adapted(linear, rank, alpha)
  local state = linear:state()
  local weight, bias = state.weight, state.bias
  local layer = nn.Module {}
  layer:register_buffer("weight", weight) -- frozen: no parameter any more
  if bias then layer:register_buffer("bias", bias) end
  layer.lora_a = th.randn(rank, weight.shape[2]) / math.sqrt(weight.shape[2])
  layer.lora_b = th.zeros(weight.shape[1], rank) -- at first the layer is what it was
  local scale = alpha / rank
  layer.scale = scale
  function layer:forward(input)
    return th.lora.linear(input, self.weight, bias and self.bias or nil, self.lora_a, self.lora_b, scale)
  end
  return layer
end

-- In place: children that are Linear become adapted ones. Gives back how many.
function lora.apply(net, names, options)
  for _, name in ipairs(names) do net[name] = adapted(net[name], options.rank, options.alpha) end
  return net
end

-- What there is to save, and back.
function lora.state_dict(net)
  local adapters = {}
  for path, tensor in pairs(net:parameters()) do
    if path:find "lora_[ab]$" then adapters[path] = tensor end
  end
  return adapters
end
function lora.load_state_dict(net, adapters)
  local own = lora.state_dict(net)
  for path, tensor in pairs(adapters) do
    if not own[path] then error(("the network has no adapter '%s'"):format(path)) end
    own[path]:copy_(tensor)
  end
end

-- The inverse: the plain network's state, with the adapters in its weights.
function lora.merged_state_dict(net)
  local state, merged = net:state(), {}
  for path, tensor in pairs(state) do
    local layer = path:match "^(.*)%.weight$"
    local a, b = layer and state[layer .. ".lora_a"], layer and state[layer .. ".lora_b"]
    if a then
      merged[path] = tensor + th.matmul(b, a) * net[layer].scale
    elseif not path:find "lora_[ab]$" then
      merged[path] = tensor
    end
  end
  return merged
end

-- ---- a network whose task changes ----

th.seed(1)
local function network()
  local net = nn.Module { up = nn.Linear(16, 32), down = nn.Linear(32, 4) }
  function net:forward(x) return self.down(th.tanh(self.up(x))) end
  return net
end
local base = network()
local x = th.randn(64, 16)
local target = base(x) + 0.5 * th.tanh(th.matmul(x, th.randn(16, 4)))

local before = base(x)
local net = lora.apply(base, { "up", "down" }, { rank = 2, alpha = 4 })
assert((net(x) - before):abs():amax():item() < 1e-6)
local params = net:parameters()
assert(params["up.lora_a"] and not params["up.weight"]) -- only the adapters train

local opt = th.optim.AdamW(params, { lr = 0.02, weight_decay = 0 })
local step = th.compile(function(input, wanted)
  local loss = th.mse_loss(net(input), wanted)
  opt:step(th.grad_of(loss, params))
  return loss
end)
local frozen = net:state()["up.weight"]:clone()
local first, last = step(x, target):item(), nil
for _ = 1, 150 do last = step(x, target):item() end
print(("loss %.4f -> %.4f, training %d numbers"):format(first, last, 2 * (16 + 32) + 2 * (32 + 4)))
assert(last < first / 2 and net:state()["up.weight"]:equal(frozen))

-- A second network gets the adapters alone; a plain one gets the merged weights.
local plain = network()
for path, tensor in pairs(plain:state()) do tensor:copy_(lora.merged_state_dict(net)[path]) end
assert((plain(x) - net(x)):abs():amax():item() < 1e-5)
local saved = {}
for path, tensor in pairs(lora.state_dict(net)) do saved[path] = tensor:clone() end
for _, tensor in pairs(lora.state_dict(net)) do tensor:zero_() end
assert((net(x) - before):abs():amax():item() < 1e-6)
lora.load_state_dict(net, saved)
assert((plain(x) - net(x)):abs():amax():item() < 1e-5)
