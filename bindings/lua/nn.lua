-- th.nn: every kind of module of the context, and modules of the user's own.
--   local net = nn.Module{ fc1 = nn.Linear(64, 128), fc2 = nn.Linear(128, 10) }
--   function net:forward(x) return self.fc2(th.relu(self.fc1(x))) end
local th, core = ...
local mt = core.metatable("module")
local nn = {}
th.nn = nn

local kinds, set_option, rows = {}, {}, core.json(core.describe("modules"))
for _, kind in ipairs(rows) do
  local names, types = core.described_parameters(kind)
  kinds[kind.name], set_option[kind.name] = core.kind(kind.name, names, types)
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

-- nn.ModuleList(a, b) or nn.ModuleList{ a, b }: for a forward that goes through them.
function nn.ModuleList(first, ...)
  local children = type(first) == "table" and first or { first, ... }
  return add_all(kinds.ModuleList(), children, "ModuleList")
end

-- Members of a table by name, in the order of the names.
local function add_named(module, members, named, is_member, wanted)
  local names = {}
  for name, member in pairs(members or {}) do
    if type(name) ~= "string" then core.refuse(("%s: members have names, got %s"):format(named, tostring(name))) end
    if not is_member(member) then core.refuse(("%s: '%s' is no %s"):format(named, name, wanted)) end
    names[#names + 1] = name
  end
  table.sort(names)
  for _, name in ipairs(names) do module[name] = members[name] end
  return module
end
-- nn.ModuleDict{ conv = nn.Conv2d(1, 2, 3), pool = nn.MaxPool2d(2) }
function nn.ModuleDict(members) return add_named(kinds.ModuleDict(), members, "ModuleDict", core.is_module, "module") end
-- nn.ParameterDict{ scale = th.ones(1) }
function nn.ParameterDict(members) return add_named(kinds.ParameterDict(), members, "ParameterDict", core.is_tensor, "tensor") end
-- nn.ParameterList{ a, b }
function nn.ParameterList(members)
  local module = kinds.ParameterList()
  for i, tensor in ipairs(members or {}) do
    if not core.is_tensor(tensor) then core.refuse(("ParameterList: element %d is no tensor"):format(i)) end
    module[i] = tensor
  end
  return module
end

-- nn.TransformerEncoder(layer, num_layers, norm): copies of the layer, and a norm behind them if one is given.
for _, name in ipairs { "TransformerEncoder", "TransformerDecoder" } do
  nn[name] = function(layer, num_layers, norm)
    if not core.is_module(layer) then core.refuse(name .. ": the layer is no module") end
    local copies = {}
    for i = 1, num_layers do copies[i] = layer:deepcopy() end
    local module = kinds[name]()
    module.layers = nn.ModuleList(copies)
    if norm then module.norm = norm end
    return module
  end
end

-- nn.TripletMarginWithDistanceLoss{ distance_function = f, margin = 2 }: f(x, y) gives a distance for each row.
function nn.TripletMarginWithDistanceLoss(options)
  local rest, distance = {}, nil
  for name, value in pairs(options or {}) do
    if name == "distance_function" then distance = value else rest[name] = value end
  end
  local module = next(rest) == nil and kinds.TripletMarginWithDistanceLoss() or kinds.TripletMarginWithDistanceLoss(rest)
  if distance == nil then return module end
  local of_rows = { mean = th.mean, sum = th.sum }
  function module:forward(anchor, positive, negative)
    local near, far = distance(anchor, positive), distance(anchor, negative)
    if self.swap then far = th.minimum(far, distance(positive, negative)) end
    local loss, reduced = th.clamp_min(near - far + self.margin, 0), of_rows[self.reduction]
    return reduced and reduced(loss) or loss
  end
  return module
end

for _, kind in ipairs(rows) do
  nn[kind.name] = nn[kind.name] or kinds[kind.name]
  core.documented[nn[kind.name]] = ("nn.%s\n    %s"):format(kind.schema, kind.doc)
end

-- nn.functional: the ops, by the name under which PyTorch has many of them.
nn.functional = setmetatable({}, {
  __metatable = false,
  __tostring = function() return "nn.functional: the ops of th; th.ops() lists them" end,
  __index = function(_, name)
    local names = core.op_names()
    if names[name] then return core.op_function(name) end
    core.refuse(("nn.functional has no function '%s'%s"):format(tostring(name), core.suggest(tostring(name), names)))
  end,
})

setmetatable(nn, {
  __metatable = false,
  __tostring = function() return "nn: the layers " .. core.listed(kinds) .. ", and nn.functional" end,
  __index = function(_, name)
    core.refuse(("nn has no kind of module '%s'%s"):format(tostring(name), core.suggest(tostring(name), nn)))
  end,
})

-- ---- members ----

local methods = {}
core.module_methods = methods

-- A table from path to tensor, the same tensors each time.
methods.parameters = core.parameters
-- The same with buffers, under every path.
methods.state = core.state
-- for path, tensor in net:named_parameters() do: in PyTorch's order, as named_buffers is, which has those that are not saved too.
function methods.named_parameters(module)
  local paths, trained, at = core.paths(module), core.parameters(module), 0
  return function()
    repeat at = at + 1 until not paths[at] or trained[paths[at]]
    return paths[at], trained[paths[at]]
  end
end
function methods.named_buffers(module)
  local buffers, at = core.buffers(module), 0
  return function()
    at = at + 1
    if buffers[at] then return buffers[at][1], buffers[at][2] end
  end
end
function methods.buffers(module)
  local list = {}
  for _, tensor in methods.named_buffers(module) do list[#list + 1] = tensor end
  return list
end
-- net:compile(options): from now on calls of net are those of a compiled function, until net:compile(false). What net is made
-- of is called as ever. A copy is compiled for itself.
local function compiled(module, own, options)
  return { of = core.fields(module), own = own, options = options, call = th.compile(function(...) return own(module, ...) end, options) }
end
local function compiled_forward(module, ...)
  local fields = core.fields(module)
  local c = fields._compiled
  if c.of ~= fields then c = compiled(module, c.own, c.options) end
  fields._compiled = c
  return c.call(...)
end
function methods.compile(module, options)
  local fields = core.fields(module)
  local own = fields._compiled and fields._compiled.own or fields.forward or mt.__call
  if own == mt.__call and core.module_kind(module) == "Module" then core.refuse "compile: the module has no forward" end
  fields._compiled = options ~= false and compiled(module, own, options) or nil
  fields.forward = fields._compiled and compiled_forward or own
  core.set_forward(module)
  return module
end
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
-- To a device, or to a dtype: real tensors become new ones, so list the parameters, and make optimisers, afterwards.
function methods.to(module, to)
  core.module_to(module, type(to) == "string" and not core.dtypes[to] and th.device(to) or to)
  return module
end
for _, name in ipairs { "float32", "float64", "bfloat16", "float16", "float", "double", "half" } do
  methods[name] = function(module) return methods.to(module, th[name]) end
end
local PARAMETER, BUFFER, TRANSIENT = 1, 2, 3
-- A tensor that is not trained, but moved with the module and, unless persistent is false, saved.
function methods.register_buffer(module, name, tensor, persistent)
  core.set_tensor(module, name, tensor, persistent == false and TRANSIENT or BUFFER)
end
function methods.register_parameter(module, name, tensor) core.set_tensor(module, name, tensor, PARAMETER) end
function methods.requires_grad_()
  core.refuse "gradients are asked for where they are taken: th.grad_of(loss, the tensors to train)"
end
-- What a module's own tensor is to it; nil: it has none of this name.
local function role_of(module, name)
  if core.parameters(module)[name] then return PARAMETER end
  if core.state(module)[name] then return BUFFER end
  for path in methods.named_buffers(module) do
    if path == name then return TRANSIENT end
  end
end

-- ---- children ----

-- The child of this name, or nil: one box for each, as one that its kind has made gets it here.
local function child_of(module, name)
  local fields = core.fields(module)
  if not core.is_module(fields[name]) then fields[name] = core.child(module, name) or fields[name] end
  return core.is_module(fields[name]) and fields[name] or nil
end

core.child_of = child_of

local function child_names(module)
  local names = {}
  local name = core.child_name(module, 0)
  while name do
    names[#names + 1] = name
    name = core.child_name(module, #names)
  end
  return names
end

-- How many children "0", "1" ... there are; of a ParameterList, tensors.
local function positions(module)
  local count = 0
  if core.module_kind(module) == "ParameterList" then
    local state = core.state(module)
    while state[tostring(count)] do count = count + 1 end
    return count
  end
  for _, name in ipairs(child_names(module)) do
    if name == tostring(count) then count = count + 1 end
  end
  return count
end

-- for name, child in net:named_children() do
function methods.named_children(module)
  local names, at = child_names(module), 0
  return function()
    at = at + 1
    if names[at] then return names[at], child_of(module, names[at]) end
  end
end
function methods.children(module)
  local list = {}
  for _, child in methods.named_children(module) do list[#list + 1] = child end
  return list
end
-- for path, module in net:named_modules() do: the module itself, whose path is "", and all that it is made of.
function methods.named_modules(module)
  local list, at = {}, 0
  local function add(path, one)
    list[#list + 1] = { path, one }
    for name, child in methods.named_children(one) do add(path == "" and name or path .. "." .. name, child) end
  end
  add("", module)
  return function()
    at = at + 1
    if list[at] then return list[at][1], list[at][2] end
  end
end
function methods.modules(module)
  local list = {}
  for _, one in methods.named_modules(module) do list[#list + 1] = one end
  return list
end
local function found(module, what, target, named)
  local names = {}
  for path, one in named(module) do
    if path == target then return one end
    names[path] = true
  end
  core.refuse(("this %s has no %s '%s'%s"):format(core.module_kind(module), what, tostring(target), core.suggest(tostring(target), names)))
end
-- What is at a path such as "blocks.0.fc1".
function methods.get_submodule(module, target) return found(module, "module", target, methods.named_modules) end
function methods.get_parameter(module, target) return found(module, "parameter", target, methods.named_parameters) end
function methods.get_buffer(module, target) return found(module, "buffer", target, methods.named_buffers) end
-- f(module) for each module below this one, children first, then for this one.
function methods.apply(module, f)
  for _, child in methods.named_children(module) do methods.apply(child, f) end
  f(module)
  return module
end

-- ---- members by name and position ----

-- Adds a child, or of a ParameterList a tensor, behind the others.
function methods.append(module, member)
  local kind = core.module_kind(module)
  local wanted = ({ Sequential = core.is_module, ModuleList = core.is_module, ParameterList = core.is_tensor })[kind]
  if not wanted then core.refuse(("append: a %s has no order"):format(kind)) end
  if not wanted(member) then core.refuse(("append: what a %s holds is a %s"):format(kind, wanted == core.is_module and "module" or "tensor")) end
  module[positions(module) + 1] = member
  return module
end
function methods.extend(module, members)
  for _, member in ipairs(members) do methods.append(module, member) end
  return module
end

-- net[{from, to}] or net[{from, to, step}]: a Sequential, or a ModuleList, of these children.
local function slice(module, range)
  local count, kind = positions(module), core.module_kind(module)
  if kind ~= "Sequential" and kind ~= "ModuleList" then core.refuse "only a Sequential or a ModuleList has slices" end
  local function place(at)
    local place = math.type(at) == "integer" and (at < 0 and at + count or at - 1)
    if not place or place < 0 or place >= count then
      core.refuse(("a slice is {from, to} among %d children, got %s"):format(count, tostring(at)))
    end
    return place
  end
  local children, step = {}, range[3] or 1
  if math.type(step) ~= "integer" or step < 1 then core.refuse("the step of a slice must be positive, got " .. tostring(step)) end
  for at = place(range[1] or 1), place(range[2] or -1), step do children[#children + 1] = child_of(module, tostring(at)) end
  return nn[kind](children)
end

local function child_name(key) return math.type(key) == "integer" and tostring(key - 1) or key end

local function refuse_member(module, key)
  local names = core.state(module)
  for _, group in ipairs { core.fields(module), methods } do
    for name in pairs(group) do names[name] = true end
  end
  for _, name in ipairs(child_names(module)) do names[name] = true end
  core.refuse(("this %s has no member '%s'%s"):format(core.module_kind(module), tostring(key), core.suggest(tostring(key), names)))
end

function mt.__index(module, key)
  if type(key) == "table" then return slice(module, key) end
  if math.type(key) == "integer" then
    local count = positions(module)
    local name = tostring(key < 0 and key + count or key - 1)
    local child = child_of(module, name)
    if not child and core.module_kind(module) == "ParameterList" then child = core.state(module)[name] end
    if child or (key == count + 1 and core.called_from_c()) then return child end -- `ipairs` reads on until there is nothing
    core.refuse(("index %d is out of range: this %s has %d children by position"):format(key, core.module_kind(module), count))
  end
  if methods[key] then return methods[key] end
  if key == "training" then return core.training(module) end
  local fields = core.fields(module)
  if fields[key] ~= nil then return fields[key] end
  if type(key) ~= "string" or key == "" then return refuse_member(module, key) end
  if core.state(module)[key] or role_of(module, key) then return core.module_tensor(module, key) end
  local child = child_of(module, key)
  if child then return child end
  local has, option = core.module_option(module, key)
  if has then return option end
  if key == "forward" and core.module_kind(module) ~= "Module" then return mt.__call end
  refuse_member(module, key)
end

mt.__len = positions

-- Modules become children, tensors parameters, `forward` what the module computes; anything else is an attribute,
-- which a traced function takes for a constant.
function mt.__newindex(module, key, value)
  key = child_name(key)
  if type(key) ~= "string" then core.refuse("a member of a module has a name") end
  if methods[key] then core.refuse(("'%s' is a method of modules"):format(key)) end
  if key == "training" then core.refuse("use train() and eval() to change 'training'") end
  if core.is_tensor(value) then
    core.set_tensor(module, key, value, role_of(module, key) or PARAMETER)
    return
  end
  if core.is_module(value) then
    core.add(module, key, value)
  elseif value == nil and role_of(module, key) then
    return core.remove_tensor(module, key) -- a layer for which it is optional, such as a bias, goes on without it
  elseif child_of(module, key) or role_of(module, key) then
    core.refuse(("'%s' is a %s of this %s, got %s: another one can take its place"):format(
      key, child_of(module, key) and "module" or "tensor", core.module_kind(module), core.type_text(value)))
  elseif core.module_option(module, key) then
    return set_option[core.module_kind(module)](module, key, value) -- the next call has it
  end
  if key == "forward" then return core.give_forward(module, value) end
  core.fields(module)[key] = value
end

mt.__tostring = core.module_text
