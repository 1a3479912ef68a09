-- th.optim: optimisers, and schedules of their learning rate.
--   local opt = optim.AdamW(net:parameters(), { lr = 1e-3 })
--   opt:step(grads)    opt.lr = 3e-4    local schedule = optim.CosineAnnealingLR(opt, { T_max = 100 })
local th, core = ...
local optim = {}
th.optim = optim

for _, row in ipairs(core.json(core.describe("optimizers"))) do
  optim[row.name] = function(parameters, options)
    if core.is_module(parameters) then parameters = parameters:parameters() end
    return core.optimizer(row.name, parameters, options)
  end
end
for _, row in ipairs(core.json(core.describe("schedules"))) do
  optim[row.name] = function(optimizer, options) return core.schedule(row.name, optimizer, options) end
end
setmetatable(optim, {
  __metatable = false,
  __index = function(_, name)
    core.refuse(("optim has nothing named '%s'%s"):format(tostring(name), core.suggest(tostring(name), optim)))
  end,
})

-- Members of an object whose numbers are tensors of its state, a module.
local function define(type_name, methods, state_of)
  local mt = core.metatable(type_name)
  methods.close = mt.__close
  function mt.__index(self, key)
    if methods[key] then return methods[key] end
    if key == "state" then return state_of(self) end
    local tensors = core.state(state_of(self))
    if tensors[key] then return tensors[key] end
    local names = { state = true }
    for _, group in ipairs { methods, tensors } do
      for name in pairs(group) do names[name] = true end
    end
    core.refuse(("%s has no member '%s'%s"):format(type_name, tostring(key), core.suggest(tostring(key), names)))
  end
  return mt
end

-- step(gradients): in the structure of the parameters. Inside a traced function it becomes part of the program.
define("optimizer", { step = core.step }, core.optimizer_state).__newindex = core.set_number
define("schedule", { step = core.schedule_step }, core.schedule_state)

-- All gradients scaled so that the norm of them together is at most max_norm; also returns the norm before.
function th.clip_grad_norm(gradients, max_norm) return core.clip(gradients, max_norm, true) end
-- Each element bounded to [-bound, bound].
function th.clip_grad_value(gradients, bound) return (core.clip(gradients, bound, false)) end
