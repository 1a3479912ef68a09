-- th.NAME for every op of the context. A call takes positional arguments as in PyTorch; a table with names in it
-- gives arguments by name: as the last argument, or alone with the positional ones inside.
--   th.softmax(x, -1)    th.softmax(x, { dim = -1 })    th.conv2d{ x, w, stride = 2 }
-- A table without names is a list. nil takes the default.
local th, core = ...

-- What a call of a described op or kind of module needs: the names of its parameters, and their kinds.
function core.described_parameters(row)
  local names, kinds = {}, {}
  for i, parameter in ipairs(row.parameters) do names[i], kinds[i] = parameter.name, parameter.kind end
  return names, kinds
end

local rows = {}
-- Reads what the context has now: ops may be added at any time.
function core.refresh_ops()
  for _, row in ipairs(core.json(core.describe("ops"))) do
    if not rows[row.name] then
      rows[row.name] = row
      if row.inplace then rows[row.name .. "_"] = setmetatable({ name = row.name .. "_" }, { __index = row }) end
    end
  end
end
core.refresh_ops()

local function row_of(name)
  if not rows[name] then core.refresh_ops() end
  return rows[name]
end

-- The description of an op, hidden ones included; nil if there is none.
function core.op_row(name)
  local row = row_of(name)
  return row and rawget(row, "schema") and row
end

function core.all_op_names()
  local names = {}
  for name, row in pairs(rows) do names[name] = rawget(row, "schema") and true or nil end
  return names
end

local made = {}
-- What th.help says of a function.
core.documented = setmetatable({}, { __mode = "k" })
-- The function with a last argument, by place or by name, that asks for another op:
--   max_pool2d{x, 2, return_indices = true}
local function with_variant(row, op)
  local flag, count = row.variant_flag, #row.parameters
  return function(...)
    local given, asked = table.pack(...), false
    local last = given[given.n]
    if given.n == count + 1 then
      asked, given.n = last, count
    elseif type(last) == "table" and rawget(last, flag) ~= nil then
      asked, given[given.n] = last[flag], {}
      for key, value in pairs(last) do given[given.n][key] = value end
      given[given.n][flag] = nil
    end
    return (asked and core.op_function(row.variant) or op)(table.unpack(given, 1, given.n))
  end
end

-- The function of an op, hidden ones included; nil if there is none.
function core.op_function(name)
  local row = row_of(name)
  if not made[name] and row then
    local names, kinds = core.described_parameters(row)
    row.takes_tensor = kinds[1] == "tensor" or kinds[1] == "tensor[]"
    made[name] = core.op(name, names, kinds, row.results)
    if row.variant and name == row.name then made[name] = with_variant(row, made[name]) end
    core.documented[made[name]] = ("%s\n    %s"):format(row.schema, row.doc)
  end
  return made[name]
end

-- The op as a method of its first argument; nil if it is none.
function core.op_method(name)
  local row = rows[name]
  if not row or row.hidden then return nil end
  local f = core.op_function(name)
  return row.takes_tensor and f or nil
end

-- Names that users may call.
function core.op_names()
  local names = {}
  for name, row in pairs(rows) do
    if not row.hidden then names[name] = true end
  end
  return names
end

local row_type = { __tostring = function(row) return ("%s\n    %s"):format(row.schema, row.doc) end }
local list_type = {
  __tostring = function(list)
    local lines = {}
    for i, row in ipairs(list) do lines[i] = tostring(row) end
    return table.concat(lines, "\n")
  end,
}
-- A list of { name, schema, doc ... } in alphabetical order, which prints as text; of those whose name holds `text`.
function th.ops(text)
  local list = {}
  for name, row in pairs(rows) do
    local wanted = text == nil or name:lower():find(text:lower(), 1, true)
    if wanted and not row.hidden and name == rawget(row, "name") and rawget(row, "schema") then
      local copy = {}
      for key, value in pairs(row) do copy[key] = value end
      list[#list + 1] = setmetatable(copy, row_type)
    end
  end
  table.sort(list, function(a, b) return a.name < b.name end)
  return setmetatable(list, list_type)
end

-- th.mine.f for the op "mine.f": a table for what comes before the dot, if there are such ops; else nil.
local function namespace(prefix)
  local members = {}
  for name, row in pairs(rows) do
    if not row.hidden and name:sub(1, #prefix) == prefix then members[name:sub(#prefix + 1)] = true end
  end
  if not next(members) then return nil end
  return setmetatable({}, {
    __metatable = false,
    __index = function(self, name)
      local f = type(name) == "string" and core.op_function(prefix .. name) or namespace(prefix .. tostring(name) .. ".")
      if not f then core.refuse(("there is no op '%s%s'%s"):format(prefix, tostring(name), core.suggest(tostring(name), members))) end
      rawset(self, name, f)
      return f
    end,
  })
end

core.public_metatable = {
  __metatable = false,
  __index = function(self, name)
    local row = row_of(name)
    if row and not row.hidden then
      local f = core.op_function(name)
      rawset(self, name, f)
      return f
    end
    local below = type(name) == "string" and namespace(name .. ".")
    if below then return below end
    local names = core.op_names()
    for key in pairs(self) do names[key] = true end
    core.refuse(("thunder has no op or function '%s'%s"):format(tostring(name), core.suggest(tostring(name), names)))
  end,
}
setmetatable(th, core.public_metatable)
th.linalg = namespace "linalg_" -- under the names that torch.linalg has
th.special = namespace "" -- torch.special has some of the ops again
