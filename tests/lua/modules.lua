-- Modules and optimisers: kinds, custom forwards, train and eval, training as one program, checkpoints.
-- covers: bindings/lua/module.c bindings/lua/nn.lua bindings/lua/optim.lua bindings/lua/optimizer.c
local th = require "thunder"
local expect = require "support.expect"
local nn, optim = th.nn, th.optim

th.seed(7)
local x = th.randn(4, 6)
local y = th.tensor { 0, 2, 1, 2 }

local function make()
  local net = nn.Module { fc1 = nn.Linear(6, 8), fc2 = nn.Linear(8, 3, { bias = true }) }
  net.scale = th.tensor { 1.0 }
  function net:forward(input)
    return self.fc2(th.dropout(th.relu(self.fc1(input)), 0.5, self.training)) * self.scale
  end
  return net
end
local net = make()

-- Members: children, tensors by name, parameters always the same tensors.
local params = net:parameters()
assert(params["fc1.weight"].shape[1] == 8 and params.scale and net.fc1.bias:numel() == 8)
net.fc1.bias:fill_(0.25)
expect.values(params["fc1.bias"][1], 0.25)
expect.error(function() return net.fc3 end, "no member 'fc3'", "'fc")
expect.error(function() return nn.Linaer end, "'Linaer'", "'Linear'")
expect.error(function() nn.Linear(6) end, "Linear", "out_features")
expect.error(function() nn.Linear(6, 8, { bais = true }) end, "Linear", "'bais'", "'bias'")
expect.error(function() net.training = false end, "train() and eval()")
expect.error(function() net(th.randn(4, 5)) end, "linear", "5")

-- Eager and compiled agree; a compiled module follows train and eval with one program each.
net:eval()
local f = th.compile(net)
local expected = net(x)
expect.values(f(x), expected:tolist(), 1e-6)
for _ = 1, 3 do
  net:train()
  f(x)
  assert(net.training)
  net:eval()
  expect.values(f(x), expected:tolist(), 1e-6)
end
assert(th.stats(f).misses == 2, "train and eval each compile once")
params["fc2.bias"]:add_(1)
expect.values(f(x), net(x):tolist(), 1e-6)
assert(th.stats(f).misses == 2, "data is no part of the key")

-- Containers and attributes.
local two = nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 2))
assert(two(x).shape[2] == 2 and two[1].weight.shape[2] == 6 and two:parameters()["2.bias"])
expect.error(function() nn.Sequential(nn.Tanh(), 3) end, "child 2 is no module")
two.note = "hello"
assert(two.note == "hello")

-- A kind with inputs of its own, by position and by name; nil where there is no result. What it made below itself is a
-- member.
local attention = nn.MultiheadAttention(6, 2, { batch_first = true })
local sequence = th.randn(2, 5, 6)
local attended, weights = attention(sequence, sequence, sequence)
assert(attended.shape[2] == 5 and weights:sum(-1):sub(1):abs():amax():item() < 1e-6)
local alone, nothing = th.compile(attention)(sequence, sequence, sequence, { need_weights = false })
assert(nothing == nil and (alone - attended):abs():amax():item() < 1e-6)
assert(attention.out_proj.weight.shape[2] == 6 and attention.out_proj == attention.out_proj)
expect.error(function() attention(sequence, sequence) end, "MultiheadAttention", "'value' is missing")
expect.error(function() attention(sequence, sequence, sequence, { need_weight = true }) end, "did you mean 'need_weights'")
expect.error(function() return attention.out_porj end, "no member 'out_porj'")

-- A forward that fails leaves the context usable.
local broken = nn.Module {}
expect.error(function() broken(x) end, "forward")
function broken:forward(input) return input:matmul(input) end
expect.error(function() broken(x) end, "modules.lua:", "matmul")
expect.error(function() th.compile(broken)(x) end, "modules.lua:", "matmul")
function broken:forward(input) return input + 1 end
expect.same(broken(x), x + 1)

-- A training step is one program; lr is a tensor.
net:train()
local opt = optim.AdamW(params, { lr = 1e-2, betas = { 0.9, 0.99 }, weight_decay = 0.01 })
local step = th.compile(function(input, target)
  local loss = th.cross_entropy(net(input), target)
  local grads = th.clip_grad_norm(th.grad_of(loss, params), 1.0)
  opt:step(grads)
  return loss
end)
local first = step(x, y):item()
local schedule = optim.StepLR(opt, { step_size = 100, gamma = 0.5 })
for _ = 1, 60 do
  step(x, y)
  schedule:step()
end
opt.lr = 1e-3
assert(th.stats(step).misses == 1)
expect.values(opt.lr, 1e-3)
expect.values(opt.state.step, 61)
net:eval()
assert(th.cross_entropy(net(x), y):item() < first / 2)
expect.error(function() opt.lrr = 1 end, "lrr")
expect.error(function() return opt.momentm end, "no member 'momentm'")
expect.error(function() opt.lr = "fast" end, "a number, not a string")
expect.error(function() optim.Adamw(params) end, "'Adamw'", "'AdamW'")
expect.error(function() optim.SGD(params, { lrate = 1 }) end, "lrate")

-- The transform form gives gradients in the structure of the parameters.
local loss, grads = th.value_and_grad(function() return th.cross_entropy(net(x), y) end, params)()
assert(loss.ndim == 0 and grads["fc1.weight"].shape[2] == 6)
optim.SGD(params, { lr = 0.1 }):step(grads)

-- Saved and resumed, training goes on bit for bit.
local paths = { os.tmpname(), os.tmpname() }
local function checkpoint(action) action(net, paths[1]) action(opt.state, paths[2]) end
net:train()
checkpoint(function(module, path) module:save(path) end)
local random = th.random_state():clone()
local straight = {}
for i = 1, 3 do straight[i] = step(x, y):item() end
checkpoint(function(module, path) module:load(path) end)
th.random_state():copy_(random)
for i = 1, 3 do assert(step(x, y):item() == straight[i]) end

local fresh = make():load(paths[1])
net:load(paths[1])
expect.same(fresh:eval()(x), net:eval()(x))
expect.error(function() two:load(paths[1]) end, "fc")
expect.error(function() net:load "no/such/file" end, "modules.lua:", "no/such/file")
for _, path in ipairs(paths) do os.remove(path) end

-- Compiled in place: calls of the module, and of its copies, are those of a compiled function.
do
  local net = nn.Sequential { nn.Linear(6, 3), nn.Tanh() }
  local plain = net(x)
  assert(net:compile { cache = "symbolic values" } == net and th.allclose(net(x), plain, 1e-5, 1e-6))
  th.set_stance "fail_on_recompile"
  assert(th.allclose(net(x), plain, 1e-5, 1e-6))
  expect.error(function() net(th.ones(6)) end, "fail_on_recompile")
  th.set_stance "default"
  net[1]:register_forward_hook(function(_, _, output) return output * 0 end)
  assert(th.allclose(net(x), plain * 0))
  assert(th.allclose(net:compile(false)(x), plain * 0))
  local off = th.compiler.disable(function(t) return t:sum():item() > 0 and t * 2 or t end)
  assert(off(th.ones(2)):sum():item() == 4 and th.stats(off).misses == 0)
end

-- A module that closes over itself is collected.
local alive = setmetatable({}, { __mode = "k" })
do
  local loop = nn.Module {}
  local marker = {}
  alive[marker] = true
  function loop:forward(input) return marker and loop and input end
  th.compile(loop)(x)
end
collectgarbage()
collectgarbage()
assert(next(alive) == nil)
