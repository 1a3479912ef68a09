-- Traces: a printed one is a Lua chunk, and run_trace runs it with the ops as its environment.
local th, core = ...
local mt = core.metatable("trace")

mt.__tostring = core.trace_text
local properties = { text = core.trace_text, name = core.trace_name, ms = core.trace_milliseconds }
function mt.__index(trace, key)
  if properties[key] then return properties[key](trace) end
  core.refuse(("a trace has no member '%s'%s"):format(tostring(key), core.suggest(tostring(key), properties)))
end

local environment = {
  inf = math.huge,
  nan = 0 / 0,
  cpu = th.cpu,
  cuda = th.cuda,
  device = core.device,
  table = table,
  copy_ = function(x, value) return core.op_function("copy_")(x, value) end,
  -- The line from which the grad pass makes a backward: here the tape makes it.
  grad = function(loss, wrt) return table.unpack(core.grad(loss, wrt)) end,
}
for name, dtype in pairs(core.dtypes) do environment[name] = dtype end
environment.op = setmetatable({}, { __index = function(_, name) return environment[name] or core.op_function(name) end })

-- Ops by name; a name with a dot is reached through tables such as prims.
local function namespace(prefix, own)
  return setmetatable(own, {
    __index = function(self, name)
      local found = core.op_function(prefix .. name)
      if not found and prefix == "" then found = namespace(name .. ".", {}) end
      if not found then core.refuse(("a trace calls the unknown op '%s%s'"):format(prefix, name)) end
      rawset(self, name, found)
      return found
    end,
  })
end
namespace("", environment)

-- th.run_trace(trace or its text, parameters, constants, inputs): the results of the program, computed op by op.
-- Written tensors are written.
function th.run_trace(trace, parameters, constants, inputs)
  local text = type(trace) == "string" and trace or core.trace_text(trace)
  local chunk = core.load_chunk(text, environment)
  return core.scope(true, chunk(), parameters or {}, constants or {}, inputs or {})
end
