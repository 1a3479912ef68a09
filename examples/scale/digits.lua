-- Trains an MLP on the handwritten digits by data parallelism: every process computes on its part of each batch.
--
--   mpirun -n 2 thunder run digits.lua [--engine nccl] [--steps N] [--every N] [FILE.csv]
--
-- Rank 0 prints the loss of every tenth batch, or of every Nth; on one process, without mpirun, the losses are the same.
local th = require "thunder"
local nn, optim, data = th.nn, th.optim, th.data

local BATCH = 64
local file, steps, every, engine = arg[0]:gsub("[^/]*$", "") .. "../digits/data/digits.csv", 100, 10, nil
local at = 1
while arg[at] do
  if arg[at] == "--steps" then
    at, steps = at + 1, tonumber(arg[at + 1])
  elseif arg[at] == "--every" then
    at, every = at + 1, tonumber(arg[at + 1])
  elseif arg[at] == "--engine" then
    at, engine = at + 1, arg[at + 1]
  else
    file = arg[at]
  end
  at = at + 1
end

local mesh = th.mesh({ data = -1 }, { engine = engine }) -- as many ranks as there are processes
th.seed(42)
local net = nn.Sequential { nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 10) }:to(mesh:device())
local params = net:parameters()
local opt = optim.AdamW(params, { lr = 4e-3 })

local step = th.compile(th.parallel.data(function(images, labels)
  local loss = th.cross_entropy(net(images:to(mesh:device())), labels:to(mesh:device()))
  opt:step(th.grad_of(loss, params)) -- the mean over the ranks
  return th.all_reduce(loss, "data", "mean")
end, mesh, net))

local rows = data.csv(file)
local images, labels = rows[{ {}, { 1, 64 } }] / 16, rows[{ {}, 65 }]:to(th.int64)
local part = BATCH // mesh:size "data"
local first, done = part * mesh:index "data", 0
for _, x, y in data.batches({ images, labels }, { size = BATCH, shuffle = true, drop_last = true, seed = 2, epochs = steps }) do
  local mine = { first + 1, first + part }
  local loss = step(x[{ mine }], y[{ mine }])
  done = done + 1
  if done % every == 0 and mesh:index() == 0 then print(("step %d: loss %.7f"):format(done, loss:item())) end
  if done == steps then break end
end
