-- ModuleList, ModuleDict, ParameterList, ParameterDict, state dicts, nn.init, layers that hold others, schedules of schedules.
local th = require "thunder"
local expect = require "support.expect"
local nn, optim = th.nn, th.optim
local s = optim.lr_scheduler

th.seed(3)
local function keys(map)
  local names = {}
  for name in pairs(map) do names[#names + 1] = name end
  table.sort(names)
  return table.concat(names, " ")
end

-- ---- containers ----

local list = nn.ModuleList { nn.Linear(2, 3), nn.Tanh() }
list:append(nn.Linear(3, 1)):extend { nn.ReLU(), nn.Sigmoid() }
assert(#list == 5 and list[3].out_features == 1 and list[-1] == list[5])
local half = list[{ 1, 5, 2 }]
assert(#half == 3 and half[2] == list[3] and tostring(half):find "^ModuleList")
expect.error(function() list(th.ones(1, 2)) end, "ModuleList", "forward")
expect.error(function() list:append(3) end, "what a ModuleList holds is a module")
expect.error(function() return list[{ 1, 5, 0 }] end, "must be positive, got 0")
local net = nn.Module { layers = list }
function net:forward(x)
  for _, layer in ipairs(self.layers) do x = layer(x) end
  return x
end
assert(net(th.ones(4, 2)).shape[2] == 1)
assert(keys(net:state_dict()) == "layers.0.bias layers.0.weight layers.2.bias layers.2.weight")

local dict = nn.ModuleDict { fc = nn.Linear(2, 3), act = nn.ReLU() }
assert(dict.fc.in_features == 2 and #dict:children() == 2)
expect.error(function() nn.ModuleDict { 3 } end, "members have names, got 1")
expect.error(function() nn.ModuleDict { a = 3 } end, "'a' is no module")

local held = nn.ParameterList { th.ones(2), th.zeros(3) }
held:append(th.ones(1))
assert(#held == 3 and held[2].shape[1] == 3 and held[-1].shape[1] == 1 and keys(held:parameters()) == "0 1 2")
expect.error(function() return held[4] end, "index 4 is out of range")
local named = nn.ParameterDict { scale = th.ones(2) }
assert(named.scale.shape[1] == 2 and keys(nn.Module { held = named }:parameters()) == "held.scale")

-- ---- state dicts ----

local a, b = nn.Linear(2, 3), nn.Linear(2, 3)
b:load_state_dict(a:state_dict())
expect.same(a.weight, b.weight)
assert(a.weight ~= b.weight, "the tensors are its own")
expect.error(function() b:load_state_dict { weight = th.ones(2, 2), bias = th.ones(3) } end, "weight is [2, 2] in the table, [3, 2]")
expect.error(function() b:load_state_dict { weight = th.ones(3, 2) } end, "missing: bias")
expect.error(function() b:load_state_dict { weight = th.ones(3, 2), bias = th.ones(3), x = th.ones(1) } end, "unexpected: x")
expect.same(a.bias, b.bias)
local missing, unexpected = b:load_state_dict({ weight = th.ones(3, 2), x = th.ones(1) }, false)
assert(missing[1] == "bias" and unexpected[1] == "x" and b.weight:sum():item() == 6)

-- ---- first values ----

local w = th.zeros(60, 50)
local function spread(t) return th.std(t):item() end
assert(nn.init.uniform_(w, -2, 2) == w and math.abs(spread(w) - 2 / math.sqrt(3)) < 0.05)
assert(math.abs(spread(nn.init.normal_(w, 1, 0.5)) - 0.5) < 0.03 and math.abs(w:mean():item() - 1) < 0.05)
assert(math.abs(spread(nn.init.xavier_uniform_(w)) - math.sqrt(2 / 110)) < 0.01)
assert(math.abs(spread(nn.init.xavier_normal_(w, 2)) - 2 * math.sqrt(2 / 110)) < 0.02)
assert(math.abs(spread(nn.init.kaiming_uniform_(w, 0, "fan_in", "relu")) - math.sqrt(2 / 50)) < 0.01)
assert(math.abs(spread(nn.init.kaiming_normal_(w, 0, "fan_out", "relu")) - math.sqrt(2 / 60)) < 0.01)
nn.init.trunc_normal_(w, 0, 1, -1, 1)
assert(w:abs():amax():item() <= 1 and math.abs(spread(w) - 0.54) < 0.03)
nn.init.orthogonal_(w)
expect.values(th.matmul(th.transpose(w, 0, 1), w), th.eye(50):tolist(), 1e-5)
expect.values(nn.init.eye_(th.zeros(2, 3)), { { 1, 0, 0 }, { 0, 1, 0 } })
assert(nn.init.constant_(w, 2):sum():item() == 6000 and nn.init.zeros_(w):sum():item() == 0 and nn.init.ones_(w):sum():item() == 3000)
expect.error(function() nn.init.xavier_uniform_(th.ones(3)) end, "at least two dims")
expect.error(function() return nn.init.xavier_unifrom_ end, "did you mean 'xavier_uniform_'")

-- ---- layers that hold others ----

local lstm = nn.LSTM(3, 4, { num_layers = 2 })
local y, state = lstm(th.randn(5, 2, 3))
assert(y.shape[3] == 4 and #state == 2 and table.concat(state[1].shape, " ") == "2 2 4")
local again = lstm(th.randn(5, 2, 3), state)
assert(again.shape[1] == 5)
local encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 2, nn.LayerNorm(8))
encoder:eval()
assert(encoder(th.randn(5, 1, 8)).shape[3] == 8 and #encoder.layers == 2 and encoder.layers[1] ~= encoder.layers[2])
local whole = nn.Transformer { d_model = 8, nhead = 2, num_encoder_layers = 1, num_decoder_layers = 1, dim_feedforward = 16 }
assert(whole(th.randn(4, 1, 8), th.randn(3, 1, 8)).shape[1] == 3 and whole.encoder.layers[1].linear1.out_features == 16)

-- ---- optimisers and schedules ----

for _, kind in ipairs { "RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam", "ASGD", "Rprop", "Lion", "Muon" } do
  local p = { w = th.ones(2, 2) }
  local opt = optim[kind](p)
  opt:step { w = th.ones(2, 2) }
  assert(p.w[{ 1, 1 }]:item() < 1, kind)
end
local function sgd() return optim.SGD({ w = th.ones(1) }, { lr = 0.8 }) end
local function rates(opt, schedule, metrics)
  local out = {}
  for i = 1, 5 do
    out[i] = opt.lr:item()
    if metrics then schedule:step(metrics[i]) else schedule:step() end
  end
  return out
end
local function same(got, wanted)
  for i, value in ipairs(wanted) do assert(math.abs(got[i] - value) < 1e-12, ("%d: %s, not %s"):format(i, got[i], value)) end
end
local opt = sgd()
same(rates(opt, s.SequentialLR(opt, { s.ConstantLR(opt, 0.5, 2), s.ExponentialLR(opt, 0.5) }, { 2 })), { 0.4, 0.4, 0.8, 0.4, 0.2 })
opt = sgd()
same(rates(opt, s.ChainedScheduler { s.ConstantLR(opt, 0.5, 2), s.ExponentialLR(opt, 0.5) }), { 0.4, 0.2, 0.2, 0.1, 0.05 })
opt = sgd()
same(rates(opt, s.LambdaLR(opt, function(step) return 1 / (step + 1) end)), { 0.8, 0.4, 0.8 / 3, 0.2, 0.16 })
opt = sgd()
same(rates(opt, s.MultiplicativeLR(opt, function() return 0.5 end)), { 0.8, 0.4, 0.2, 0.1, 0.05 })
opt = sgd()
local plateau = s.ReduceLROnPlateau(opt, { factor = 0.5, patience = 1 })
same(rates(opt, plateau, { 1, 1, 1, 1, 1 }), { 0.8, 0.8, 0.8, 0.4, 0.4 })
expect.error(function() plateau:step() end, "needs the metric")
expect.error(function() s.StepLR(opt, 2):step(1) end, "takes no metric")
expect.error(function() s.LambdaLR(opt, 3) end, "a function")
