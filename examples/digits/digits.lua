-- Trains an MLP and a small CNN on handwritten digits, each by one compiled step: forward, loss, backward, AdamW.
--
--   thunder run digits.lua [--device cuda] [--traces] [--epochs N] [--mnist DIR] [--save DIR] [FILE.csv]
--
-- Without arguments: the 1,797 digits in data/, a fifth of which is drawn at random and held out. --mnist takes the
-- directory of MNIST's own four files, packed (.gz) or not. Ends with an error when a model is less accurate than it must be
-- after all of its epochs.
local th = require "thunder"
local nn, optim, data = th.nn, th.optim, th.data

local function usage(problem)
  io.stderr:write(problem, "\nusage: digits.lua [--device cuda] [--traces] [--epochs N] [--mnist DIR] [--save DIR] [FILE.csv]\n")
  os.exit(1, true)
end

-- f(...), which uses a file that the user named: what is wrong with it is no error of the program.
local function given(f, ...)
  local ok, result = pcall(f, ...)
  if not ok then usage((tostring(result):gsub("^[^\n]-%.lua:%d+: ", ""))) end
  return result
end

local function read_arguments()
  local options, at = {}, 1
  local takes = { ["--device"] = "device", ["--epochs"] = "epochs", ["--mnist"] = "mnist", ["--save"] = "save" }
  while arg[at] do
    local word = arg[at]
    if word == "--traces" then
      options.traces = true
    elseif takes[word] then
      at = at + 1
      options[takes[word]] = arg[at] or usage(word .. " needs a value")
    elseif word:sub(1, 1) == "-" then
      usage("unknown option " .. word)
    else
      options.file = word
    end
    at = at + 1
  end
  return options
end

-- ---- data: images as float32 [count, side, side] in [0, 1], labels as int64 [count] ----

local function read_digits(path)
  local rows = given(data.csv, path)
  if rows.shape[2] ~= 65 then usage(("%s has %d columns, not 64 points and a label"):format(path, rows.shape[2])) end
  local images = (rows[{ {}, { 1, 64 } }] / 16):reshape(-1, 8, 8)
  local labels = rows[{ {}, 65 }]:to(th.int64)
  return data.split({ images, labels }, 0.2, { seed = 1 })
end

local function read_mnist(directory)
  local function read(name)
    local path = ("%s/%s-ubyte"):format(directory, name)
    local file = io.open(path, "rb")
    if file then file:close() end
    return given(data.idx, file and path or path .. ".gz")
  end
  local function part(name)
    return { read(name .. "-images-idx3"):to(th.float32) / 255, read(name .. "-labels-idx1"):to(th.int64) }
  end
  return part "train", part "t10k"
end

-- ---- models ----

local function make_mlp(side)
  return nn.Sequential(
    nn.Flatten(),
    nn.Linear(side * side, 256), nn.ReLU(), nn.Dropout(0.2),
    nn.Linear(256, 10))
end

local function make_cnn(side)
  local half = side // 2
  local net = nn.Module {
    conv1 = nn.Conv2d(1, 16, 3, { padding = 1 }), norm1 = nn.BatchNorm2d(16),
    conv2 = nn.Conv2d(16, 32, 3, { padding = 1 }), norm2 = nn.BatchNorm2d(32),
    pool = nn.MaxPool2d(2),
    head = nn.Linear(32 * half * half, 10),
  }
  function net:forward(images)
    local x = images:unsqueeze(1)
    x = self.norm1(self.conv1(x)):relu()
    x = self.pool(self.norm2(self.conv2(x)):relu())
    return self.head(th.dropout(x:flatten(1), 0.5, self.training))
  end
  return net
end

-- ---- training ----

-- Batches are made on the CPU; the move to the device and back is a line of the program.
local function predict(net, images, device)
  net:eval()
  local run = th.compile(function(batch) return net(batch:to(device)):argmax(-1):to("cpu") end)
  local parts = {}
  for _, batch in data.batches({ images }, { size = 256, shuffle = false }) do parts[#parts + 1] = run(batch) end
  return th.cat(parts)
end

local function accuracy(net, test, device)
  return predict(net, test[1], device):eq(test[2]):to(th.float32):mean():item()
end

local function train(name, net, training, epochs, device)
  local params = net:parameters()
  local opt = optim.AdamW(params, { lr = 4e-3 })
  local step = th.compile(function(images, labels)
    local loss = th.cross_entropy(net(images:to(device)), labels:to(device))
    opt:step(th.grad_of(loss, params))
    return loss
  end)
  local batches = data.batches(training, { size = 32, shuffle = true, drop_last = true, seed = 2, epochs = epochs })
  local schedule = optim.CosineAnnealingLR(opt, { T_max = #batches })
  net:train()
  local bar = th.progress(batches, { label = name })
  local recent
  for i, images, labels in bar do
    local loss = step(images, labels)
    schedule:step()
    if i % 20 == 1 then
      recent = recent and 0.9 * recent + 0.1 * loss:item() or loss:item()
      bar:note("loss %.4f", recent)
    end
  end
  return step
end

-- The weights, saved and loaded into a fresh model, must predict the same.
local function check_saved(name, net, make, side, images, directory, device)
  local path = directory and ("%s/digits_%s.safetensors"):format(directory, name) or os.tmpname()
  given(net.save, net, path)
  local fresh = make(side):to(device):load(path)
  local same = predict(net, images, device):equal(predict(fresh, images, device))
  if not directory then os.remove(path) end
  assert(same, name .. ": the loaded weights predict something else")
end

local options = read_arguments()
local here = arg[0]:match("^(.*/)[^/]*$") or ""
local training, test
if options.mnist then
  training, test = read_mnist(options.mnist)
else
  training, test = read_digits(options.file or here .. "data/digits.csv")
end
local side, device = training[1].shape[2], options.device or "cpu"
local epochs = options.epochs and math.tointeger(options.epochs)
if options.epochs and (epochs or 0) < 1 then usage("--epochs needs a whole number, 1 or more") end
print(("%d images of %dx%d to learn from, %d held out"):format(#training[1], side, side, #test[1]))

local models = {
  { name = "mlp", make = make_mlp, least = 0.97, epochs = options.mnist and 3 or 40 },
  { name = "cnn", make = make_cnn, least = 0.98, epochs = options.mnist and 1 or 20 },
}
for _, model in ipairs(models) do
  th.seed(42)
  local net = given(function() return model.make(side):to(device) end)
  local step = train(model.name, net, training, epochs or model.epochs, device)
  if options.traces then
    for _, trace in ipairs(th.last_traces(step)) do print(trace) end
  end
  check_saved(model.name, net, model.make, side, test[1], options.save, device)
  local reached = accuracy(net, test, device)
  print(("%s: %.2f %% of %d held-out images right"):format(model.name, 100 * reached, #test[1]))
  if reached < model.least and epochs and epochs < model.epochs then
    print(("%s: that is what so few epochs give; %d reach %.0f %%"):format(model.name, model.epochs, 100 * model.least))
  elseif reached < model.least then
    error(("%s: at least %.0f %% was expected"):format(model.name, 100 * model.least), 0)
  end
end
