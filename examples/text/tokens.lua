-- Text as integers from 0 to size - 1, and back: bytes, or the byte pairs of a vocabulary.
local mistake = require "text.mistake"
local tokens = {}

local PIECE = 4096 -- arguments of one call of string.char

function tokens.bytes()
  return {
    size = 256,
    encode = function(text)
      local ids = {}
      for at = 1, #text, PIECE do table.move({ text:byte(at, at + PIECE - 1) }, 1, PIECE, at, ids) end
      return ids
    end,
    decode = function(ids)
      local parts = {}
      for at = 1, #ids, PIECE do parts[#parts + 1] = string.char(table.unpack(ids, at, math.min(at + PIECE - 1, #ids))) end
      return table.concat(parts)
    end,
  }
end

-- The user's files if there are any; both or none.
function tokens.open(vocabulary, merges)
  if not vocabulary and not merges then return tokens.bytes() end
  if not (vocabulary and merges) then mistake("--vocab and --merges go together") end
  return require("text.bpe").read(vocabulary, merges)
end

return tokens
