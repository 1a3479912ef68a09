-- Unknown names: every error about one suggests the nearest that exists.
local _, core = ...

-- Insertions, deletions, replacements and exchanges of neighbours that turn a into b.
local function distance(a, b)
  local before, last, row = {}, {}, {}
  for j = 0, #b do last[j] = j end
  for i = 1, #a do
    row = { [0] = i }
    for j = 1, #b do
      -- Another case is the slightest slip there is.
      local x, y = a:sub(i, i), b:sub(j, j)
      local cost = x == y and 0 or x:lower() == y:lower() and 0.5 or 1
      row[j] = math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + cost)
      local swapped = i > 1 and j > 1 and a:byte(i) == b:byte(j - 1) and a:byte(i - 1) == b:byte(j)
      if swapped then row[j] = math.min(row[j], before[j - 2] + 1) end
    end
    before, last = last, row
  end
  return last[#b]
end

local FEW = 12

-- How an error about an unknown name ends: " (did you mean 'x'?)" when one is near, else "; there are a, b, c" when they
-- are few, else "". `names` is a table with names as keys. Of equally near ones the one whose length is nearest, then the
-- first in the alphabet, whatever the order of the table.
function core.suggest(name, names)
  local sorted = {}
  for candidate in pairs(names) do
    if type(candidate) == "string" then sorted[#sorted + 1] = candidate end
  end
  table.sort(sorted)
  local best, least = nil, math.max(#name > 3 and 2 or 1, #name // 3) + 1
  for _, candidate in ipairs(sorted) do
    local longer = math.abs(#candidate - #name)
    if longer < least then
      local cost = distance(name, candidate) + longer / 64
      if cost < least then best, least = candidate, cost end
    end
  end
  if best then return (" (did you mean '%s'?)"):format(best) end
  if #sorted == 0 or #sorted > FEW then return "" end
  return (#sorted == 1 and "; there is " or "; there are ") .. table.concat(sorted, ", ")
end

-- "a, b, c": the keys of a table, sorted.
function core.listed(names)
  local sorted = {}
  for name in pairs(names) do sorted[#sorted + 1] = name end
  table.sort(sorted)
  return table.concat(sorted, ", ")
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
