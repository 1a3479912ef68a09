-- Optimisers: options by position, groups of parameters, schedules of several rates.
local th = require "thunder"
local expect = require "support.expect"
local nn, optim = th.nn, th.optim

local function ones() return th.tensor { 1.0 } end
local function near(a, b) return math.abs(a - b) < 1e-9 end

-- lr by position, as in PyTorch; the others too, or by name behind it.
local p = ones()
optim.SGD({ p }, 0.25):step { ones() }
expect.values(p, { 0.75 })
assert(optim.SGD({ p }, 0.25, 0.9).param_groups[1].momentum == 0.9)
assert(optim.SGD({ p }, 0.25, { momentum = 0.5 }).param_groups[1].momentum == 0.5)
assert(optim.AdamW({ p }, 1e-2, { 0.8, 0.9 }).param_groups[1].lr == 1e-2)
expect.error(function() optim.SGD({ p }, 0.1, { lr = 0.2 }) end, "SGD: option 'lr' is given by position and by name")
expect.error(function() optim.SGD({ p }, "fast") end, "SGD", "lr")

-- Groups with options of their own; a module stands for its parameters.
local net = nn.Module { body = nn.Linear(2, 2), head = nn.Linear(2, 1) }
local opt = optim.SGD({ { params = net.body }, { params = { scale = ones() }, lr = 0.5, weight_decay = 0.1 } }, { lr = 0.25 })
assert(#opt.param_groups == 2 and opt.param_groups[1].lr == 0.25 and opt.param_groups[2].weight_decay == 0.1)
opt:add_param_group { params = { last = ones() } }
assert(#opt.param_groups == 3 and opt.param_groups[3].lr == 0.25)
opt.param_groups[3].lr = 0.125
assert(opt.param_groups[3].lr == 0.125)
expect.error(function() opt.param_groups[3].weight_decay = -1 end, "weight_decay must not be negative")
expect.error(function() opt.lr = 1 end, "each of the 3 parameter groups has its own 'lr'")
expect.error(function() opt:add_param_group { lr = 1 } end, "a parameter group is a table { params = parameters")
expect.error(function() opt:add_param_group { params = { last = ones() } } end, "an earlier group has a parameter 'last'")
expect.error(function() optim.SGD { { params = net.body, lrr = 1 } } end, "unknown option 'lrr'")

-- One compiled step over all groups; gradients in one table, whatever the groups are.
local x, y = th.randn(8, 2), th.randn(8, 1)
function net:forward(input) return self.head(th.tanh(self.body(input))) end
local params = net:parameters()
local head, body = {}, {}
for name, tensor in pairs(params) do (name:find("^head") and head or body)[name] = tensor end
local adam = optim.Adam({ { params = head, lr = 0.05 }, { params = body, lr = 0 } })
local step = th.compile(function(input, target)
  local loss = nn.MSELoss()(net(input), target)
  adam:step(th.grad_of(loss, params))
  return loss
end)
local fixed, first = params["body.weight"]:tolist(), step(x, y):item()
for _ = 1, 20 do step(x, y) end
expect.values(params["body.weight"], fixed)
assert(step(x, y):item() < first and th.stats(step).misses == 1)
adam.param_groups[2].lr = 0.05
step(x, y)
assert(params["body.weight"]:tolist()[1][1] ~= fixed[1][1] and th.stats(step).misses == 1)

-- Schedules under PyTorch's name, options by position, each group from its own rate.
local both = optim.SGD({ { params = { a = ones() }, lr = 1 }, { params = { b = ones() }, lr = 0.1 } })
local schedule = optim.lr_scheduler.StepLR(both, 2, 0.5)
for _, rates in ipairs { { 1, 0.1 }, { 1, 0.1 }, { 0.5, 0.05 } } do
  local last = schedule:get_last_lr()
  assert(#last == 2 and near(last[1], rates[1]) and near(last[2], rates[2]) and near(both.param_groups[2].lr, rates[2]))
  schedule:step()
end
assert(optim.lr_scheduler.CosineAnnealingLR == optim.CosineAnnealingLR)

-- The state of all groups is saved and loaded.
local path = os.tmpname()
both:step { a = ones(), b = ones() }
both.state:save(path)
local other = optim.SGD({ { params = { a = ones() } }, { params = { b = ones() } } })
other.state:load(path)
os.remove(path)
assert(near(other.param_groups[2].lr, 0.05) and other.param_groups[2].step == 1)

-- ---- steps that leave a parameter alone ----

local function adam_of(values)
  local params = {}
  for i, value in ipairs(values) do params[i] = th.tensor { value } end
  return params, th.optim.Adam(params, { lr = 0.1 })
end
local both, of_both = adam_of { 1.5, 2.5 }
local alone, of_alone = adam_of { 2.5 }
of_both:step { th.tensor { 0.5 }, false }
local resumed = th.optim.Adam(both, { lr = 0.1 })
resumed:load_state_dict(of_both:state_dict())
assert(resumed["skipped.1"]:item() == 1)
resumed:step { th.tensor { 0.5 }, th.tensor { -0.25 } }
of_alone:step { th.tensor { -0.25 } }
assert(both[2]:item() == alone[1]:item())  -- its first step
