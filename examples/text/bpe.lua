-- GPT-2's byte-level byte-pair encoding, from the two files that its vocabulary is distributed as.
--   local tokens = bpe.read("vocab.json", "merges.txt")     tokens.encode "text" --> { ids }     tokens.decode { ids }
local mistake = require "text.mistake"
local unicode = require "text.unicode"
local bpe = {}

-- The files write each byte as a visible character: itself where that is one, else the next of those from U+0100 on.
local character, byte = {}, {}
do
  local others = 0
  for value = 0, 255 do
    local visible = (value >= 33 and value <= 126) or (value >= 161 and value <= 172) or value >= 174
    character[value] = utf8.char(visible and value or 256 + others)
    byte[character[value]] = string.char(value)
    others = others + (visible and 0 or 1)
  end
end

local function read_file(path)
  local file, problem = io.open(path, "rb")
  if not file then mistake(problem) end
  local text = file:read "a"
  file:close()
  return text
end

-- ---- vocab.json: {"token": id, ...} ----

local escapes = { b = "\b", f = "\f", n = "\n", r = "\r", t = "\t", ['"'] = '"', ["\\"] = "\\", ["/"] = "/" }

local function unescape(text)
  return (text:gsub("\\(.)(%x?%x?%x?%x?)", function(kind, hex)
    if kind == "u" then return utf8.char(tonumber(hex, 16)) end
    return escapes[kind] .. hex
  end))
end

local function read_vocabulary(path)
  local text = read_file(path)
  local id_of, token_of, count, at = {}, {}, 0, text:match "^%s*{()"
  while at do
    local from, to = text:match('^%s*"()', at), nil
    if not from then break end
    to = from
    while true do -- the quote that ends the name
      to = text:find('["\\]', to) or mistake(path .. ": a string does not end")
      if text:sub(to, to) == '"' then break end
      to = to + 2
    end
    local id, behind = text:match("^%s*:%s*(%d+)%s*,?()", to + 1)
    local token = unescape(text:sub(from, to - 1))
    id = math.tointeger(tonumber(id)) or mistake("%s: token '%s' has no number", path, token)
    id_of[token], token_of[id], count, at = id, token, count + 1, behind
  end
  if count == 0 then mistake(path .. ": no vocabulary, which is one JSON object of tokens and numbers") end
  for id = 0, count - 1 do
    if not token_of[id] then mistake("%s: %d tokens, none of number %d", path, count, id) end
  end
  return id_of, token_of, count
end

-- merges.txt: a pair a line, the earlier the sooner merged.
local function read_merges(path)
  local rank, count = {}, 0
  for line in read_file(path):gmatch "[^\r\n]+" do
    local left, right = line:match "^(%S+) (%S+)$"
    if left and left ~= "#version:" then
      count = count + 1
      rank[left .. " " .. right] = count
    end
  end
  if count == 0 then mistake(path .. ": no merges, which are two tokens a line") end
  return rank
end

-- ---- words: 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+ ----

-- Where each character of the text starts and what it is; bytes that are no UTF-8 are others.
local function characters(text)
  local starts, classes, at = {}, {}, 1
  while at <= #text do
    local length = utf8.len(text, at, at) and #utf8.char(utf8.codepoint(text, at)) or 1
    local valid = length > 1 or text:byte(at) < 128
    starts[#starts + 1] = at
    classes[#classes + 1] = valid and unicode.class(utf8.codepoint(text, at)) or "other"
    at = at + length
  end
  starts[#starts + 1] = at
  return starts, classes
end

local function contraction(text, at)
  local two, three = text:sub(at, at + 1), text:sub(at, at + 2)
  if three == "'re" or three == "'ve" or three == "'ll" then return 3 end
  if two == "'s" or two == "'t" or two == "'m" or two == "'d" then return 2 end
end

-- How many characters from the i-th on make a word.
local function word_length(text, starts, classes, i)
  local short = contraction(text, starts[i])
  if short then return short end
  local first = text:sub(starts[i], starts[i]) == " " and classes[i + 1] and classes[i + 1] ~= "space" and i + 1 or i
  local last = first
  while classes[last + 1] == classes[first] do last = last + 1 end
  -- Space before a word leaves it its last character.
  if classes[first] == "space" and last > first and classes[last + 1] then last = last - 1 end
  return last - i + 1
end

local function words(text)
  local starts, classes = characters(text)
  local i = 1
  return function()
    if not classes[i] then return nil end
    local from = i
    i = i + word_length(text, starts, classes, i)
    return text:sub(starts[from], starts[i] - 1)
  end
end

-- ---- pairs ----

local function merge(parts, rank)
  while #parts > 1 do
    local best, least = nil, math.huge
    for i = 1, #parts - 1 do
      local here = rank[parts[i] .. " " .. parts[i + 1]]
      if here and here < least then best, least = i, here end
    end
    if not best then break end
    local left, right, made = parts[best], parts[best + 1], {}
    local i = 1
    while i <= #parts do
      local both = parts[i] == left and parts[i + 1] == right
      made[#made + 1] = both and left .. right or parts[i]
      i = i + (both and 2 or 1)
    end
    parts = made
  end
  return parts
end

function bpe.read(vocabulary_path, merges_path)
  local id_of, token_of, count = read_vocabulary(vocabulary_path)
  local rank = read_merges(merges_path)
  local known = {} -- words met before

  local function encode_word(word)
    local parts = {}
    for i = 1, #word do parts[i] = character[word:byte(i)] end
    local ids = {}
    for i, token in ipairs(merge(parts, rank)) do
      ids[i] = id_of[token] or mistake("%s has no token '%s'", vocabulary_path, token)
    end
    return ids
  end

  local tokens = { size = count }
  function tokens.encode(text)
    local ids = {}
    for word in words(text) do
      known[word] = known[word] or encode_word(word)
      table.move(known[word], 1, #known[word], #ids + 1, ids)
    end
    return ids
  end
  -- Of tokens outside of byte pairs, such as <|endoftext|>, the name itself.
  function tokens.decode(ids)
    local parts = {}
    for i, id in ipairs(ids) do
      local token = token_of[id] or mistake("%s has no token %d", vocabulary_path, id)
      parts[i] = token:gsub(utf8.charpattern, byte)
    end
    return table.concat(parts)
  end
  return tokens
end

return bpe
