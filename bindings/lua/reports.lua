-- What a compile and a call did: counts, profiles, examinations, pages.
local th, core = ...

local function compiled_of(f, who)
  if core.is_compiled(f) then return f end
  if type(f) ~= "function" and not core.is_module(f) then
    core.refuse(("%s: a function was expected, got %s"):format(who, core.type_text(f)))
  end
  return th.compile(f)
end

local printed = { __tostring = function(self) return self.text end }


local function profile_of(f)
  local profile = core.json(core.explain(f, "profile_json"))
  profile.text, profile.json = core.explain(f, "profile"), core.explain(f, "profile_json")
  profile.chrome_trace = core.explain(f, "chrome_trace")
  return setmetatable(profile, printed)
end

-- th.profile(f, ...): calls f once and then 10 times with each step timed: what a call does, these do. A table that prints, the slowest
-- step first, with ms (of a call), gflops and gbytes (of the machine, in the same run), steps = { { ops, executor, where, flops, bytes,
-- ms, share, bound } } and chrome_trace, the last run as a text for chrome://tracing.
function th.profile(f, ...)
  f = compiled_of(f, "profile")
  core.profile(f, 10, ...)
  return profile_of(f)
end

-- th.examine(f, ...): a table that prints: ops and who runs them; what is unsupported, wrong beside the reference, NaN, or blocks a
-- gradient or a fusion, as findings = { { kind, op, where, text } }; sound: nothing is unsupported, wrong or NaN. f is called once.
function th.examine(f, ...)
  f = compiled_of(f, "examine")
  core.examine(f, ...)
  local found = core.json(core.explain(f, "examination_json"))
  found.text, found.json = core.explain(f, "examination"), core.explain(f, "examination_json")
  return setmetatable(found, printed)
end

-- th.plot_history(histories, path): draws numbers by name, { loss = losses }, lists or tensors, as a page (.html) or a picture (.png).
th.plot_history = core.plot_history

-- th.report(f, path, ...): a page of HTML about f, which has been called before, or is profiled and examined for these arguments.
function th.report(f, path, ...)
  if type(path) ~= "string" then core.refuse("report: a path was expected, got " .. core.type_text(path)) end
  if select("#", ...) > 0 then
    f = compiled_of(f, "report")
    core.profile(f, 5, ...)
    core.examine(f, ...)
  end
  core.write_report(f, path)
end

-- Counts of calls, and compiles by reason and by stage, with histograms of their times: counts between the edges edges_ms.
function th.compile_stats(f) return core.json(core.explain(f, "stats")) end
function th.cache_hits(f) return th.compile_stats(f).hits end
function th.cache_misses(f) return th.compile_stats(f).misses end
th.last_miss_reason = th.last_miss
-- What is checked before the program compiled last runs: its guards as text. A list, as lightning-thunder has it.
function th.last_prologue_traces(f) return { core.explain(f, "guards") } end
-- Which options made a difference: { used = { name = value }, unused = { name = why }, unknown = {} }.
function th.last_compile_options(f)
  local text = core.explain(f, "options")
  return text ~= "" and core.json(text) or { used = {}, unused = {}, unknown = {} }
end
-- The names of the caller's passes that took part in the compile of the latest program.
function th.list_transforms(f)
  local names = {}
  for name in core.explain(f, "transforms"):gmatch "[^\n]+" do names[#names + 1] = name end
  return names
end
-- The kernels of several lines in the program compiled last: each the list of its ops.
function th.get_fusions(f)
  local text = core.explain(f, "fusions")
  return text ~= "" and core.json(text) or {}
end
-- th.watch_calls(run): the compiled functions that run() calls, in the order of their first calls, as { f, arguments }: those of the
-- last call.
function th.watch_calls(run)
  local calls, by, compiled = {}, {}, core.metatable "compiled"
  local call = compiled.__call
  local function watched(f, ...)
    if not core.is_tracing() then
      if not by[f] then
        by[f] = { f = f }
        calls[#calls + 1] = by[f]
      end
      by[f].arguments = table.pack(...)
    end
    return call(f, ...)
  end
  compiled.__call = watched
  local ok, wrong = pcall(run)
  compiled.__call = call
  if not ok then error(wrong, 0) end
  return calls
end
-- Step `step` of the program compiled last, from 1 as profiles count, as the text of a script of its own.
function th.repro(f, step) return core.repro(f, step or 1) end
-- What the library says of itself, as JSON: "machine", "installation", "options" ...
th.describe = core.describe

local kinds = { f = "float", i = "int", u = "uint" }
-- A tensor of a type as traces have it, "f32[4, 4]".
local function made(type_text)
  local name, sizes = type_text:match "^([%w]+)%[(.-)%]"
  local shape = {}
  for size in (sizes or ""):gmatch "%d+" do shape[#shape + 1] = math.tointeger(size) end
  local kind, bits = (name or ""):match "^(%a+)(%d+)$"
  local dtype = th[name == "bf16" and "bfloat16" or kinds[kind] and kinds[kind] .. bits or name]
  if not dtype then core.refuse("run_repro: an input is of " .. type_text) end
  return (kind == "f" or kind == "bf") and th.randn(shape):to(dtype) or th.randint(0, 2, shape):to(dtype)
end

-- Puts a value where a path such as "0.x.1" says: in the first argument, a table, under "x" in a list in second place. False: it is no path.
local function put(arguments, path, value)
  local keys = {}
  for key in path:gmatch "[^.]+" do keys[#keys + 1] = math.tointeger(key) and math.tointeger(key) + 1 or key end
  if math.type(keys[1]) ~= "integer" then return false end
  local at = arguments
  for i = 1, #keys - 1 do
    at[keys[i]] = at[keys[i]] or {}
    at = at[keys[i]]
  end
  at[keys[#keys]] = value
  arguments.n = math.max(arguments.n, keys[1])
  return true
end

-- th.made_inputs(f): arguments of the types and in the structure that a loaded program takes, with 2 for each size that varies.
function th.made_inputs(f)
  th.seed(0)
  local all, signature = { n = 0 }, th.signature(f)
  for i, input in ipairs(signature.inputs) do
    local dims = {}
    for d, size in ipairs(input.dims or {}) do dims[d] = math.tointeger(size) or 2 end
    local tensor = made(("%s[%s]"):format(input.dtype, table.concat(dims, ", ")))
    if signature.format == "onnx" or not put(all, input.name, tensor) then all[i], all.n = tensor, i end
  end
  return all
end

-- th.run_repro(text of a trace): the trace compiled, and by the reference, with the same inputs of its types; prints how far each result
-- is off, relative to the largest element, and gives the largest of these.
function th.run_repro(text)
  th.seed(0)
  local inputs, worst = {}, 0
  for number, type_text in text:gmatch "%-%- i%[(%d+)%][^\n]-: (%S+%b[])" do inputs[math.tointeger(number)] = made(type_text) end
  local f = th.function_from_trace(text)
  local ours, reference = table.pack(f(table.unpack(inputs))), table.pack(th.run_trace(text, {}, {}, inputs))
  for i = 1, ours.n do
    local a, b = ours[i]:to(th.float64), reference[i]:to(th.float64)
    local off = (a - b):abs():max():item() / math.max(b:abs():max():item(), 1e-30)
    print(("result %d: off by %.3g of the largest element"):format(i, off))
    worst = math.max(worst, off)
  end
  return worst
end
-- What th.explain(f, name) takes: a list of { name, doc }.
function th.reports() return core.json(core.describe "reports") end

-- 1234567 as 1.23 M.
local function short(number)
  local unit, units = 1, { "", "k", "M", "G", "T" }
  while number >= 1000 and unit < #units do number, unit = number / 1000, unit + 1 end
  return (("%.3g %s"):format(number, units[unit]):gsub("%s$", ""))
end

local function each_tensor(value, f)
  if core.is_tensor(value) then return f(value) end
  if type(value) == "table" then for _, inner in pairs(value) do each_tensor(inner, f) end end
end

-- What a call of a layer computes, line by line, which is the same whoever runs it.
local function flops_of(module, args)
  local compiled = th.compile(function(...) return module(...) end, { executors = "host" })
  compiled(table.unpack(args, 1, args.n))
  return core.json(core.explain(compiled, "cost")).flops
end

-- th.summary(net, ...): runs the module once, op by op. A table that prints: rows = { { name, kind, shapes, parameters, leaf, flops } } of
-- the modules that ran, in the order of the tree, parameters and flops of all; flops are of modules without children.
function th.summary(net, ...)
  if not core.is_module(net) then core.refuse("summary: a module was expected, got " .. core.type_text(net)) end
  local seen, handles, paths = {}, {}, {}
  for path, module in net:named_modules() do
    paths[#paths + 1] = path
    if core.module_kind(module) ~= "Module" or core.fields(module).forward then
      handles[#handles + 1] = module:register_forward_hook(function(self, args, output) seen[path] = { self, args, output } end)
    end
  end
  local ok, wrong = pcall(net, ...)
  for _, handle in ipairs(handles) do handle:remove() end
  if not ok then error(wrong, 0) end
  local result = { rows = {}, parameters = 0, flops = 0 }
  each_tensor(net:parameters(), function(p) result.parameters = result.parameters + p:numel() end)
  local lines = { ("%-28s %-18s %-22s %12s %10s"):format("layer", "kind", "gives", "parameters", "FLOP") }
  for _, path in ipairs(paths) do
    local call = seen[path]
    if call then
      local module, args, output = call[1], call[2], call[3]
      local row = { name = path, kind = core.module_kind(module), shapes = {}, parameters = 0, flops = 0, leaf = true }
      for _ in module:named_children() do row.leaf = false end
      for name, p in module:named_parameters() do
        if not name:find(".", 1, true) then row.parameters = row.parameters + p:numel() end
      end
      each_tensor(output, function(t) row.shapes[#row.shapes + 1] = "[" .. table.concat(t.shape, ", ") .. "]" end)
      if row.leaf then row.flops = flops_of(module, args) end
      result.flops = result.flops + row.flops
      result.rows[#result.rows + 1] = row
      lines[#lines + 1] = ("%-28s %-18s %-22s %12s %10s"):format(path == "" and "(whole)" or "  " .. path, row.kind, table.concat(row.shapes, " "),
        row.parameters > 0 and tostring(row.parameters) or "", row.leaf and short(row.flops) or ""):gsub("%s+$", "")
    end
  end
  lines[#lines + 1] = ("%d parameters; %sFLOP"):format(result.parameters, short(result.flops))
  result.text = table.concat(lines, "\n")
  return setmetatable(result, printed)
end

local SLOW = 0.5 -- seconds
local shown_compiles = false
-- th.show_compiles(on): whether a compile that takes over half a second draws how far it is, where standard error is a terminal.
function th.show_compiles(on) shown_compiles = on and core.is_terminal() end

-- The option progress of a compile that is shown; nil where none is.
function core.compile_progress()
  if not shown_compiles then return nil end
  local began, drawn = nil, false
  return function(stage, done, total)
    if stage == "trace" then began, drawn = core.clock(), false end
    local last = stage == "record_graph"
    if drawn or (core.clock() - began > SLOW and not last) then
      io.stderr:write("\r\27[K", last and "" or ("compiling: %s %d/%d"):format(stage, done, total))
      io.stderr:flush()
      drawn = not last
    end
  end
end
