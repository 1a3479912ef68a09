-- Thunder for Lua by SWIG: a trial of the shared interface in a stock interpreter. The layer to use is `thunder`, by hand.
--
--   local th = require "thunder_swig"
--   local x = th.tensor { { 1.0, 2.0 }, { 3.0, 4.0 } }
--   local f = th.compile(function(a) return (a:matmul(a) + 1):relu():sum() end)
--   print(f(x):item())
--
-- A table with names in it, as the last argument of an op, gives arguments by name: x:sum { dim = 1 }.
local core = require "thunder_core"
local th = { ops = {} }

local raised = {}                                   -- errors on their way through the library, by ticket
local closures = setmetatable({}, { __mode = "v" }) -- what owns a closure, by ticket; who holds the function holds it
local formats = { bool = "B", u8 = "B", i32 = "<i4", i64 = "<i8", f32 = "<f", f64 = "<d" }

local Tensor, Compiled, Module, Optimizer, Error = {}, {}, {}, {}, {}
for _, class in pairs { Tensor, Compiled, Module, Optimizer, Error } do class.__index = class end

-- What the library refused: code is the number of thunder.h. What a closure raised comes back as itself.
function Error:__tostring() return self.message end
local function refuse(message, code) error(setmetatable({ message = message, code = code or 0 }, Error), 0) end

-- ---- between Lua's values and what the core's calls carry ----

local put
local function put_named(call, map)
  for name, value in pairs(map) do
    call:key(name)
    put(call, value)
  end
end

local function put_table(call, value)
  if #value > 0 or next(value) == nil then
    call:open_list()
    for _, element in ipairs(value) do put(call, element) end
  else
    call:open_map()
    put_named(call, value)
  end
  call:close()
end

function put(call, value)
  local kind = math.type(value) or type(value)
  if kind == "nil" then call:none()
  elseif kind == "boolean" then call:flag(value)
  elseif kind == "integer" then call:integer(value)
  elseif kind == "float" then call:real(value)
  elseif kind == "string" then call:text(value)
  elseif getmetatable(value) == Tensor then call:tensor(value.core)
  elseif kind == "table" then put_table(call, value)
  else refuse("a " .. kind .. " cannot go into the library", 3) end
end

local take
local function take_until(call, last)
  local list, n, kind = {}, 0, call:next()
  while kind ~= last do
    n = n + 1
    list[n] = take(call, kind)
    kind = call:next()
  end
  return list, n
end

local function take_map(call)
  local map, kind = {}, call:next()
  while kind ~= core.ITEM_CLOSE do
    local name = call:name()
    map[name] = take(call, kind)
    kind = call:next()
  end
  return map
end

local takers = {
  [core.ITEM_BOOLEAN] = function(call) return call:as_integer() ~= 0 end,
  [core.ITEM_INTEGER] = function(call) return call:as_integer() end,
  [core.ITEM_REAL] = function(call) return call:as_real() end,
  [core.ITEM_TEXT] = function(call) return call:as_text() end,
  [core.ITEM_TENSOR] = function(call)
    if core.should_collect() then collectgarbage() end
    return setmetatable({ core = call:as_tensor() }, Tensor)
  end,
  [core.ITEM_LIST] = function(call) return (take_until(call, core.ITEM_CLOSE)) end,
  [core.ITEM_MAP] = take_map,
}
function take(call, kind)
  local taker = takers[kind]
  return taker and taker(call)
end

-- What the call made, one value after the other. Raises what went wrong in it.
local function results(call)
  if call:failed() then
    local thrown = raised[call:ticket()]
    if thrown then error(thrown.value, 0) end
    refuse(call:message(), call:code())
  end
  local list, n = take_until(call, core.ITEM_END)
  return table.unpack(list, 1, n)
end

-- An action that makes an object of the core gives it back in place of results.
local function finish(call, made, ...)
  if type(made) == "userdata" then
    results(call)
    return made
  end
  return results(call)
end

-- perform(action, items, named items, the action's own arguments ...)
local function perform(action, items, named, ...)
  local call = core.Call()
  for i = 1, items and (items.n or #items) or 0 do put(call, items[i]) end
  if named then put_named(call, named) end
  return finish(call, call[action](call, ...))
end

local function new_ticket()
  local dropped = core.next_dropped()
  while dropped ~= 0 do
    raised[dropped] = nil
    dropped = core.next_dropped()
  end
  return core.new_ticket()
end

-- The line of the user's program, for traces.
local this_file = debug.getinfo(1, "S").source
local function place()
  if not core.is_tracing() then return "" end
  for level = 2, math.huge do
    local about = debug.getinfo(level, "Sl")
    if not about then return "" end
    if about.currentline > 0 and about.source ~= this_file then return about.short_src .. ":" .. about.currentline end
  end
end

core.set_dispatch(function(ticket)
  local call = core.callback()
  local ok, thrown = xpcall(function()
    local owner = closures[ticket] or refuse "the function was collected: keep what was compiled"
    local list, n = take_until(call, core.ITEM_END)
    local returned = table.pack(owner.closure(table.unpack(list, 1, n)))
    call:reset()
    for i = 1, returned.n do put(call, returned[i]) end
  end, function(value) return { value = value } end)
  if ok then return end
  local id = new_ticket()
  raised[id] = thrown
  call:fail(tostring(thrown.value), id)
end)

-- ---- tensors ----

local function elements(values, shape, depth, flat)
  if type(values) ~= "table" then
    flat[#flat + 1] = values
  elseif #values ~= shape[depth] then
    refuse("tables of a tensor must be of equal size", 3)
  else
    for _, value in ipairs(values) do elements(value, shape, depth + 1, flat) end
  end
  return flat
end

local function dtype_of(flat)
  local kinds = {}
  for _, value in ipairs(flat) do kinds[math.type(value) or type(value)] = true end
  if next(kinds, next(kinds)) == nil and kinds.integer then return "i64" end
  return next(kinds, next(kinds)) == nil and kinds.boolean and "bool" or "f32"
end

local function pack(dtype, flat)
  local format = formats[dtype] or refuse("there is no dtype " .. tostring(dtype), 5)
  local parts = {}
  for i, value in ipairs(flat) do
    if dtype == "bool" then value = value and 1 or 0 end
    parts[i] = format:pack(value)
  end
  return table.concat(parts)
end

-- A tensor of nested tables, or of one number: i64 when all are integers, else f32.
function th.tensor(values, dtype)
  if dtype == "bf16" then return th.tensor(values, "f32"):to "bf16" end
  local shape, first = {}, values
  while type(first) == "table" do
    shape[#shape + 1] = #first
    first = first[1]
  end
  local flat = elements(values, shape, 1, {})
  dtype = dtype or dtype_of(flat)
  return perform("create", shape, nil, dtype, pack(dtype, flat))
end

function Tensor:dtype() return self.core:dtype() end
function Tensor:rank() return self.core:rank() end
function Tensor:size(axis) return self.core:size(axis) end

function Tensor:shape()
  local shape = {}
  for axis = 1, self:rank() do shape[axis] = self:size(axis - 1) end
  return shape
end

-- All elements in one table.
function Tensor:flat()
  if self:dtype() == "bf16" then return self:to("f32"):flat() end
  local call = core.Call()
  call:read(self.core)
  results(call)
  local data, format, flat, at = call:data(), formats[self:dtype()], {}, 1
  while at <= #data do flat[#flat + 1], at = format:unpack(data, at) end
  if self:dtype() == "bool" then
    for i, value in ipairs(flat) do flat[i] = value ~= 0 end
  end
  return flat
end

-- Nested tables; of a tensor without axes, the number.
function Tensor:totable()
  local flat, shape = self:flat(), self:shape()
  if #shape == 0 then return flat[1] end
  for axis = #shape, 2, -1 do
    local rows, count = {}, shape[axis]
    for at = 1, #flat, math.max(count, 1) do rows[#rows + 1] = table.move(flat, at, at + count - 1, 1, {}) end
    flat = rows
  end
  return flat
end

function Tensor:item()
  local flat = self:flat()
  if #flat ~= 1 then refuse("item: the tensor has not one element", 3) end
  return flat[1]
end

-- New elements of the same count, in place: what was compiled over this tensor sees them.
function Tensor:assign(flat)
  perform("write", nil, nil, self.core, pack(self:dtype(), flat))
  return self
end

function Tensor:__tostring()
  if not self.core:is_concrete() then return "tensor(traced, " .. self:dtype() .. ")" end
  return "tensor({ " .. table.concat(self:flat(), ", ") .. " }, " .. self:dtype() .. ")"
end

-- ---- functions ----

local function compiled(fields, options)
  fields.core = perform("compile", nil, options, fields.func)
  return fields
end

function th.compile(closure, options)
  local self = setmetatable({ closure = closure }, Compiled)
  local ticket = new_ticket()
  closures[ticket] = self
  self.func = perform("make_function", nil, nil, "", ticket)
  return compiled(self, options)
end

-- A frame that stays holds what is called: nobody else may, and the collector runs during the call.
local function behind(_, ...) return ... end
function Compiled:__call(...) return behind(self, perform("call", table.pack(...), nil, self.core)) end

-- The same function, returning its results and the gradients of the first. wrt: paths of arguments, such as "0,1.w".
function Compiled:value_and_grad(wrt, captured)
  local func = perform("value_and_grad", captured and { captured }, nil, self.func, wrt or "")
  return compiled(setmetatable({ base = self, func = func }, Compiled))
end

function Compiled:traces()
  local list = {}
  for stage = 1, self.core:trace_count() do list[stage] = self.core:trace(stage - 1) end
  return list
end

function Compiled:last_miss() return self.core:last_miss() end
function Compiled:explain() return self.core:fusion_report() end
function Compiled:stats() return perform("statistics", nil, nil, self.core) end

-- In a compiled function: the gradients of a loss, in the structure of wrt.
function th.grad_of(loss, wrt) return perform("grad_of", { loss, wrt }) end

-- ---- modules ----

function th.module(kind, ...)
  local args, named = table.pack(...), nil
  if type(args[args.n]) == "table" and #args[args.n] == 0 then named, args.n = args[args.n], args.n - 1 end
  return setmetatable({ core = perform("make_module", args, named, kind), children = {} }, Module)
end

function Module:add(name, child)
  perform("add_child", nil, nil, self.core, tostring(name), child.core)
  self.children[tostring(name)] = child
  return self
end

function Module:__call(...) return perform("forward", table.pack(...), nil, self.core) end
function Module:parameters() return perform("parameters", nil, nil, self.core) end
function Module:state() return perform("state", nil, nil, self.core) end
function Module:train(on) perform("train", nil, nil, self.core, on ~= false) return self end
function Module:save(path) perform("save", nil, nil, self.core, path) return self end
function Module:load(path) perform("load", nil, nil, self.core, path) return self end

function th.optimizer(kind, parameters, options)
  return setmetatable({ core = perform("make_optimizer", { parameters }, options, kind) }, Optimizer)
end
function Optimizer:step(gradients) perform("step", { gradients }, nil, self.core) return self end

-- ---- the rest ----

for _, action in ipairs { "read_csv", "read_npy", "read_idx", "read_safetensors", "seed", "load_plugin", "describe" } do
  th[action] = function(argument) return perform(action, nil, nil, argument) end
end
function th.write_npy(tensor, path) perform("write_npy", nil, nil, tensor.core, path) end
function th.write_safetensors(map, path) perform("write_safetensors", { map }, nil, path) end
th.version, th.Error = core.version, Error

-- Every op, from the registry: th.NAME(...) and, when a tensor comes first, tensor:NAME(...).
local function op(name)
  return function(...)
    local args, named = table.pack(...), nil
    local last = args[args.n]
    if type(last) == "table" and getmetatable(last) == nil and #last == 0 and next(last) ~= nil then
      named, args.n = last, args.n - 1
    end
    return perform("op", args, named, name, place())
  end
end
local function define_op(row)
  th.ops[row.name] = row
  for _, name in ipairs { row.name, row.inplace and row.name .. "_" or nil } do
    th[name] = op(name)
    if row.parameters[1] and row.parameters[1].kind == "tensor" then Tensor[name] = th[name] end
  end
end
for _, row in ipairs(th.describe "ops") do define_op(row) end

local kept = {} -- what owns a closure of an op
local function keep(closure)
  local ticket = new_ticket()
  kept[ticket] = { closure = closure }
  closures[ticket] = kept[ticket]
  return ticket
end

-- An op of your own, for ever: the closure computes it from its arguments by other ops. vjp gets tables of the arguments, the
-- results, their cotangents and which gradients are wanted, and returns a gradient for each argument.
function th.add_op(schema, doc, closure, vjp)
  perform("add_op", nil, nil, schema, doc, keep(closure), vjp and keep(vjp) or 0)
  for _, row in ipairs(th.describe "ops") do
    if row.name == schema:match "^[%w_.]+" then define_op(row) end
  end
end

-- Rules such as "div(a, sqrt(b)) -> mul(a, rsqrt(b))", as a pass of every compile from now on.
function th.add_pass(name, rules, at)
  perform("add_pass", rules, nil, name, at and at.before or "", at and at.after or "")
end

Tensor.__add, Tensor.__sub, Tensor.__mul, Tensor.__div = th.add, th.sub, th.mul, th.div
Tensor.__pow, Tensor.__unm = th.pow, function(self) return th.neg(self) end

-- What an op does, with its signature.
function th.doc(name) return th.ops[name].schema .. "\n" .. th.ops[name].doc end

return th
