-- Functions that a module calls before and after its forward, and as a gradient passes it: register_forward_pre_hook(f),
-- register_forward_hook(f), register_full_backward_hook(f), register_full_backward_pre_hook(f).
--   local handle = net.fc1:register_forward_hook(function(module, args, output) return output * 2 end)
--   handle:remove()
local th, core = ...
local methods = core.module_methods

-- The hooks of a module lie among its attributes, so that copies have them: { before, after,
-- backward, before_backward, own }, own its forward before.
local KEY = "_hooks"

-- The results of a forward as hooks see them: the one, or a list of several.
local function one_of(results) return results.n == 1 and results[1] or results end
local function packed(value, several)
  if several and type(value) == "table" then return table.pack(table.unpack(value, 1, value.n or #value)) end
  return table.pack(value)
end

local function before(hooks, module, args)
  for _, hook in ipairs(hooks.before) do
    local changed = hook.f(module, args)
    if changed ~= nil then args = core.is_plain(changed) and table.pack(table.unpack(changed, 1, changed.n or #changed)) or table.pack(changed) end
  end
  return args
end

local function after(hook, module, args, results)
  local changed = hook.f(module, args, results and one_of(results))
  return changed == nil and results or packed(changed, results and results.n > 1)
end

-- The module's forward with its hooks. The library gives a kind's own forward to a module that is called inside of it.
local function run(module, ...)
  local hooks, args, called, results = core.fields(module)[KEY], table.pack(...), {}, nil
  local done, failed = pcall(function()
    args = before(hooks, module, args)
    local forward = hooks.own or core.metatable("module").__call
    results = core.with_backward_hooks(module, hooks, args, function(given)
      return table.pack(forward(module, table.unpack(given, 1, given.n)))
    end)
    for _, hook in ipairs(hooks.after) do
      called[hook] = true
      results = after(hook, module, args, results)
    end
  end)
  if done then return table.unpack(results, 1, results.n) end
  for _, hook in ipairs(hooks.after) do
    if hook.always and not called[hook] then
      local kept, made = pcall(after, hook, module, args, results)
      if kept then results = made end
    end
  end
  error(failed, 0)
end

-- What registering a hook gives: remove() takes it away.
local handle_type = { __metatable = false, __name = "hook" }
handle_type.__index = { remove = function(handle) handle.take() end }
handle_type.__close = function(handle) handle.take() end

local function register(module, list, f, options)
  if type(f) ~= "function" then core.refuse("a hook must be a function, got " .. core.type_text(f)) end
  local fields = core.fields(module)
  local hooks = fields[KEY]
  if not hooks then
    if not fields.forward and core.module_kind(module) == "Module" then
      core.refuse "a hook needs a forward: give the module one first"
    end
    hooks = { before = {}, after = {}, backward = {}, before_backward = {}, own = fields.forward }
    fields[KEY], fields.forward = hooks, run
  end
  local hook = { f = f, always = options and options.always_call }
  table.insert(hooks[list], options and options.prepend and 1 or #hooks[list] + 1, hook)
  core.set_forward(module)
  return setmetatable({
    take = function()
      for i, other in ipairs(hooks[list]) do
        if other == hook then
          table.remove(hooks[list], i)
          core.set_forward(module) -- what was compiled is traced again
        end
      end
    end,
  }, handle_type)
end

-- f(module, args) before each forward, args a list; a list, or one value, that it gives are other arguments. options: prepend.
function methods.register_forward_pre_hook(module, f, options) return register(module, "before", f, options) end
-- f(module, args, output) after each forward, the output a list where it is several values; what it gives, if not nil, is another.
-- options: prepend; always_call: also when the forward fails, with nil as the output.
function methods.register_forward_hook(module, f, options) return register(module, "after", f, options) end

-- A forward that is given later is the one inside of the hooks.
function core.give_forward(module, f)
  local hooks = core.fields(module)[KEY]
  if hooks then hooks.own = f else core.fields(module).forward = f end
  core.set_forward(module)
end

-- ---- gradients ----
-- Where a gradient may be asked for, a module with such hooks gets copies of its real tensors and gives copies of its results, by two
-- ops whose gradients call the hooks: that of the results comes first.

local modules = setmetatable({}, { __mode = "v" }) -- by number
local numbers = setmetatable({}, { __mode = "k" })
local waiting, calls, last_number, made = {}, 0, 0, nil

local function number_of(module)
  if not numbers[module] then
    last_number = last_number + 1
    numbers[module], modules[last_number] = last_number, module
  end
  return numbers[module]
end

local function kept(gradients)
  for _, gradient in ipairs(gradients) do core.is_concrete(gradient) end -- on a tape they have elements from here on, and outlive the call
  return gradients
end

local function replaced(what, gradients, changed)
  if changed == nil then return gradients end
  local list = core.is_plain(changed) and changed or { changed }
  if #list ~= #gradients then
    core.refuse(("a backward hook gave %d gradients of the %s, there are %d"):format(#list, what, #gradients))
  end
  return list
end

local function hooks_of(number)
  local module = modules[number]
  return module, module and core.fields(module)[KEY] or { backward = {}, before_backward = {} }
end

local function run_backward(number, inputs, outputs)
  local module, hooks = hooks_of(number)
  for _, hook in ipairs(hooks.backward) do inputs = replaced("inputs", inputs, hook.f(module, inputs, outputs)) end
  return inputs
end

local function outputs_gradient(ctx, ...)
  local number, call = ctx.args[3], ctx.args[4]
  local module, hooks = hooks_of(number)
  local gradients = kept { ... }
  for _, hook in ipairs(hooks.before_backward) do gradients = replaced("outputs", gradients, hook.f(module, gradients)) end
  if ctx.needs_input_grad[2] then
    waiting[call] = kept(gradients)
  else
    run_backward(number, {}, gradients)
  end
  return gradients
end

local function inputs_gradient(ctx, ...)
  local number, call = ctx.args[2], ctx.args[3]
  local outputs = waiting[call] or {}
  waiting[call] = nil
  return run_backward(number, kept { ... }, outputs)
end

-- The two ops of this state: another one in the same context may have taken a name.
local function ops()
  if made then return made end
  local function copies(tensors)
    local list = {}
    for i, tensor in ipairs(tensors) do list[i] = th.clone(tensor) end
    return table.unpack(list)
  end
  local at = 1
  while core.op_row(("nn.lua%d.module_inputs"):format(at)) do at = at + 1 end
  local function op(name, lists, vjp)
    return th.op {
      schema = ("nn.lua%d.%s(%s, int module, int call) -> tensor[]"):format(at, name, lists),
      doc = "Copies, whose gradients call a module's backward hooks.", decompose = copies, vjp = vjp,
    }
  end
  made = { inputs = op("module_inputs", "tensor[] inputs", inputs_gradient),
    outputs = op("module_outputs", "tensor[] outputs, tensor[] inputs", outputs_gradient) }
  return made
end

local function is_real(value) return core.is_tensor(value) and value.dtype ~= th.bool and not pcall(th.iinfo, value.dtype) end
local function copied(values, copy)
  local places, real = {}, {}
  for i = 1, values.n do
    if is_real(values[i]) then places[#places + 1], real[#real + 1] = i, values[i] end
  end
  local out = table.move(values, 1, values.n, 1, { n = values.n })
  if #real > 0 then
    local made_of = table.pack(copy(real))
    if #made_of == 1 and core.is_plain(made_of[1]) then made_of = made_of[1] end
    for k, place in ipairs(places) do out[place] = made_of[k] end
  end
  return out, real
end

function core.with_backward_hooks(module, hooks, args, forward)
  if not core.is_recording() or (#hooks.backward == 0 and #hooks.before_backward == 0) then return forward(args) end
  calls = calls + 1
  local number, call = number_of(module), calls
  local own, real = copied(args, function(list) return ops().inputs(list, number, call) end)
  return (copied(forward(own), function(list) return ops().outputs(list, real, number, call) end))
end

-- f(module, grad_inputs, grad_outputs) as a gradient has passed the module: lists of the gradients of its real tensors (empty where
-- none of them is asked for) and of its results. A list, or one gradient, that it gives are others of the inputs.
function methods.register_full_backward_hook(module, f, options) return register(module, "backward", f, options) end
-- f(module, grad_outputs) before a gradient passes the module; what it gives are other gradients of the results.
function methods.register_full_backward_pre_hook(module, f, options) return register(module, "before_backward", f, options) end
