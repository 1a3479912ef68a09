-- th.NAME for every op of the context. A call takes positional arguments as in PyTorch; a table with names in it
-- gives arguments by name: as the last argument, or alone with the positional ones inside.
--   th.softmax(x, -1)    th.softmax(x, { dim = -1 })    th.conv2d{ x, w, stride = 2 }
-- A table without names is a list. nil takes the default.
local th, core = ...

-- Splits at the commas that no bracket or quote encloses.
local function split(text)
  local parts, depth, quoted, from = {}, 0, false, 1
  for at = 1, #text do
    local c = text:sub(at, at)
    if c == "'" then quoted = not quoted end
    if c == "[" then depth = depth + 1 end
    if c == "]" then depth = depth - 1 end
    if c == "," and depth == 0 and not quoted then
      parts[#parts + 1] = text:sub(from, at - 1)
      from = at + 1
    end
  end
  if from <= #text then parts[#parts + 1] = text:sub(from) end
  return parts
end

-- A schema such as "sum(tensor input, int[]? dim=None) -> tensor": parameter names, their kinds (of "tensor|number" too it
-- is "tensor"), number of results;
-- 0 results: as many as the arguments make.
local function read_schema(schema)
  local inside, returned = schema:match("^[^(]*%((.*)%)%s*%->%s*(.+)$")
  local names, kinds = {}, {}
  for i, part in ipairs(split(inside)) do
    kinds[i], names[i] = part:match("^%s*([%w_%[%]]+)|?%a*%??%s+([%w_]+)")
  end
  local list = returned:match("^%((.*)%)$")
  return names, kinds, (returned == "tensor[]" or returned:find("?", 1, true)) and 0 or list and #split(list) or 1
end

core.read_schema = read_schema

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

-- The schema of an op as text, hidden ones included; nil if there is none.
function core.op_schema(name)
  local row = row_of(name)
  return row and rawget(row, "schema")
end

function core.all_op_names()
  local names = {}
  for name, row in pairs(rows) do names[name] = rawget(row, "schema") and true or nil end
  return names
end

local made = {}
-- What th.help says of a function.
core.documented = setmetatable({}, { __mode = "k" })
-- The function of an op, hidden ones included; nil if there is none.
function core.op_function(name)
  local row = row_of(name)
  if not made[name] and row then
    local names, kinds, results = read_schema(row.schema)
    row.takes_tensor = kinds[1] == "tensor" or kinds[1] == "tensor[]"
    made[name] = core.op(name, names, kinds, results)
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
