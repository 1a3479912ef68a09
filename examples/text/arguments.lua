-- The command line of a program, judged by a table: arguments.read(rows, words) gives the values by name.
--   rows: { { "steps", "integer", 200, "how many steps in all", least = 1 }, ... }; kinds: integer, number, text, list
local mistake = require "text.mistake"
local arguments = {}

local readers = {
  integer = function(word) return math.tointeger(tonumber(word)), "a whole number" end,
  number = function(word) return tonumber(word), "a number" end,
  text = function(word) return word, "text" end,
}
readers.list = readers.text

local function default_text(default)
  if default == nil then return "" end
  return type(default) == "string" and (' ("%s")'):format(default:gsub("\n", "\\n")) or (" (%s)"):format(default)
end

-- A line for each option.
function arguments.usage(rows)
  local lines = {}
  for i, row in ipairs(rows) do
    local name, kind, default, doc = table.unpack(row, 1, 4)
    lines[i] = ("  --%-22s %s%s"):format(name .. " " .. kind:upper(), doc, default_text(default))
  end
  return table.concat(lines, "\n")
end

local function bounds_text(row)
  return row.most and ("from %s to %s"):format(row.least, row.most) or ("at least %s"):format(row.least)
end

local function read_value(row, word)
  local name, kind = row[1], row[2]
  local value, wanted = readers[kind](word)
  if value == nil then mistake("--%s takes %s, not '%s'", name, wanted, word) end
  if (row.least and value < row.least) or (row.most and value > row.most) then
    mistake("--%s must be %s, not %s", name, bounds_text(row), word)
  end
  return value
end

function arguments.read(rows, words)
  local by_name, values, names = {}, {}, {}
  for _, row in ipairs(rows) do
    by_name[row[1]], names[#names + 1] = row, "--" .. row[1]
    values[row[1]] = row[3]
  end
  local at = 1
  while at <= #words do
    local row = by_name[words[at]:match "^%-%-(.+)" or ""]
    if not row then mistake("unknown option '%s'; there are %s", words[at], table.concat(names, ", ")) end
    local word = words[at + 1]
    if not word then mistake("--%s needs a value", row[1]) end
    local value = read_value(row, word)
    if row[2] == "list" then
      values[row[1]] = table.move({ value }, 1, 1, #(values[row[1]] or {}) + 1, values[row[1]] or {})
    else
      values[row[1]] = value
    end
    at = at + 2
  end
  return values
end

return arguments
