-- Names: lists of them, and options that must be known.
local _, core = ...

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
