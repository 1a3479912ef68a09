-- losses.lua EXAMPLES FOLDER [NAME [STEPS]]: the losses of so many (50) training steps of gpt2 (the default), gpt2-xl, llama or resnet50 on the first
-- GPU (or on the CPU where there is none), in float32, in bfloat16 and by autocast, with learning rates that rise over the steps and with constant ones.
-- Leaves weights, batches and losses in FOLDER for losses.py, which trains the same in PyTorch and compares.
package.path = (arg[1] or "examples") .. "/?.lua;" .. package.path
local th = require "thunder"
local train, autocast = require "text.train", require "text.autocast"
local folder, name, STEPS = arg[2] or ".", arg[3] or "gpt2", math.tointeger(arg[4] or 50)
local device = th.cuda.is_available() and th.cuda(0) or th.device "cpu"

-- The windows of a step: 4 of 256 tokens that can be learnt, since each token is the one before it, plus 1 to 3.
local function text()
  local BATCH, LENGTH, VOCABULARY = 4, 256, 256
  local steps = th.randint(1, 3, { STEPS * BATCH, LENGTH + 1 })
  local rows = th.remainder(th.cumsum(steps, 1), VOCABULARY):view(STEPS, BATCH, LENGTH + 1)
  return { rows = rows }, function(i) return rows[i]:to(device) end
end

-- 16 images of a step, of four batches in turn: each is its class's pattern of 7x7 squares, plus noise.
local function pictures()
  local BATCHES, BATCH, CLASSES = 4, 16, 10
  local labels = th.randint(0, CLASSES - 1, { BATCHES, BATCH })
  local patterns = th.randn(CLASSES, 3, 7, 1, 7, 1):expand(CLASSES, 3, 7, 32, 7, 32):reshape(CLASSES, 3, 224, 224)
  local images = patterns:index_select(0, labels:flatten()) + th.randn(BATCHES * BATCH, 3, 224, 224) * 0.5
  images = images:view(BATCHES, BATCH, 3, 224, 224)
  return { images = images, labels = labels }, function(i)
    local at = (i - 1) % BATCHES + 1
    return images[at]:to(device), labels[at]:to(device)
  end
end

local function update_text(net, parameters, optimizer)
  return function(rows) return train.update(net, rows, parameters, optimizer, 1.0) end
end

local function update_pictures(net, parameters, optimizer, dtype)
  return function(images, labels)
    local loss = th.cross_entropy(net(images:to(dtype)):to(th.float32), labels)
    optimizer:step(th.grad_of(loss, parameters))
    return loss
  end
end

-- What makes a language model of a size.
local function language(package, size, vocabulary)
  local model = require(package .. ".model")
  return function() return model.make(setmetatable({ vocabulary = vocabulary, dropout = 0 }, { __index = model.sizes[size] })) end
end

local function adamw(parameters, rate) return th.optim.AdamW(parameters, { lr = rate, weight_decay = 0.1 }) end
local function sgd(parameters, rate) return th.optim.SGD(parameters, { lr = rate, momentum = 0.9 }) end

-- rates: "constant R", or "rising to R".
local function language_case(make, kinds, rates)
  return { make = make, data = text, update = update_text, optimizer = adamw, kinds = kinds, rates = rates }
end
local ALL, OWN = { "float32", "bfloat16", "autocast" }, { "float32", "bfloat16" }
local cases = {
  gpt2 = language_case(language("gpt2", "gpt2", 256), ALL, { "constant 3e-4", "rising to 3e-4" }),
  ["gpt2-xl"] = language_case(language("gpt2", "gpt2-xl", 256), OWN, { "rising to 1e-4" }),
  llama = language_case(language("llama", "tinyllama-1.1b", 32000), OWN, { "rising to 1e-4" }),
  resnet50 = { make = function() return require "resnet.model".make("resnet50", 10) end, data = pictures, update = update_pictures,
               optimizer = sgd, kinds = ALL, rates = { "rising to 1e-2" } },
}

th.seed(0)
local this = cases[name] or error("no model " .. name)
local net, weights = this.make(), ("%s/%s.safetensors"):format(folder, name)
-- The last norm of each residual block starts at zero (https://arxiv.org/abs/1706.02677, 5.1): else a few steps make any rounding large.
for key, value in pairs(net:state_dict()) do
  if key:find "bn3%.weight$" then value:zero_() end
end
th.save(net:state_dict(), weights)
local kept, batch = this.data()
local forward = net.forward

local function losses(kind, schedule)
  local cast = kind == "autocast"
  local dtype = cast and th.float32 or th[kind]
  local rises, rate = schedule:find "rising" ~= nil, tonumber(schedule:match "%S+$")
  net:to(th.float32):to(th.device "cpu"):load_state_dict(th.load(weights))
  net:to(dtype):to(device)
  net.forward = forward
  if cast then autocast(net) end
  local parameters = net:parameters()
  local optimizer = this.optimizer(parameters, rate)
  local step = th.compile(this.update(net, parameters, optimizer, dtype))
  local out = {}
  for i = 1, STEPS do
    if rises then optimizer.lr = rate * i / STEPS end
    out[i] = step(batch(i)):item()
  end
  return out
end

for _, kind in ipairs(this.kinds) do
  for _, schedule in ipairs(this.rates) do
    local found = losses(kind, schedule)
    collectgarbage()
    kept[kind .. " " .. schedule] = th.tensor(found)
    print(("%s, %s, %s: loss %.6f, after %d steps %.6f, after %d %.6f"):format(name, kind, schedule, found[1], STEPS // 5,
      found[STEPS // 5 + 1], STEPS - 1, found[STEPS]))
  end
end
th.save(kept, ("%s/%s-losses.safetensors"):format(folder, name))
