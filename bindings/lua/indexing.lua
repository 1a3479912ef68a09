-- x[key] and x[key] = value. Positions count from 1, as lists do in Lua, and -1 is the last; what a tensor of indices holds
-- counts from 0, as the ops have it that make such tensors (argsort, topk).
--   x[i]    x[{ i, { from, to, step }, {}, "...", th.newaxis, indices }]    x[mask]
local th, core = ...

th.newaxis = setmetatable({}, { __metatable = false, __tostring = function() return "newaxis" end })

-- Of a size that stands for any what is compared is a guard.
local function place(name, dim, index, size)
  local at = index < 0 and index + size or index - 1
  if at < 0 or at >= size then
    core.refuse(("%s %d is out of range: dim %d has %d elements%s"):format(name, index, dim, size,
      index == 0 and ", which count from 1" or ""))
  end
  return at
end

local function is_mask(part) return core.is_tensor(part) and core.dtype(part) == th.bool end

-- How many dims a part of a key takes: a mask as many as it has.
local function rank_of(part)
  if part == th.newaxis or part == "..." then return 0 end
  return is_mask(part) and core.rank(part) or 1
end

-- The key as a list without "...".
local function parts_of(x, key)
  local given = type(key) == "table" and key ~= th.newaxis and key or { key }
  local rank, taken, dots = core.rank(x), 0, false
  for _, part in ipairs(given) do
    taken = taken + rank_of(part)
    if part == "..." and dots then core.refuse 'an index can hold only one "..."' end
    dots = dots or part == "..."
  end
  if taken > rank then core.refuse(("a tensor of rank %d has no dim %d to index"):format(rank, rank)) end
  local parts = {}
  for _, part in ipairs(given) do
    if part ~= "..." then
      parts[#parts + 1] = part
    else
      for _ = 1, rank - taken do parts[#parts + 1] = {} end
    end
  end
  return parts
end

local function range(view, dim, part)
  local size = core.shape(view)[dim + 1]
  if #part == 0 then return view end
  local step = part[3] or 1
  if #part < 2 or #part > 3 or not (math.type(step) == "integer" or core.is_size(step)) or step < 1 then
    core.refuse "an index range is {from, to}, {from, to, step} with a positive step, or {} for all"
  end
  return th.slice(view, dim, place("index", dim, part[1], size), place("index", dim, part[2], size) + 1, step)
end

-- The view that integers, ranges and newaxis of a key make, and what is left: a list of
-- { first dim, number of dims, indices }.
local function basic(x, key)
  local view, dim, rest = x, 0, {}
  for _, part in ipairs(parts_of(x, key)) do
    if core.is_size(part) then
      view = th.select(view, dim, part > 0 and part - 1 or part)
    elseif math.type(part) == "integer" then
      view = th.select(view, dim, place("index", dim, part, core.shape(view)[dim + 1]))
    elseif part == th.newaxis then
      view, dim = th.unsqueeze(view, dim), dim + 1
    elseif core.is_tensor(part) then
      rest[#rest + 1] = { dim, rank_of(part), part }
      dim = dim + rank_of(part)
    elseif type(part) == "table" then
      view, dim = range(view, dim, part), dim + 1
    else
      core.refuse("an index must be an integer, a range {from, to}, a tensor, th.newaxis or \"...\", got " .. (math.type(part) or type(part)))
    end
  end
  return view, rest
end

-- The view with the indexed dims first, these dims, and the indices.
local function in_front(view, rest)
  local order, taken, dims, indices = {}, {}, {}, {}
  for i, one in ipairs(rest) do
    indices[i] = one[3]
    for dim = one[1], one[1] + one[2] - 1 do
      dims[#dims + 1], order[#order + 1], taken[dim] = dim, dim, true
    end
  end
  for dim = 0, core.rank(view) - 1 do
    if not taken[dim] then order[#order + 1] = dim end
  end
  return th.permute(view, order), dims, indices
end

-- Whether what is found stays where the indexed dims were: that of neighbours does, other comes to the front.
local function stays(dims)
  for i, dim in ipairs(dims) do
    if dim ~= dims[1] + i - 1 then return false end
  end
  return #dims > 0 and dims[1] > 0
end

local function append_range(list, from, to)
  for dim = from, to - 1 do list[#list + 1] = dim end
end

function core.get_elements(x, key)
  local view, rest = basic(x, key)
  if #rest == 0 then return view end
  local moved, dims, indices = in_front(view, rest)
  local found = th.index(moved, indices)
  if not stays(dims) then return found end
  local made, order = core.rank(found) - (core.rank(view) - #dims), {}
  append_range(order, made, made + dims[1])
  append_range(order, 0, made)
  append_range(order, made + dims[1], core.rank(found))
  return th.permute(found, order)
end

-- Values of the shape that get_elements gives, or one that broadcasts to it, with the indices' dims first.
local function to_front(value, dims, indices, rank)
  if not stays(dims) or core.rank(value) == 0 then return value end
  local made = 0
  for _, one in ipairs(indices) do made = math.max(made, is_mask(one) and 1 or core.rank(one)) end
  local full, shape, order = rank - #dims + made, {}, {}
  for _ = 1, full - core.rank(value) do shape[#shape + 1] = 1 end
  for _, size in ipairs(core.shape(value)) do shape[#shape + 1] = size end
  append_range(order, dims[1], dims[1] + made)
  append_range(order, 0, dims[1])
  append_range(order, dims[1] + made, full)
  return th.permute(th.reshape(value, shape), order)
end

function core.set_elements(x, key, value)
  if is_mask(key) and core.rank(key) == core.rank(x) and not core.is_tensor(value) then
    th.masked_fill_(x, key, value) -- also where the mask is traced
    return
  end
  local view, rest = basic(x, key)
  if #rest == 0 then
    if core.is_tensor(value) then th.copy_(view, value) else th.fill_(view, value) end
    return
  end
  local moved, dims, indices = in_front(view, rest)
  if core.is_tensor(value) then value = to_front(th.to(value, core.dtype(x)), dims, indices, core.rank(view)) end
  th.index_put_(moved, indices, value)
end
