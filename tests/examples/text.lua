-- What examples/gpt2 and examples/llama share: tokens, the cache, drawing, training and its checkpoints, the command line.
package.path = "../examples/?.lua;lua/?.lua;" .. package.path
local th = require "thunder"
local bpe = require "text.bpe"
local expect = require "support.expect"
local generate = require "text.generate"
local program = require "text.program"
local tokens = require "text.tokens"

local function read(path)
  local file <close> = assert(io.open(path, "rb"))
  return file:read "a"
end

-- ---- tokens ----

-- Bytes, also more than a call takes arguments.
local bytes = tokens.bytes()
local long = ("a\0\xff"):rep(5000)
assert(#bytes.encode(long) == 15000 and bytes.encode(long)[15000] == 255 and bytes.decode(bytes.encode(long)) == long)

-- Byte pairs: the tokens that another implementation finds, and back.
local folder = "examples/reference/"
local pairs_of_bytes = bpe.read(folder .. "vocab.json", folder .. "merges.txt")
local compared = 0
for hex, list in read(folder .. "tokens.json"):gmatch '"(%x*)": %[([%d, ]*)%]' do
  local text = hex:gsub("%x%x", function(digits) return string.char(tonumber(digits, 16)) end)
  local ids = pairs_of_bytes.encode(text)
  assert(table.concat(ids, ", ") == list, ("%q: %s, not %s"):format(text, table.concat(ids, ", "), list))
  assert(pairs_of_bytes.decode(ids) == text)
  compared = compared + 1
end
assert(compared == 10)
local broken = "no UTF-8: \xff\xfe\xe2\x28 and half of it \xf0\x9f"
assert(pairs_of_bytes.decode(pairs_of_bytes.encode(broken)) == broken)
assert(pairs_of_bytes.decode { pairs_of_bytes.size - 1 } == "<|endoftext|>")
expect.error(function() pairs_of_bytes.decode { pairs_of_bytes.size } end, "no token")
expect.error(function() bpe.read(folder .. "merges.txt", folder .. "merges.txt") end, "no vocabulary")
expect.error(function() bpe.read(folder .. "vocab.json", folder .. "vocab.json") end, "no merges")
expect.error(function() tokens.open "vocab.json" end, "go together")

-- ---- drawing ----

local logits = { 0.0, 3.0, 1.0, 2.0 }
local function drawn(options, times)
  local counts, x = { [0] = 0, 0, 0, 0 }, 0
  for _ = 1, times do
    x = (x + 0.618033988749895) % 1 -- as even as numbers in [0, 1) get
    local id = generate.pick(logits, options, function() return x end)
    counts[id] = counts[id] + 1
  end
  return counts
end
assert(drawn({ temperature = 0 }, 10)[1] == 10)
local all = drawn({ temperature = 1 }, 10000)
local total = 1 + math.exp(3) + math.exp(1) + math.exp(2)
for id, logit in ipairs(logits) do assert(math.abs(all[id - 1] / 10000 - math.exp(logit) / total) < 2e-3) end
local two = drawn({ temperature = 2, top_k = 2 }, 10000)
assert(two[0] == 0 and two[2] == 0)
assert(math.abs(two[3] / 10000 - 1 / (1 + math.exp(0.5))) < 2e-3)

-- ---- the cache ----

local function copied(list) return table.move(list, 1, #list, 1, {}) end

for _, name in ipairs { "gpt2", "llama" } do
  local model = require(name .. ".model")
  local config = setmetatable({ vocabulary = 31, context = 48 }, { __index = model.sizes.tiny })
  th.seed(3)
  local net = model.make(config)
  for _, parameter in pairs(net:parameters()) do parameter:mul_(4) end -- so that no two tokens are alike
  local prompt = {}
  for i = 1, 37 do prompt[i] = i * i % 31 end
  local whole = th.compile(net)
  local function without_cache(text) return whole(th.tensor { text })[{ 1, -1 }] end

  -- Read in pieces and one by one until the cache is full: the logits of the whole text, by two programs.
  local writer = generate.writer(net, config)
  local text = copied(prompt)
  local logits = writer:read(prompt)
  while #text < config.context do
    expect.values(logits, without_cache(text):tolist(), 1e-4)
    text[#text + 1] = #text * 7 % 31
    logits = writer:read { text[#text] }
  end
  expect.values(logits, without_cache(text):tolist(), 1e-4)
  assert(th.stats(writer.step).misses == 2)

  -- The tokens that are written are those of a model without a cache; the seed decides them.
  local function write(count, seed)
    local list = {}
    local options = { count = count, temperature = 0.7, top_k = 20, seed = seed }
    for id in generate.tokens(generate.writer(net, config), prompt, options) do list[#list + 1] = id end
    return list
  end
  local slow = copied(prompt)
  math.randomseed(5)
  while #slow <= config.context do
    slow[#slow + 1] = generate.pick(without_cache(slow):tolist(), { temperature = 0.7, top_k = 20 }, math.random)
  end
  assert(table.concat(write(12, 5), " ") == table.concat(slow, " ", #prompt + 1), name)
  assert(table.concat(write(12, 6), " ") ~= table.concat(write(12, 5), " "))
  -- Beyond its context the model goes on with the later half of what it saw.
  assert(#write(100, 5) == 100)
end

-- ---- the program ----

local directory = os.tmpname()
os.remove(directory)
assert(os.execute(("mkdir '%s'"):format(directory)))
local function at(name) return ("%s/%s"):format(directory, name) end

local function run_with(say, name, words) return program.run(require(name .. ".model"), words, say) end
-- What it prints, and what it returns.
local function run(name, ...)
  local printed = {}
  local result = run_with(function(text) printed[#printed + 1] = text end, name, { ... })
  return table.concat(printed), result
end

for _, name in ipairs { "gpt2", "llama" } do
  local checkpoint, export = at(name .. ".checkpoint"), at(name .. ".safetensors")
  local words = { "train", "--size", "tiny", "--batch", "4", "--steps", "90", "--lr", "3e-3", "--every", "30", "--dropout", "0.05" }
  local function train(...) return run(name, table.unpack(table.move({ ... }, 1, select("#", ...), #words + 1, copied(words)))) end

  -- The shipped text is learnt.
  local printed, losses = train("--export", export)
  assert(#losses == 90 and losses[1] > 5 and losses[90] < 3, ("%s: %g to %g"):format(name, losses[1], losses[90]))
  local held_out = tonumber(printed:match "step 90 of 90: loss %d+%.%d+, held out (%d+%.%d+)")
  assert(held_out < 3.1, printed)

  -- Interrupted and resumed, to the bit, whatever the seed.
  expect.error(function()
    run_with(function(text) assert(not text:find "step 60", "interrupted") end, name,
             table.move({ "--save", checkpoint }, 1, 2, #words + 1, copied(words)))
  end, "interrupted")
  local _, rest = train("--resume", checkpoint, "--seed", "7", "--save", checkpoint)
  assert(#rest == 30)
  for i, loss in ipairs(rest) do assert(loss == losses[60 + i], name) end

  -- The weights have published names; they and the checkpoint write the same.
  assert(th.data.safetensors(export)[name == "gpt2" and "h.1.mlp.c_proj.weight" or "model.layers.1.self_attn.k_proj.weight"])
  local function sample(weights)
    return (run(name, "sample", "--size", "tiny", "--prompt", "Shall I", "--count", "40", "--seed", "1", "--weights", weights))
  end
  local written = sample(export)
  assert(written:sub(1, 7) == "Shall I" and #written == 7 + 40 + 1)
  assert(sample(export) == written and sample(checkpoint) == written)
end

-- Byte pairs in the place of bytes.
local files = { "--vocab", folder .. "vocab.json", "--merges", folder .. "merges.txt" }
local said = run("gpt2", "train", "--size", "tiny", "--steps", "2", table.unpack(files))
assert(tonumber(said:match "tiny, (%d+) tokens") < #read "../examples/text/data/sonnets.txt")

local function refused(pattern, ...)
  local words = { ... }
  expect.error(function() run(table.unpack(words)) end, pattern)
end
refused("usage: gpt2.lua train|sample", "gpt2")
refused("unknown command 'trian'", "gpt2", "trian")
refused("unknown option '--step'", "gpt2", "train", "--step", "3")
refused("--steps needs a value", "gpt2", "train", "--steps")
refused("--steps takes a whole number, not 'many'", "gpt2", "train", "--steps", "many")
refused("--steps must be at least 1, not 0", "gpt2", "train", "--steps", "0")
refused("--dropout must be from 0 to 0.99, not 1", "gpt2", "train", "--dropout", "1")
refused("--size 'huge' is not known; there are tiny, small, gpt2,", "gpt2", "train", "--size", "huge")
refused("cannot read 'no such file'", "gpt2", "train", "--text", "no such file")
refused("--text: '.' is a folder", "gpt2", "train", "--text", ".")
refused("--window must be at most 64", "gpt2", "train", "--size", "tiny", "--window", "65")
refused("sample needs --weights", "gpt2", "sample")
refused("--vocab and --merges", "gpt2", "sample", "--weights", folder .. "gpt2_weights.safetensors")
refused("52 differences:\n  'h.0.attn.c_attn.bias' is float32[192], not float32[384]", "gpt2", "sample", "--weights", at "gpt2.safetensors")
refused("--weights: cannot open 'no such file'", "gpt2", "sample", "--weights", "no such file")
local no_weights, nowhere = folder .. "vocab.json", at "none/weights"
refused(("--weights: '%s' is not a valid safetensors file: "):format(no_weights), "gpt2", "sample", "--weights", no_weights)
refused(("--resume: '%s' is not a valid safetensors file: "):format(no_weights), "gpt2", "train", "--resume", no_weights)
local one_step = { "gpt2", "train", "--size", "tiny", "--steps", "1" }
for _, option in ipairs { "save", "export" } do
  refused(("--%s: cannot write '%s': "):format(option, nowhere), table.unpack(table.move({ "--" .. option, nowhere }, 1, 2, #one_step + 1, copied(one_step))))
end
refused("no parameter of this model", "llama", "sample", "--size", "tiny", "--weights", at "gpt2.safetensors")
assert(run("llama", "--help"):find("sizes: tiny, small, smollm-135m, tinyllama-1.1b, llama-2-7b, llama-3-8b, llama-2-13b", 1, true))

os.execute(("rm -r '%s'"):format(directory))
