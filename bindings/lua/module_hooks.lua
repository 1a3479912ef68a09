-- Functions that a module calls before and after its forward: register_forward_pre_hook(f), register_forward_hook(f).
--   local handle = net.fc1:register_forward_hook(function(module, args, output) return output * 2 end)
--   handle:remove()
local _, core = ...
local methods = core.module_methods

-- The hooks of a module lie among its attributes, so that copies have them: { before, after, own }, own its forward before.
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
    results = table.pack(forward(module, table.unpack(args, 1, args.n)))
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
    hooks = { before = {}, after = {}, own = fields.forward }
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
