-- Text from a model, a token at a time.
local th = require "thunder"
local attend = require "text.attend"
local generate = {}

-- Prompts go in by so many tokens while there are as many, then one by one: two programs, whatever the length.
local CHUNK = 32

local Writer = {}
Writer.__index = Writer

-- What writes with `net`: writer:read(tokens) gives the logits of the token that follows, float32[vocabulary].
function generate.writer(net, config)
  net:eval()
  local _, like = next(net:parameters())
  local cache = attend.cache(config, like)
  local step = th.compile(function(tokens, positions)
    return net(tokens:to(like.device), positions:to(like.device), cache):flatten():to(th.float32)
  end)
  return setmetatable({ step = step, context = config.context, tokens = {}, position = 0 }, Writer)
end

function Writer:read(tokens)
  table.move(tokens, 1, #tokens, #self.tokens + 1, self.tokens)
  local logits
  while self.position < #self.tokens do
    if self.position % self.context == 0 and self.position > 0 then self:forget() end
    local n = math.min(#self.tokens - self.position, self.context - self.position) >= CHUNK and CHUNK or 1
    local first = self.position + 1
    logits = self.step(th.tensor { table.move(self.tokens, first, self.position + n, 1, {}) },
                       th.arange(self.position, self.position + n))
    self.position = self.position + n
  end
  return logits
end

-- When the cache is full, the later half of it is read again from the first position on.
function Writer:forget()
  local kept = self.context // 2
  self.tokens = table.move(self.tokens, self.position - kept + 1, #self.tokens, 1, {})
  self.position = 0
end

-- The `count` likeliest as a list of { logit, id }, in descending order.
local function likeliest(logits, count)
  local best = {}
  for id, logit in ipairs(logits) do
    if #best < count or logit > best[#best][1] then
      local at = #best + 1
      while at > 1 and best[at - 1][1] < logit do at = at - 1 end
      table.insert(best, at, { logit, id - 1 })
      best[count + 1] = nil
    end
  end
  return best
end

-- A token drawn from softmax(logits / temperature), among the top_k likeliest if that is given; temperature 0 takes the
-- likeliest. `draw` gives numbers in [0, 1).
function generate.pick(logits, options, draw)
  if options.temperature == 0 then return likeliest(logits, 1)[1][2] end
  local candidates
  if options.top_k then
    candidates = likeliest(logits, options.top_k)
  else
    candidates = {}
    for id, logit in ipairs(logits) do candidates[id] = { logit, id - 1 } end
  end
  local top = -math.huge
  for _, candidate in ipairs(candidates) do top = math.max(top, candidate[1]) end
  local total, weights = 0, {}
  for i, candidate in ipairs(candidates) do
    weights[i] = math.exp((candidate[1] - top) / options.temperature)
    total = total + weights[i]
  end
  local left = draw() * total
  for i, candidate in ipairs(candidates) do
    left = left - weights[i]
    if left < 0 then return candidate[2] end
  end
  return candidates[#candidates][2]
end

-- for id in generate.tokens(writer, prompt, { count, temperature, top_k, seed }) do ... end
function generate.tokens(writer, prompt, options)
  math.randomseed(options.seed)
  local next_tokens, made = prompt, 0
  return function()
    if made == options.count then return nil end
    local logits = writer:read(next_tokens):tolist()
    next_tokens = { generate.pick(logits, options, math.random) }
    made = made + 1
    return next_tokens[1]
  end
end

return generate
