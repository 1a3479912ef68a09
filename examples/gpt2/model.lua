-- GPT-2, whose parameters have the names and shapes of the weights that Hugging Face publishes.
local th = require "thunder"
local attend = require "text.attend"
local nn = th.nn
local model = { name = "gpt2" }

model.sizes = {
  tiny = { layers = 2, width = 64, heads = 4, context = 64 },
  small = { layers = 4, width = 128, heads = 4, context = 128 },
  ["gpt2"] = { layers = 12, width = 768, heads = 12, context = 1024 },
  ["gpt2-medium"] = { layers = 24, width = 1024, heads = 16, context = 1024 },
  ["gpt2-large"] = { layers = 36, width = 1280, heads = 20, context = 1024 },
  ["gpt2-xl"] = { layers = 48, width = 1600, heads = 25, context = 1024 },
}

-- What published files hold beside the parameters: masks of the attention, and the head, which is wte again.
model.prefix = "transformer."
model.passed_over = { "%.attn%.bias$", "%.attn%.masked_bias$" }
model.tied = { ["lm_head.weight"] = "wte.weight" }
model.embedding = "wte.weight"

-- A Linear whose weight is [in, out], as GPT-2's files have it.
local function conv1d(inputs, outputs, deviation)
  local layer = nn.Module { weight = th.randn(inputs, outputs) * deviation, bias = th.zeros(outputs) }
  function layer:forward(x) return th.linear(x, self.weight:transpose(0, 1), self.bias) end
  return layer
end

local function embedding(rows, width, deviation)
  local layer = nn.Embedding(rows, width)
  layer.weight:mul_(deviation)
  return layer
end

local function block(config)
  local width = config.width
  local residual = 0.02 / math.sqrt(2 * config.layers) -- of what is added to the residual stream, 2 * layers times
  return nn.Module {
    ln_1 = nn.LayerNorm(width),
    attn = nn.Module { c_attn = conv1d(width, 3 * width, 0.02), c_proj = conv1d(width, width, residual) },
    ln_2 = nn.LayerNorm(width),
    mlp = nn.Module { c_fc = conv1d(width, 4 * width, 0.02), c_proj = conv1d(4 * width, width, residual) },
  }
end

-- config: a size, `vocabulary`, and `dropout` if there is any.
function model.make(config)
  local width, heads, dropout = config.width, config.heads, config.dropout or 0.0
  local blocks = {}
  for layer = 1, config.layers do blocks[layer] = block(config) end
  local net = nn.Module {
    wte = embedding(config.vocabulary, width, 0.02), wpe = embedding(config.context, width, 0.01),
    h = nn.Module(blocks), ln_f = nn.LayerNorm(width),
  }

  -- tokens: int64[batch, tokens]. Gives logits, [batch, tokens, vocabulary] of the weights' dtype; with `positions` and a cache those
  -- that follow the last token, [batch, 1, vocabulary].
  function net:forward(tokens, positions, cache)
    local p = self.training and dropout or 0.0
    local function drop(x) return th.dropout(x, p, p > 0) end
    positions = positions or th.arange(tokens.shape[2]):to(tokens.device)
    local see = attend.by(cache, positions, p)
    local x = drop(self.wte(tokens) + self.wpe(positions))
    for layer = 1, config.layers do
      local here = self.h[layer]
      local parts = { here.attn.c_attn(here.ln_1(x)):split(width, -1) }
      for i, part in ipairs(parts) do parts[i] = attend.split_heads(part, heads) end
      local y = attend.join_heads(see(layer, table.unpack(parts)))
      x = x + drop(here.attn.c_proj(y))
      x = x + drop(here.mlp.c_proj(th.gelu(here.mlp.c_fc(here.ln_2(x)), "tanh")))
    end
    if cache then x = x[{ {}, { -1, -1 } }] end
    return th.linear(self.ln_f(x), self.wte.weight)
  end
  return net
end

return model
