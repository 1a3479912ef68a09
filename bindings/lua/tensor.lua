-- Tensors: methods, operators and printing; indexing.lua has x[key]. Dims of ops are PyTorch's and count from 0.
local th, core = ...
local mt = core.metatable("tensor")

for name, dtype in pairs(core.dtypes) do
  if name == tostring(dtype) then th[name] = dtype end
end
-- th.finfo(dtype), th.iinfo(dtype): { max, min, eps, ... }; th.promote_types(a, b), th.can_cast(from, to), th.result_type(x, y): torch's.
for name, f in pairs(core.dtype_functions) do th[name] = f end
th.float, th.double, th.half = th.float32, th.float64, th.float16
th.long, th.short = th.int64, th.int16
th.pi, th.e, th.inf, th.nan = math.pi, math.exp(1), math.huge, 0 / 0
local function is_device(value)
  local text = type(value) == "userdata" and not core.is_tensor(value) and tostring(value) or value
  return type(text) == "string" and (text:match "^cpu$" or text:match "^cuda") ~= nil
end
-- x:to(dtype), x:to(device), x:to(device, dtype) or, as the op has it, x:to(dtype, device).
local to = th.to
function th.to(x, first, second)
  if is_device(first) then first, second = second, first end
  return to(x, first, is_device(second) and th.device(second) or second)
end

-- th.tensor({{1, 2}, {3, 4}}, th.float32): integers make int64, floats float32, booleans bool, and a mixture what holds all.
function th.tensor(data, dtype)
  if type(dtype) == "table" then dtype = core.check_options("tensor", dtype, { dtype = true }).dtype end
  if type(dtype) == "string" then
    local name = dtype
    dtype = core.dtypes[name] or core.refuse(("tensor: unknown dtype '%s'%s"):format(name, core.suggest(name, core.dtypes)))
  end
  if core.is_tensor(data) then return dtype and th.to(data, dtype) or th.clone(data) end
  if dtype == th.bfloat16 or dtype == th.float16 then return th.to(core.tensor(data, th.float64), dtype) end
  return core.tensor(data, dtype)
end
th.is_tensor = core.is_tensor

-- ---- members ----

-- The dims in another order, as PyTorch's x.T and x.mT have them.
local function reversed(x)
  local dims = {}
  for dim = core.rank(x) - 1, 0, -1 do dims[#dims + 1] = dim end
  return th.permute(x, dims)
end

local properties = {
  T = reversed,
  mT = function(x) return th.transpose(x, -2, -1) end,
  grad = function() core.refuse "a tensor has no member 'grad': grad_of(loss, parameters) gives the gradients as values" end,
  shape = core.shape_of,
  dtype = core.dtype,
  device = core.device_of,
  ndim = core.rank,
}
local methods = {
  tolist = core.tolist,
  item = core.item,
  nbytes = core.nbytes,
  is_contiguous = core.is_contiguous,
  close = mt.__close,
}
-- Whether the two are one tensor of the same elements, dtype and shape, NaN aside.
function methods.equal(x, y)
  local a, b = core.shape(x), core.shape(y)
  if #a ~= #b or x.dtype ~= y.dtype then return false end
  for i = 1, #a do
    if a[i] ~= b[i] then return false end
  end
  return th.all(th.eq(x, y)):item()
end
function methods.numel(x)
  local n = 1
  for _, size in ipairs(core.shape(x)) do n = n * size end
  return n
end
function methods.size(x, dim)
  if dim == nil then return core.shape_of(x) end
  return core.size(x, dim) or core.refuse(("size: dim %d is out of range for rank %d"):format(dim, core.rank(x)))
end
function methods.dim(x) return core.rank(x) end
-- th.where(condition): where it holds, a tensor for each dim, as indices have it.
local where = th.where
function th.where(condition, ...)
  if core.is_tensor(condition) and select("#", ...) == 0 then return th.nonzero_numpy(condition) end
  return where(condition, ...)
end
-- th.einsum(equation, a, b), or a list of the operands.
local einsum = th.einsum
function th.einsum(equation, first, ...)
  return einsum(equation, core.is_tensor(first) and { first, ... } or first)
end
-- Whether two tensors are close, or equal: a boolean, where they have elements; a tensor in a compiled function.
for _, name in ipairs { "allclose", "equal" } do
  local op = th[name]
  th[name] = function(...)
    local holds = op(...)
    if core.is_concrete(holds) then return core.item(holds) end
    return holds
  end
end
methods.allclose = th.allclose
-- Numbers drawn into the tensor.
function methods.uniform_(x, low, high) return th.copy_(x, th.uniform_like(x, low or 0, high or 1)) end
function methods.normal_(x, mean, std) return th.copy_(x, th.randn_like(x) * (std or 1) + (mean or 0)) end
-- As in PyTorch: the tensor's elements where the condition holds.
function methods.where(x, condition, other) return th.where(condition, x, other) end
methods.to = th.to
function methods.cpu(x) return th.to(x, th.cpu) end
function methods.cuda(x, index) return th.to(x, th.cuda(index)) end
for _, name in ipairs { "float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool" } do
  local dtype = th[name]
  methods[name] = function(x) return th.to(x, dtype) end
end
methods.float, methods.double, methods.half = methods.float32, methods.float64, methods.float16
methods.long, methods.int, methods.short = methods.int64, methods.int32, methods.int16
methods.char, methods.byte = methods.int8, methods.uint8

function mt.__index(x, key)
  if type(key) == "string" then
    if methods[key] then return methods[key] end
    if properties[key] then return properties[key](x) end
    local op = core.op_method(key)
    if op then
      methods[key] = op
      return op
    end
    local names = core.op_names()
    for _, group in ipairs { methods, properties } do
      for name in pairs(group) do names[name] = true end
    end
    core.refuse(("a tensor has no member '%s'%s"):format(key, core.suggest(key, names)))
  end
  if key == (core.shape(x)[1] or -1) + 1 and core.called_from_c() then return nil end
  return core.get_elements(x, key)
end

-- for i, row in ipairs(x), and pairs: `ipairs` reads on until there is nothing, which no line of a script may.
function mt.__pairs(x) return ipairs(x) end

-- x[key] = a number or a tensor that fits
function mt.__newindex(x, key, value)
  if type(key) == "string" then core.refuse(("a tensor's member '%s' cannot be set%s"):format(key, core.suggest(key, {}))) end
  core.set_elements(x, key, value)
end

function mt.__len(x)
  return core.shape(x)[1] or core.refuse("a tensor of rank 0 has no length")
end

-- ---- operators ----

-- Each is the op of its name.
for event, name in pairs { __add = "add", __sub = "sub", __mul = "mul", __div = "div", __idiv = "floor_divide", __mod = "remainder",
                           __pow = "pow", __band = "bitwise_and", __bor = "bitwise_or", __bxor = "bitwise_xor",
                           __shl = "bitwise_left_shift", __shr = "bitwise_right_shift" } do
  mt[event] = core.op_function(name)
end
-- Lua gives the operand of these twice.
for event, name in pairs { __unm = "neg", __bnot = "bitwise_not" } do
  local op = core.op_function(name)
  mt[event] = function(x) return op(x) end
end
-- A float argument of a compiled function looks like a number to who wrote `if rate > 0.1`.
local LIVE = ". Float arguments of a compiled function are live: tensors, so that a new value compiles nothing. A number to branch on or to "
  .. "count by is passed as an integer, a boolean or a string, which are constants, or is a local outside of the function; "
  .. "th.where(condition, a, b) chooses by a live one"
local function no_order(a, b)
  local number = type(a) == "number" or type(b) == "number"
  core.refuse("tensors are compared by x:lt(y), x:le(y), x:gt(y), x:ge(y), x:eq(y): in Lua < gives one boolean only"
    .. (number and core.is_recording() and #(type(a) == "number" and b or a).shape == 0 and LIVE or ""))
end
mt.__lt, mt.__le = no_order, no_order

-- ---- printing ----

mt.__tostring = core.tensor_text

-- th.set_printoptions { precision = 2 }: how tensors are printed from now on, by torch's names: precision, threshold,
-- edgeitems, linewidth, profile ("default", "short", "full"), sci_mode. What is not named stays, but for sci_mode.
function th.set_printoptions(options) core.set_printoptions(options or {}) end

-- What th.set_printoptions takes, and what it is now; sci_mode is nil where the elements decide.
function th.get_printoptions()
  local now = {}
  for _, row in ipairs(core.json(core.describe("printoptions"))) do
    local value = row.value
    if row.name == "sci_mode" then
      if value ~= "null" then now.sci_mode = value == "true" end
    elseif value == "inf" then
      now[row.name] = math.huge
    elseif value ~= "" then
      now[row.name] = math.tointeger(tonumber(value))
    end
  end
  return now
end
