-- What people read at a prompt: values as text, and help about everything that has a name.
local th, core = ...

-- ---- values ----

local WIDE, MANY, DEEP = 100, 60, 6

local text_of

local function key_text(key)
  if type(key) == "string" and key:match("^[%a_][%w_]*$") then return key end
  return "[" .. text_of(key, {}, "") .. "]"
end

-- Names in alphabetical order behind the list.
local function sorted_names(value)
  local names = {}
  for key in pairs(value) do
    if math.type(key) ~= "integer" or key < 1 or key > #value then names[#names + 1] = key end
  end
  table.sort(names, function(a, b) return tostring(a) < tostring(b) end)
  return names
end

local function table_text(value, seen, indent)
  if seen[value] or #indent >= 2 * DEEP then return "{...}" end
  seen[value] = true
  local parts, below, long = {}, indent .. "  ", 0
  local function add(text)
    if #parts < MANY then parts[#parts + 1] = text else long = long + 1 end
  end
  for _, item in ipairs(value) do add(text_of(item, seen, below)) end
  for _, key in ipairs(sorted_names(value)) do add(key_text(key) .. " = " .. text_of(value[key], seen, below)) end
  seen[value] = nil
  if long > 0 then parts[#parts + 1] = ("... %d more"):format(long) end
  local line = table.concat(parts, ", ")
  if #line + #indent <= WIDE and not line:find("\n", 1, true) then return "{" .. line .. "}" end
  return "{\n" .. below .. table.concat(parts, ",\n" .. below) .. "\n" .. indent .. "}"
end

function text_of(value, seen, indent)
  if type(value) == "string" then return ("%q"):format(value):gsub("\\\n", "\\n") end
  if core.documented[value] then return (core.documented[value]:match("^[^\n]*")) end
  local has_text = type(value) == "table" and (getmetatable(value) ~= nil)
  if type(value) ~= "table" or has_text then return (tostring(value):gsub("\n", "\n" .. indent)) end
  return table_text(value, seen, indent)
end

-- Any value as the prompt shows it: tables with what is in them, ops and layers with their signatures.
function th.repr(value)
  if type(value) == "string" then return value end
  if core.documented[value] then return core.documented[value] end
  return text_of(value, {}, "")
end

-- ---- help ----

local GENERAL = [[
th.tensor { { 1, 2 }, { 3, 4 } }          a tensor from a table; th.rand(2, 3), th.zeros { 2 }, x.shape, x[1], x:sum(0)
th.compile(function(x) ... end)           a compiled function; th.last_traces(f)[1] shows what was traced
th.nn.Linear(4, 2), th.nn                 layers          th.optim.AdamW(net, 1e-3), th.optim   optimisers and schedules
th.ops("soft")                            the ops whose name holds a word
help(th.softmax), help "linear"           what an op, a layer, an optimiser, a schedule or an option does; ? softmax is the same
exit                                      ends; so does Ctrl-D]]

-- What has a name, as { name, text }: ops, layers, optimisers, schedules, options of compile.
local function topics()
  local list = {}
  local function add(name, text) list[#list + 1] = { name = name, text = text } end
  for _, op in ipairs(th.ops()) do add(op.name, tostring(op)) end
  for _, subject in ipairs { "modules", "optimizers", "schedules" } do
    for _, row in ipairs(core.json(core.describe(subject))) do
      add(row.name, core.documented[(subject == "modules" and th.nn or th.optim)[row.name]])
    end
  end
  for _, row in ipairs(th.compile_options()) do
    add(row.name, ("option of th.compile: %s = %s (%s)\n    %s"):format(row.name, row.default, row.kind, row.doc))
  end
  return list
end

-- Every topic whose name holds the text, in any case; prims only where they are asked for. nil: there is none.
local function find(text)
  local found, wanted = {}, text:lower()
  for _, topic in ipairs(topics()) do
    local is_prim = topic.name:sub(1, 6) == "prims."
    if topic.name:lower():find(wanted, 1, true) and (not is_prim or wanted ~= "") then found[#found + 1] = topic.text end
  end
  return found[1] and table.concat(found, "\n")
end

-- th.help(): where to begin. th.help(th.softmax), th.help "softmax": what it is, as text.
function th.help(what)
  if what == nil then return GENERAL end
  if type(what) ~= "string" then return core.documented[what] or th.repr(what) end
  local text = what:gsub("^th%.", ""):gsub("^nn%.", ""):gsub("^optim%.", ""):gsub("^functional%.", "")
  local found = find(text)
  if found then return found end
  local names = {}
  for _, topic in ipairs(topics()) do names[topic.name] = true end
  core.refuse(("nothing has '%s' in its name%s"):format(what, core.suggest(text, names)))
end

function core.public_metatable.__tostring()
  return ("libthunder %s; th.nn, th.optim, th.data, th.ops(); th.help() says more"):format(th.version)
end
