-- torch.jit's trace: the program of one call as a function of its own; and sizes that are marked to vary.
local th, core = ...

-- th.jit(f, options) is th.compile.
th.jit = setmetatable({}, {
  __call = function(_, f, options) return th.compile(f, options) end,
  __index = function(jit, name)
    if name == "script" then
      core.refuse("jit.script: there is no language of its own here: th.compile(f) records what a call does, "
        .. "th.jit.trace(f, example) the program of one call")
    end
    core.refuse(("jit has no function '%s'%s"):format(tostring(name), core.suggest(tostring(name), jit)))
  end,
})

-- A lone tensor is the only argument of its call.
local function call_of(inputs, who)
  if core.is_tensor(inputs) then return { inputs } end
  if type(inputs) ~= "table" then core.refuse(("%s: a list of arguments was expected, got %s"):format(who, core.type_text(inputs))) end
  return inputs
end

local function traced(f, example, check_inputs, options)
  local calls = {}
  for i, inputs in ipairs(check_inputs or {}) do calls[i] = call_of(inputs, "jit.trace: check_inputs") end
  return core.jit_trace(core.is_compiled(f) and f or th.compile(f), call_of(example, "jit.trace"), calls, options)
end

local function without_checks(options)
  local out = {}
  for name, value in pairs(options or {}) do out[name] = value end
  out.check_inputs = nil
  return out, options and options.check_inputs
end

-- th.jit.trace(f, { x, y }, options): the program of f(x, y) as a compiled function that never runs f again. What Lua decided
-- stays as it was decided; where f allows that, any size of 2 and more fits. Options: check_trace (true), check_inputs, a list of
-- calls to check on in the place of the example, check_tolerance (1e-5, relative), strict (true: tables are refused as results),
-- and those of th.compile.
function th.jit.trace(f, example_inputs, options)
  local own, check_inputs = without_checks(options)
  return traced(f, example_inputs, check_inputs, own)
end

-- th.jit.trace_module(net, { method = { x } }, options): a table with the trace of each method; forward is what a call of it runs.
-- check_inputs is a list of such tables.
function th.jit.trace_module(net, inputs, options)
  local own, check_inputs = without_checks(options)
  local out = {}
  for method, example in pairs(inputs) do
    local checks = {}
    for _, given in ipairs(check_inputs or {}) do checks[#checks + 1] = given[method] end
    local f = net
    if method ~= "forward" then f = function(...) return net[method](net, ...) end end
    out[method] = traced(f, example, checks, own)
  end
  return setmetatable(out, { __call = function(self, ...) return self.forward(...) end })
end

-- th.jit.freeze(f, options): the same compiled function, whose captured tensors are constants: what depends on them alone is
-- computed once. th.jit.optimize_for_inference(f, options) times products in several ways, too, where they are compiled.
function th.jit.freeze(f, options)
  local with = { freezing = true }
  for name, value in pairs(options or {}) do with[name] = value end
  if core.is_compiled(f) then return core.recompile(f, with) end
  local out = {}
  for method, trace in pairs(f) do out[method] = core.recompile(trace, with) end
  return setmetatable(out, getmetatable(f))
end
function th.jit.optimize_for_inference(f, options)
  local with = { max_autotune = true }
  for name, value in pairs(options or {}) do with[name] = value end
  return th.jit.freeze(f, with)
end

-- th.jit.save(f, path), th.jit.load(path, options): th.save_program and th.load_program under PyTorch's names.
th.jit.save, th.jit.load = th.save_program, th.load_program

-- th.mark_dynamic(x, dim, min, max): compiled functions will see other sizes in this dim of x, and are traced with a symbol in its
-- place from their next compile on; a call fails where that cannot be. th.maybe_mark_dynamic(x, dim) leaves that to the function,
-- and of th.mark_static(x, dim) the size stands for no other.
function th.mark_dynamic(x, dim, min, max) core.mark_dynamic(x, dim, min or 2, max or math.maxinteger) end
function th.maybe_mark_dynamic(x, dim) core.maybe_mark_dynamic(x, dim) end
function th.mark_static(x, dim) core.mark_static(x, dim) end
function th.mark_unbacked()
  core.refuse("mark_unbacked: every trace is made of a call, whose sizes decide what it does; mark_dynamic has what was decided "
    .. "checked at each call")
end
