-- Lists of names, and checks that options are known.
local th, core = ...

-- "a, b, c": the keys of a table, sorted.
function core.listed(names)
  local sorted = {}
  for name in pairs(names) do sorted[#sorted + 1] = name end
  table.sort(sorted)
  return table.concat(sorted, ", ")
end

-- A table that raises an error when a name that it lacks is read.
function core.strict(names, called)
  local shown = core.listed(names)
  return setmetatable(names, {
    __metatable = false,
    __tostring = function() return ("%s: %s"):format(called, shown) end,
    __index = function(_, name)
      core.refuse(("%s has nothing named '%s'%s"):format(called, tostring(name), core.suggest(tostring(name), names)))
    end,
  })
end

-- The sizes of a tensor: a list that prints as a list and is equal to any list of the same sizes.
local shape_type = { __metatable = "shape", __name = "thunder.shape" }
function shape_type.__tostring(shape)
  local sizes = {}
  for i, size in ipairs(shape) do sizes[i] = tostring(size) end
  return "{" .. table.concat(sizes, ", ") .. "}"
end
function shape_type.__eq(a, b)
  if #a ~= #b then return false end
  for i, size in ipairs(a) do
    if not th.sizes_equal(size, b[i]) then return false end
  end
  return true
end
function core.shape_of(tensor) return setmetatable(core.shape(tensor), shape_type) end

-- Whether a value is a plain container (a list, a map, a shape) rather than an object.
function core.is_plain(value)
  if type(value) ~= "table" then return false end
  local metatable = getmetatable(value)
  return metatable == nil or metatable == "shape"
end

-- Refuses options that are not among `known` (name = true); returns the options.
function core.check_options(who, options, known)
  if options == nil then return {} end
  if type(options) ~= "table" then core.refuse(who .. ": options are a table of names and values") end
  for name in pairs(options) do
    if not known[name] then
      core.refuse(("%s: unknown option '%s'%s"):format(who, tostring(name), core.suggest(tostring(name), known)))
    end
  end
  return options
end
