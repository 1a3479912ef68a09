-- th.optim: optimisers, and schedules of their learning rate.
--   local opt = optim.AdamW(net:parameters(), { lr = 1e-3 })            local sgd = optim.SGD(net, 0.1)
--   opt:step(grads)    opt.lr = 3e-4    local schedule = optim.lr_scheduler.CosineAnnealingLR(opt, { T_max = 100 })
--   optim.AdamW({ { params = net.head, lr = 1e-2 }, { params = net.body } }, { lr = 1e-3 })
local th, core = ...
local optim, lr_scheduler = {}, {}
th.optim = optim
local kinds = setmetatable({}, { __mode = "k" }) -- of schedules

-- Options by position in the order of the rows, by name in a table at the end, or both.
local function options_of(who, row, ...)
  local given = table.pack(...)
  local last, options = given[given.n], {}
  if type(last) == "table" and #last == 0 then
    given.n = given.n - 1
    for name, value in pairs(last) do options[name] = value end
  end
  for i = 1, given.n do
    if not row.options[i] then core.refuse(("%s: takes at most %d options, got %d"):format(who, #row.options, given.n)) end
    local name = row.options[i].name
    if options[name] ~= nil then core.refuse(("%s: option '%s' is given by position and by name"):format(who, name)) end
    options[name] = given[i]
  end
  return options
end

local function document(f, row)
  local options, lines = {}, { row.doc }
  for i, option in ipairs(row.options) do
    options[i] = option.name .. (option.default ~= "" and "=" .. option.default or "")
    lines[#lines + 1] = ("%s: %s"):format(option.name, option.doc)
  end
  core.documented[f] = ("optim.%s(%s)\n    %s"):format(row.name, table.concat(options, ", "), table.concat(lines, "\n    "))
end

local function tensors_of(parameters) return core.is_module(parameters) and parameters:parameters() or parameters end

-- Adds a group { params = parameters, lr = 0.1, ... }.
local function add_group(optimizer, group)
  if type(group) ~= "table" or group.params == nil then
    core.refuse("a parameter group is a table { params = parameters, lr = ... }")
  end
  local options = {}
  for name, value in pairs(group) do
    if name ~= "params" then options[name] = value end
  end
  core.add_group(optimizer, tensors_of(group.params), options)
end

for _, row in ipairs(core.json(core.describe("optimizers"))) do
  optim[row.name] = function(parameters, ...)
    if parameters == nil then core.refuse(row.name .. ": parameters are missing: a module, or a table of tensors") end
    local options = options_of(row.name, row, ...)
    local first = type(parameters) == "table" and parameters[1]
    if type(first) ~= "table" or first.params == nil then return core.optimizer(row.name, tensors_of(parameters), options) end
    local optimizer = core.optimizer(row.name, nil, options)
    for _, group in ipairs(parameters) do add_group(optimizer, group) end
    return optimizer
  end
  document(optim[row.name], row)
end
local function schedule_of(row, of, ...)
  local schedule = core.schedule(row.name, of, options_of(row.name, row, ...))
  kinds[schedule] = row.name
  return schedule
end
-- SequentialLR(optimizer, { a, b }, { 10 }) and ChainedScheduler { a, b }: of schedules.
for _, row in ipairs(core.json(core.describe("schedules"))) do
  optim[row.name] = function(of, ...)
    if row.name == "SequentialLR" then return schedule_of(row, ...) end
    return schedule_of(row, of, ...)
  end
  lr_scheduler[row.name] = optim[row.name]
  document(optim[row.name], row)
end

-- ---- schedules that call a function ----
-- th.optim.LambdaLR(optimizer, f): the first learning rate times f(step), and of th.optim.MultiplicativeLR(optimizer, f) the
-- last one times f(step); f is a function, or a list of one for each group.

local functions = setmetatable({}, { __mode = "k" }) -- of such schedules: { optimizer, list, rate }

local function rates_of(optimizer, name)
  local rates = {}
  for i = 1, core.group_count(optimizer) do rates[i] = core.get_number(optimizer, ("param_groups.%d.%s"):format(i - 1, name)) end
  return rates
end
local function write_rates(schedule, rates)
  local own = functions[schedule]
  local step = math.tointeger(core.state(core.schedule_state(schedule)).step:item())
  local first = rates_of(own.optimizer, "initial_lr")
  for i, f in ipairs(own.list) do
    core.set_number(own.optimizer, ("param_groups.%d.lr"):format(i - 1), own.rate(first[i], rates[i], step, f))
  end
end
local function computed(name, rate, doc)
  optim[name] = function(optimizer, f)
    local schedule, list = core.schedule("ConstantLR", optimizer, { factor = 1.0, total_iters = 1 }), f
    if type(f) == "function" then
      list = {}
      for i = 1, core.group_count(optimizer) do list[i] = f end
    elseif type(f) ~= "table" or #f ~= core.group_count(optimizer) then
      core.refuse(("%s: a function, or a list of one for each of %d parameter groups, was expected"):format(name, core.group_count(optimizer)))
    end
    functions[schedule], kinds[schedule] = { optimizer = optimizer, list = list, rate = rate }, name
    write_rates(schedule, rates_of(optimizer, "lr"))
    return schedule
  end
  lr_scheduler[name] = optim[name]
  core.documented[optim[name]] = ("optim.%s(optimizer, f)\n    %s"):format(name, doc)
end
computed("LambdaLR", function(first, _, step, f) return first * f(step) end, "The first learning rate times f(step).")
computed("MultiplicativeLR", function(_, last, step, f) return step == 0 and last or last * f(step) end,
  "The learning rate times f(step) at each step.")

local function step_schedule(schedule, ...)
  local own = functions[schedule]
  local rates = own and rates_of(own.optimizer, "lr")
  core.schedule_step(schedule, ...)
  if own then write_rates(schedule, rates) end
end

optim.lr_scheduler = core.strict(lr_scheduler, "optim.lr_scheduler")
core.strict(optim, "optim")

-- Members of an object whose numbers are tensors of its state, a module. `complete` makes what is loaded of what is given.
local function define(type_name, methods, state_of, properties, complete)
  local mt = core.metatable(type_name)
  methods.close = mt.__close
  function methods.state_dict(self) return core.state(state_of(self)) end
  function methods.load_state_dict(self, given) state_of(self):load_state_dict(complete and complete(self, given) or given) end
  function mt.__index(self, key)
    if methods[key] then return methods[key] end
    if properties[key] then return properties[key](self) end
    if key == "state" then return state_of(self) end
    local tensors = core.state(state_of(self))
    if tensors[key] then return tensors[key] end
    local names = { state = true }
    for _, group in ipairs { methods, properties, tensors } do
      for name in pairs(group) do names[name] = true end
    end
    core.refuse(("%s has no member '%s'%s"):format(type_name, tostring(key), core.suggest(tostring(key), names)))
  end
  return mt
end

-- ---- parameter groups ----

local group_type = { __metatable = false }
local group_of = setmetatable({}, { __mode = "k" })
-- group.lr, group.weight_decay: numbers; of these lr and step can be set.
function group_type.__index(group, name)
  local at = group_of[group]
  return core.get_number(at.optimizer, ("param_groups.%d.%s"):format(at.index, tostring(name)))
end
function group_type.__newindex(group, name, value)
  local at = group_of[group]
  core.set_number(at.optimizer, ("param_groups.%d.%s"):format(at.index, tostring(name)), value)
end
function group_type.__tostring(group) return ("parameter group %d"):format(group_of[group].index + 1) end

local function param_groups(optimizer)
  local groups = {}
  for i = 1, core.group_count(optimizer) do
    groups[i] = setmetatable({}, group_type)
    group_of[groups[i]] = { optimizer = optimizer, index = i - 1 }
  end
  return groups
end

-- The table with each count of skipped steps that is here or there: what has none is 0.
local function with_skipped_steps(optimizer, given)
  local own, all = core.state(core.optimizer_state(optimizer)), {}
  local function is_count(path) return type(path) == "string" and path:find "^skipped%." end
  for path, tensor in pairs(given) do
    if is_count(path) and not own[path] then pcall(core.set_number, optimizer, path, 0) end  -- where there is none: unexpected
    all[path] = tensor
  end
  for path in pairs(own) do
    if is_count(path) and all[path] == nil then all[path] = th.tensor(0) end
  end
  return all
end

-- ---- members ----

-- step(gradients): in the structure of the parameters; of several groups in one table of all, or in a list of theirs.
-- Inside a traced function it becomes part of the program. step(f): f() gives the loss and the gradients; gives the loss
-- before the step. LBFGS takes a function alone, and calls it several times.
local optimizer_type =
  define("optimizer", { step = core.step, add_param_group = add_group }, core.optimizer_state, { param_groups = param_groups },
    with_skipped_steps)
optimizer_type.__newindex = core.set_number
optimizer_type.__tostring = core.optimizer_text

-- A list with the learning rate of each group that the last step wrote.
local function get_last_lr(schedule)
  local own = functions[schedule]
  return own and rates_of(own.optimizer, "lr") or { core.schedule_last_lr(schedule) }
end
-- step(), or step(metric) of ReduceLROnPlateau.
local schedule_type = define("schedule", { step = step_schedule, get_last_lr = get_last_lr }, core.schedule_state, {})
function schedule_type.__tostring(schedule)
  local step = core.state(core.schedule_state(schedule)).step:item()
  return ("%s: step %d, lr %s"):format(kinds[schedule], step, table.concat(get_last_lr(schedule), ", "))
end

-- All gradients scaled so that the norm of them together is at most max_norm; also returns the norm before.
function th.clip_grad_norm(gradients, max_norm) return core.clip(gradients, max_norm, true) end
-- Each element bounded to [-bound, bound].
function th.clip_grad_value(gradients, bound) return (core.clip(gradients, bound, false)) end
