-- Llama: RMSNorm, rotary positions, SwiGLU, fewer key heads than query heads; names and shapes as Hugging Face publishes.
local th = require "thunder"
local attend = require "text.attend"
local nn = th.nn
local model = { name = "llama" }

-- inner: the width of the feed-forward layers; base: of the rotations' wavelengths; tied: the head is the embedding.
local function size(layers, width, heads, key_heads, inner, context, more)
  local out = { layers = layers, width = width, heads = heads, key_heads = key_heads, inner = inner, context = context,
                base = 10000.0, eps = 1e-5, tied = false }
  for key, value in pairs(more or {}) do out[key] = value end
  return out
end
model.sizes = {
  tiny = size(2, 64, 4, 2, 176, 64),
  small = size(4, 128, 4, 2, 344, 128),
  ["smollm-135m"] = size(30, 576, 9, 3, 1536, 2048, { tied = true }),
  ["tinyllama-1.1b"] = size(22, 2048, 32, 4, 5632, 2048),
  ["llama-2-7b"] = size(32, 4096, 32, 32, 11008, 4096),
  ["llama-2-13b"] = size(40, 5120, 40, 40, 13824, 4096),
  ["llama-3-8b"] = size(32, 4096, 32, 8, 14336, 8192, { base = 500000.0 }),
}

model.passed_over = { "rotary_emb%.inv_freq$" } -- written by older files; it follows from the size
model.tied = { ["lm_head.weight"] = "model.embed_tokens.weight" } -- where the size says so
model.embedding = "model.embed_tokens.weight"

-- How processes divide the layers (th.parallel.parallelize_module): each computes with some of the heads.
model.plan = {
  ["model.layers.*.self_attn.q_proj"] = "colwise", ["model.layers.*.self_attn.k_proj"] = "colwise",
  ["model.layers.*.self_attn.v_proj"] = "colwise", ["model.layers.*.self_attn.o_proj"] = "rowwise",
  ["model.layers.*.mlp.gate_proj"] = "colwise", ["model.layers.*.mlp.up_proj"] = "colwise", ["model.layers.*.mlp.down_proj"] = "rowwise",
}

local DEVIATION = 0.02

local function linear(inputs, outputs)
  local layer = nn.Linear(inputs, outputs, false)
  layer.weight = th.randn(outputs, inputs) * DEVIATION
  return layer
end

local function block(config)
  local width, head = config.width, config.width // config.heads
  return nn.Module {
    input_layernorm = nn.RMSNorm(width, config.eps),
    self_attn = nn.Module {
      q_proj = linear(width, config.heads * head), k_proj = linear(width, config.key_heads * head),
      v_proj = linear(width, config.key_heads * head), o_proj = linear(config.heads * head, width),
    },
    post_attention_layernorm = nn.RMSNorm(width, config.eps),
    mlp = nn.Module {
      gate_proj = linear(width, config.inner), up_proj = linear(width, config.inner), down_proj = linear(config.inner, width),
    },
  }
end

-- What turns the first and the second half of each head's dims as the two coordinates of points, by an angle for each
-- position and pair: a function of [batch, heads, tokens, head].
local function rotation(config, positions)
  local half = config.width // config.heads // 2
  local rates = th.pow(config.base, th.arange(half):to(positions.device) * (-1.0 / half))
  local angles = positions:to(th.float32):unsqueeze(1) * rates -- [tokens, half]
  local cos, sin = angles:cos(), angles:sin()
  return function(x)
    local a, b = x:split(half, -1)
    return th.cat({ a * cos - b * sin, b * cos + a * sin }, -1):to(x.dtype)
  end
end

-- config: a size, `vocabulary`, `dropout` if there is any, and `parts`, if as many processes divide the layers.
function model.make(config)
  local dropout, parts = config.dropout or 0.0, config.parts or 1
  local blocks = {}
  for layer = 1, config.layers do blocks[layer] = block(config) end
  local embedding = nn.Embedding(config.vocabulary, config.width)
  embedding.weight:mul_(DEVIATION)
  local net = nn.Module {
    model = nn.Module { embed_tokens = embedding, layers = nn.Module(blocks), norm = nn.RMSNorm(config.width, config.eps) },
  }
  if not config.tied then net.lm_head = linear(config.width, config.vocabulary) end

  -- tokens: int64[batch, tokens]. Gives logits, [batch, tokens, vocabulary] of the weights' dtype; with `positions` and a cache those
  -- that follow the last token, [batch, 1, vocabulary].
  function net:forward(tokens, positions, cache)
    local p = self.training and dropout or 0.0
    local function drop(x) return th.dropout(x, p, p > 0) end
    positions = positions or th.arange(tokens.shape[2]):to(tokens.device)
    local see, rotate = attend.by(cache, positions, p), rotation(config, positions)
    local x = self.model.embed_tokens(tokens)
    for layer = 1, config.layers do
      local here = self.model.layers[layer]
      local attn, mlp, y = here.self_attn, here.mlp, here.input_layernorm(x)
      local q = rotate(attend.split_heads(attn.q_proj(y), config.heads // parts))
      local k = rotate(attend.split_heads(attn.k_proj(y), config.key_heads // parts))
      local v = attend.split_heads(attn.v_proj(y), config.key_heads // parts)
      x = x + drop(attn.o_proj(attend.join_heads(see(layer, q, k, v))))
      y = here.post_attention_layernorm(x)
      x = x + drop(mlp.down_proj(th.silu(mlp.gate_proj(y)) * mlp.up_proj(y)))
    end
    if cache then x = x[{ {}, { -1, -1 } }] end
    x = self.model.norm(x)
    return config.tied and th.linear(x, self.model.embed_tokens.weight) or self.lm_head(x)
  end
  return net
end

return model
