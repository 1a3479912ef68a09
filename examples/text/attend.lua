-- How positions see each other: all at once while training, through a cache of keys and values while generating.
-- Queries are [batch, heads, tokens, width of a head], keys and values the same with as many heads or fewer.
local th = require "thunder"
local attend = {}

-- Keys and values of every position of one text, for each layer, in memory that is written in place: a program that
-- reads and writes them is the same at every position. They have the dtype of `like`, a tensor, and lie on its device.
function attend.cache(config, like)
  local cache = { keys = {}, values = {}, places = th.arange(config.context):to(like.device) }
  for layer = 1, config.layers do
    for _, part in ipairs { cache.keys, cache.values } do
      part[layer] = th.zeros(1, config.key_heads or config.heads, config.context, config.width // config.heads):to(like.device):to(like.dtype)
    end
  end
  return cache
end

local function attention(q, k, v, mask, dropout, causal)
  return th.scaled_dot_product_attention(q, k, v, mask, dropout, causal, nil, q:size(1) ~= k:size(1))
end

-- The function (layer, q, k, v) that a model calls: each position sees itself and those before it. With a cache, keys and
-- values are first stored at `positions`, int64[tokens].
function attend.by(cache, positions, dropout)
  if not cache then
    return function(_, q, k, v) return attention(q, k, v, nil, dropout, true) end
  end
  local seen = cache.places:le(positions:unsqueeze(1)) -- [tokens, context]
  local function store(all, new)
    all:permute({ 2, 0, 1, 3 }):index_put_({ positions }, new:permute { 2, 0, 1, 3 })
    return all
  end
  return function(layer, q, k, v)
    return attention(q, store(cache.keys[layer], k), store(cache.values[layer], v), seen, 0.0, false)
  end
end

-- [batch, tokens, heads * width] as [batch, heads, tokens, width], and back. The number of tokens is not looked at, so that
-- one trace is good for any (docs/dynamic.md).
function attend.split_heads(x, heads)
  return x:reshape(x:size(0), -1, heads, x:size(2) // heads):transpose(1, 2)
end
function attend.join_heads(x)
  return x:transpose(1, 2):reshape(x:size(0), -1, x:size(1) * x:size(3))
end

return attend
