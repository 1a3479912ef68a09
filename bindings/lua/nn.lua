-- th.nn: every kind of module of the context, and modules of the user's own.
--   local net = nn.Module{ fc1 = nn.Linear(64, 128), fc2 = nn.Linear(128, 10) }
--   function net:forward(x) return self.fc2(th.relu(self.fc1(x))) end
local th, core = ...
local mt = core.metatable("module")
local nn = {}
th.nn = nn

local kinds = {}
for _, kind in ipairs(core.json(core.describe("modules"))) do
  local names, types = core.read_schema(kind.schema)
  kinds[kind.name] = core.kind(kind.name, names, types)
end

local function add_all(module, children, named)
  for i, child in ipairs(children) do
    if not core.is_module(child) then core.refuse(("%s: child %d is no module"):format(named, i)) end
    module[tostring(i - 1)] = child
  end
  return module
end

-- nn.Sequential(a, b) or nn.Sequential{a, b}: children "0", "1" ...
function nn.Sequential(first, ...)
  local children = type(first) == "table" and first or { first, ... }
  return add_all(kinds.Sequential(), children, "Sequential")
end

-- nn.Module{ name = child, other = tensor }; positions are children "0", "1" ...
function nn.Module(members)
  local module, names = kinds.Module(), {}
  for name in pairs(members or {}) do
    if type(name) == "string" then names[#names + 1] = name end
  end
  table.sort(names)
  for _, name in ipairs(names) do module[name] = members[name] end
  return add_all(module, members or {}, "Module")
end

for name, make in pairs(kinds) do nn[name] = nn[name] or make end
setmetatable(nn, {
  __metatable = false,
  __index = function(_, name)
    core.refuse(("nn has no kind of module '%s'%s"):format(tostring(name), core.suggest(tostring(name), kinds)))
  end,
})

-- ---- members ----

local methods = {}

-- A table from path to tensor, the same tensors each time.
methods.parameters = core.parameters
-- The same with buffers, under every path.
methods.state = core.state
methods.save = core.save
methods.close = mt.__close

-- strict false: names that only one side has are passed over.
function methods.load(module, path, strict)
  core.load(module, path, strict == nil or strict)
  return module
end
function methods.train(module, training)
  core.set_training(module, training == nil or training)
  return module
end
function methods.eval(module) return methods.train(module, false) end
function methods.to(module, device)
  core.module_to(module, device)
  return module
end
-- A tensor that is saved with the module but not trained.
function methods.register_buffer(module, name, tensor) core.set_tensor(module, name, tensor, true) end

local function child_name(key) return math.type(key) == "integer" and tostring(key - 1) or key end

function mt.__index(module, key)
  key = child_name(key)
  if methods[key] then return methods[key] end
  if key == "training" then return core.training(module) end
  local fields = core.fields(module)
  if fields[key] ~= nil then return fields[key] end
  local names = core.state(module)
  if names[key] then return core.module_tensor(module, key) end
  if type(key) == "string" and key ~= "" then fields[key] = core.child(module, key) end -- one that its kind has made
  if fields[key] ~= nil then return fields[key] end
  for _, group in ipairs { fields, methods } do
    for name in pairs(group) do names[name] = true end
  end
  core.refuse(("this module has no member '%s'%s"):format(tostring(key), core.suggest(tostring(key), names)))
end

-- Modules become children, tensors parameters, `forward` what the module computes; anything else is an attribute,
-- which a traced function takes for a constant.
function mt.__newindex(module, key, value)
  key = child_name(key)
  if type(key) ~= "string" then core.refuse("a member of a module has a name") end
  if methods[key] then core.refuse(("'%s' is a method of modules"):format(key)) end
  if key == "training" then core.refuse("use train() and eval() to change 'training'") end
  if core.is_tensor(value) then
    core.set_tensor(module, key, value, false)
    return
  end
  if core.is_module(value) then core.add(module, key, value) end
  core.fields(module)[key] = value
  if key == "forward" then core.set_forward(module) end
end

function mt.__tostring(module)
  local lines = {}
  for path, tensor in pairs(core.parameters(module)) do
    lines[#lines + 1] = ("  %s %s[%s]"):format(path, tostring(tensor.dtype), table.concat(tensor.shape, ", "))
  end
  table.sort(lines)
  return "module\n" .. table.concat(lines, "\n")
end
