-- What compile may be asked for beside the library's own options: PyTorch's names, modes, and backends by name or function.
local th, core = ...

-- Takes each trace, gradients taken, as one region, and runs what f makes of it.
local function executor_of(name, f, registered)
  return core.make_executor({
    name = name,
    claim = function() return true end,
    claim_region = function(lines)
      local all = {}
      for i = 1, #lines do all[i] = i end
      return all
    end,
    prepare = function(region)
      local run = f(region, region.inputs)
      if type(run) ~= "function" then
        core.refuse(("backend '%s': the function must return a function of the region's inputs, got %s"):format(name, core.type_text(run)))
      end
      return run
    end,
  }, registered)
end

local function with_first(executor, others)
  local all = { executor }
  if type(others) ~= "table" then others = { others } end
  for _, one in ipairs(others) do all[#all + 1] = one end
  return all
end

-- The options of a call of compile as the library takes them: those of its table `options` among them, a function as `backend`
-- made an executor.
function core.given_options(given)
  local out = {}
  for name, value in pairs(given) do out[name] = value end
  local inside = out.options
  out.options = nil
  if inside ~= nil then
    if type(inside) ~= "table" then core.refuse("compile: options must be a table of names and values, got " .. core.type_text(inside)) end
    if next(inside) and out.mode ~= nil then
      core.refuse("compile: either mode or options can be given, not both: name the options that the mode stands for (th.list_mode_options)")
    end
    for name, value in pairs(inside) do
      name = tostring(name):gsub("-", "_")
      if out[name] ~= nil and out[name] ~= value then core.refuse(("compile: option '%s' is given twice, with two values"):format(name)) end
      out[name] = value
    end
  end
  for theirs, ours in pairs { executors_list = "executors", transforms = "passes" } do -- lightning-thunder's names
    if out[ours] == nil then out[ours] = out[theirs] end
    out[theirs] = nil
  end
  if type(out.backend) == "function" then
    out.executors, out.backend = with_first(executor_of("backend", out.backend, false), out.executors), nil
  end
  return out
end

local fields = { name = "string", doc = "string", run = "function", executors = "table", disable_passes = "table", tags = "table", fusion = "boolean" }

local function words(spec, field)
  local list = {}
  for _, word in ipairs(spec[field] or {}) do
    if type(word) ~= "string" then core.refuse(("register_backend: %s must hold names, got %s"):format(field, core.type_text(word))) end
    list[#list + 1] = word
  end
  return table.concat(list, ",")
end

-- th.register_backend{ name = "mine", run = function(region, inputs) ... return function(...) ... end end }: a name for the option
-- `backend`. The function gets what a trace became, gradients taken, and its inputs, and gives the function that runs it. Or without one:
-- executors = { names, or what th.executor gives with register = false } are asked before those of the option `executors`,
-- disable_passes = { names } are left out, fusion = false leaves the library's own out. tags as in PyTorch: th.list_backends() leaves
-- "debug" and "experimental" out.
function th.register_backend(spec)
  if type(spec) ~= "table" then core.refuse("register_backend takes a table, got " .. core.type_text(spec)) end
  for field, value in pairs(spec) do
    if not fields[field] then
      core.refuse(("register_backend has no field '%s'%s"):format(tostring(field), core.suggest(tostring(field), fields)))
    end
    if type(value) ~= fields[field] then
      core.refuse(("register_backend: '%s' must be a %s, got %s"):format(field, fields[field], core.type_text(value)))
    end
  end
  if not spec.name then core.refuse "register_backend: 'name' is missing: what the option `backend` calls it" end
  local objects, names = {}, {}
  if spec.run then objects[1] = executor_of(spec.name, spec.run, true) end
  for _, one in ipairs(spec.executors or {}) do
    local list = type(one) == "string" and names or objects
    list[#list + 1] = one
  end
  core.add_backend(spec.name, spec.doc or "", objects, table.concat(names, ","), words(spec, "disable_passes"), words(spec, "tags"),
    spec.fusion == false)
  return spec.name
end

-- { name, doc, executors, disable_passes, tags, fusion, missing_executors } of each backend.
function th.backends() return core.json(core.describe "backends") end

-- The names that the option `backend` takes, but for those with one of these tags, "debug" and "experimental" if none are given.
function th.list_backends(exclude_tags)
  local hidden, names = {}, {}
  for _, tag in ipairs(exclude_tags or { "debug", "experimental" }) do hidden[tag] = true end
  for _, row in ipairs(th.backends()) do
    local shown = row.missing_executors == ""
    for tag in row.tags:gmatch "[^,]+" do shown = shown and not hidden[tag] end
    if shown then names[#names + 1] = row.name end
  end
  table.sort(names)
  return names
end

-- The options that a mode stands for; without one those of all modes by name.
function th.list_mode_options(mode)
  local modes = {}
  for _, row in ipairs(core.json(core.describe "modes")) do modes[row.name] = row.options end
  if mode == nil then return modes end
  return modes[mode] or core.refuse(("list_mode_options: unknown mode '%s'%s"):format(tostring(mode), core.suggest(tostring(mode), modes)))
end

-- The names that compile's options take: the library's, and those of PyTorch's Inductor that are not refused.
function th.list_options()
  local names = {}
  for _, row in ipairs(th.compile_options()) do names[#names + 1] = row.name end
  for _, row in ipairs(core.json(core.describe "inductor_options")) do
    if row.state ~= "refused" then names[#names + 1] = row.name end
  end
  local once, out = {}, {}
  for _, name in ipairs(names) do
    if not once[name] then once[name], out[#out + 1] = true, name end
  end
  table.sort(out)
  return out
end
