-- Reads the JSON in which the library describes itself: core.json(text).
local _, core = ...

local escapes = { b = "\b", f = "\f", n = "\n", r = "\r", t = "\t" }

local function unescape(text)
  text = text:gsub("\\u(%x%x%x%x)", function(hex) return utf8.char(tonumber(hex, 16)) end)
  return (text:gsub("\\(.)", function(c) return escapes[c] or c end))
end

local value

local function string_at(text, at)
  local from = at + 1
  local to = from
  while true do
    to = text:find('["\\]', to)
    if text:sub(to, to) == '"' then break end
    to = to + 2
  end
  local raw = text:sub(from, to - 1)
  return raw:find("\\", 1, true) and unescape(raw) or raw, to + 1
end

local function list_at(text, at)
  local list = {}
  at = text:find("%S", at + 1)
  while text:sub(at, at) ~= "]" do
    list[#list + 1], at = value(text, at)
    at = text:find("[^%s,]", at)
  end
  return list, at + 1
end

local function map_at(text, at)
  local map = {}
  at = text:find("%S", at + 1)
  while text:sub(at, at) ~= "}" do
    local key
    key, at = string_at(text, at)
    map[key], at = value(text, text:find("[^%s:]", at))
    at = text:find("[^%s,]", at)
  end
  return map, at + 1
end

local words = { t = { true, 4 }, f = { false, 5 }, n = { nil, 4 } }

function value(text, at)
  local c = text:sub(at, at)
  if c == '"' then return string_at(text, at) end
  if c == "[" then return list_at(text, at) end
  if c == "{" then return map_at(text, at) end
  if words[c] then return words[c][1], at + words[c][2] end
  local number = text:match("^[-+.%deE]+", at)
  return tonumber(number), at + #number
end

-- What the library says of itself grows with it: a script's limit does not count its reading.
core.json = core.without_limit(function(text) return (value(text, (text:find("%S")))) end)
