-- A program that trains a language model and writes with it: program.run(model, arg).
local th = require "thunder"
local arguments = require "text.arguments"
local attempt = require "text.attempt"
local autocast = require "text.autocast"
local generate = require "text.generate"
local mistake = require "text.mistake"
local tokens = require "text.tokens"
local train = require "text.train"
local weights = require "text.weights"
local program = {}

local here = debug.getinfo(1, "S").source:match "^@(.*/)" or ""

local common = {
  { "size", "text", "small", "one of those that are listed below" },
  { "weights", "list", nil, "a safetensors file to start from, or several, an option each" },
  { "vocab", "text", nil, "vocab.json of byte pairs; else tokens are bytes" },
  { "merges", "text", nil, "merges.txt of byte pairs" },
  { "seed", "integer", 42, "decides all that is drawn" },
  { "device", "text", "cpu", "where it computes: cpu, cuda or cuda:N" },
  { "dtype", "text", "float32", "of weights and activations: float32, bfloat16 or float64; losses are float32" },
}

local for_training = {
  { "text", "text", here .. "data/sonnets.txt", "the file to learn" },
  { "steps", "integer", 300, "how many in all", least = 1 },
  { "batch", "integer", 8, "windows a step", least = 1 },
  { "window", "integer", nil, "tokens of a window; as many as the model sees unless given", least = 1 },
  { "lr", "number", 1e-3, "the learning rate after warm-up", least = 0 },
  { "warmup", "integer", 20, "steps until then", least = 0 },
  { "decay", "number", 0.1, "AdamW's weight decay", least = 0 },
  { "clip", "number", 1.0, "the largest norm of all gradients together", least = 0 },
  { "dropout", "number", 0.0, "the share that is dropped", least = 0, most = 0.99 },
  { "every", "integer", 50, "steps between two reports", least = 1 },
  { "precision", "text", "highest", "of products of float32: highest, high or medium (docs/python.md)" },
  { "mesh", "text", nil, "data=N: N processes that mpirun started, each with its part of a step's windows; llama also data=N,tensor=M: M with parts of layers" },
  { "save", "text", nil, "a checkpoint to write at each report" },
  { "resume", "text", nil, "a checkpoint to go on from, bit for bit" },
  { "export", "text", nil, "a safetensors file to write the weights to, under their published names" },
}

local for_sampling = {
  { "prompt", "text", "\n", "what the text begins with" },
  { "count", "integer", 200, "tokens to write", least = 0 },
  { "temperature", "number", 0.8, "0 takes the likeliest", least = 0 },
  { "top-k", "integer", nil, "draw among so many likeliest ones", least = 1 },
}

local function joined(a, b)
  local all = table.move(a, 1, #a, 1, {})
  return table.move(b, 1, #b, #all + 1, all)
end
local commands = { train = joined(for_training, common), sample = joined(for_sampling, common) }

-- From the smallest on.
local function size_names(model)
  local names = {}
  for name in pairs(model.sizes) do names[#names + 1] = name end
  local function weight(name) return model.sizes[name].layers * model.sizes[name].width ^ 2 end
  table.sort(names, function(a, b)
    if weight(a) ~= weight(b) then return weight(a) < weight(b) end
    return a < b
  end)
  return table.concat(names, ", ")
end

function program.usage(model)
  return ("usage: %s.lua train|sample [--OPTION VALUE]...\n\ntrain:\n%s\n\nsample:\n%s\n\nsizes: %s"):format(
    model.name, arguments.usage(commands.train), arguments.usage(commands.sample), size_names(model))
end

-- The model and its tokens, as the options have them.
local function open(model, options)
  local size = model.sizes[options.size]
  if not size then mistake("--size '%s' is not known; there are %s", options.size, size_names(model)) end
  local found = options.weights and weights.read(model, options.weights)
  local words = tokens.open(options.vocab, options.merges)
  local parts = options.parallel and options.parallel:size "tensor" or 1
  local config = setmetatable({ vocabulary = words.size, dropout = options.dropout, parts = parts }, { __index = size })
  local rows = found and found[model.embedding] and found[model.embedding].shape[1] or words.size
  if rows ~= words.size then
    mistake("the weights are of %d tokens, but there are %d %s", rows, words.size,
            options.vocab and "in " .. options.vocab or "bytes: --vocab and --merges name the files of the tokens")
  end
  th.seed(options.seed)
  local net = model.make(config)
  if found then weights.fill(model, net, found) end
  if not ({ float32 = true, bfloat16 = true, float64 = true, autocast = true })[options.dtype] then
    mistake("--dtype must be float32, bfloat16, float64 or autocast (products in bfloat16, weights in float32), not %s", options.dtype)
  end
  if options.dtype == "autocast" then
    autocast(net)
  else
    net:to(th[options.dtype])
  end
  attempt("device", net.to, net, options.device)
  return net, config, words
end

-- The axes of an option "data=N" or, of a model with a plan, "data=N,tensor=M".
local function read_axes(model, text)
  local data, rest = text:match "^data=(%-?%d+)(.*)$"
  local tensor = rest == "" and "1" or (rest or ""):match "^,tensor=(%d+)$"
  if not tensor or (tensor ~= "1" and not model.plan) then
    mistake("--mesh must be data=N, N processes or -1 for all%s, not %s", model.plan and ", or data=N,tensor=M" or "", text)
  end
  return { { "data", math.tointeger(data) }, { "tensor", math.tointeger(tensor) } }
end

-- By NCCL where GPUs compute, each on its own.
local function open_mesh(model, options)
  local axes = read_axes(model, options.mesh)
  local on_gpus = options.device:find "^cuda" ~= nil
  local mesh = attempt("mesh", th.mesh, axes, { engine = on_gpus and "nccl" or nil })
  if mesh:size "tensor" > 1 and (options.save or options.resume or options.export) then
    mistake("--save, --resume and --export are of whole tensors, of which each process of tensor=%d has a part", mesh:size "tensor")
  end
  if options.batch % mesh:size "data" ~= 0 then
    mistake("--batch must be divisible by the %d processes of --mesh, not %d", mesh:size "data", options.batch)
  end
  if on_gpus then options.device = tostring(mesh:device()) end
  return mesh
end

local function run_train(model, options, say)
  options.parallel = options.mesh and open_mesh(model, options)
  if options.parallel and options.parallel:index() > 0 then
    say, options.save, options.export = function() end, nil, nil -- the first process does that
  end
  local file = io.open(options.text, "rb") or mistake("--text: cannot read '%s'", options.text)
  local text = file:read "a" or mistake("--text: '%s' is a folder", options.text)
  file:close()
  local net, config, words = open(model, options)
  if config.parts > 1 then attempt("mesh", th.parallel.parallelize_module, net, options.parallel, model.plan) end
  local ids = words.encode(text)
  options.length = options.window or config.context
  if options.length > config.context then
    mistake("--window must be at most %d, which is what %s sees, not %d", config.context, options.size, options.length)
  end
  say(("%s, %d tokens of %s\n"):format(options.size, #ids, options.text))
  options.note = function(step, steps, loss, held_out)
    say(("step %d of %d: loss %.4f, held out %.4f\n"):format(step, steps, loss, held_out))
  end
  local losses = train.run(net, ids, options)
  if options.export then attempt("export", net.save, net, options.export) end
  return losses
end

local function run_sample(model, options, say)
  if not options.weights then mistake("sample needs --weights: a model's file, or a checkpoint of train --save") end
  local net, config, words = open(model, options)
  local prompt = words.encode(options.prompt)
  if #prompt == 0 then mistake("--prompt must hold at least one character") end
  say(options.prompt)
  local settings = { count = options.count, temperature = options.temperature, top_k = options["top-k"], seed = options.seed }
  local writer = generate.writer(net, config)
  for id in generate.tokens(writer, prompt, settings) do say(words.decode { id }) end
  say "\n"
end

local run = { train = run_train, sample = run_sample }

-- words: what follows the program's name. `say` takes what it prints; else standard output does.
function program.run(model, words, say)
  say = say or function(text) io.stdout:write(text):flush() end
  local command = words[1]
  if command == "--help" or command == "-h" then return say(program.usage(model) .. "\n") end
  if not run[command or ""] then
    mistake((command and ("unknown command '%s'\n"):format(command) or "") .. program.usage(model))
  end
  return run[command](model, arguments.read(commands[command], table.move(words, 2, #words, 1, {})), say)
end

return program
