-- Meshes and collectives of one process. tests/scale has several.
local th = require "thunder"

local mesh = th.mesh { data = -1, tensor = 1 }
assert(mesh:size "data" == 1 and mesh:index "data" == 0 and mesh:size() == 1 and mesh:local_rank() == 0)
assert(tostring(mesh):find("data=1,tensor=1", 1, true), tostring(mesh))
mesh:barrier()

local x = th.tensor { 1.0, 2.0 }
assert(th.all_reduce(x, "data", "mean"):sum():item() == 3)
assert(th.compile(function(y) return th.all_gather(y, "data") end)(x):sum():item() == 3)

local net = th.nn.Linear(2, 1)
mesh:broadcast(net)
local params = net:parameters()
local opt = th.optim.SGD(params, { lr = 0.5 })
local function train(y)
  local loss = net(y):sum()
  opt:step(th.grad_of(loss, params))
  return loss
end
local before = net.weight:clone()
th.compile(th.parallel.data(train, mesh, net))(x)
assert(th.allclose(net.weight, before - 0.5 * x))

-- Shards of one rank are whole; a compiled step gathers them.
local sharded = th.nn.Linear(2, 1)
assert(th.parallel.fully_shard(sharded, mesh, { reshard_after_forward = true }) == sharded)
local shards = sharded:parameters()
local mover, first = th.optim.SGD(shards, { lr = 0.5 }), shards.weight:clone()
th.compile(th.parallel.data(function(y)
  local loss = sharded(y):sum()
  mover:step(th.clip_grad_norm(th.grad_of(loss, shards), 100))
  return loss
end, mesh, sharded))(x)
assert(th.allclose(shards.weight, first - 0.5 * x))

-- Gradients of two micro-batches, which are added over the ranks once.
local w = th.tensor { 1.0, 2.0 }
local both = th.compile(th.parallel.data(function(y)
  local total = th.parallel.no_sync(function(scale) return th.grad_of((w * y):sum(), w) * scale + th.grad_of((w * 2):sum(), w) end, 3)
  return th.parallel.reduce_gradients({ total }, { w })[1]
end, mesh, { w }, { reduce_dtype = th.bfloat16 }))(x)
assert(th.allclose(both, th.tensor { 5.0, 8.0 }))

local function refused(text, f, ...)
  local ok, message = pcall(f, ...)
  assert(not ok and tostring(message):find(text, 1, true), tostring(message))
end
refused("there is no axis 'rows'", mesh.size, mesh, "rows")
refused("no axis 'rows'", th.all_reduce, x, "rows")
refused("data=2 has 2 ranks, and the world 1", th.mesh, { data = 2 })
refused("axes are names with sizes", th.mesh, { data = "two" })
refused("unknown option 'engines'", th.mesh, { other = 1 }, { engines = "mpi" })
refused("a mesh has no member 'sizes'", function() return mesh.sizes end)
refused("a mesh was expected", th.parallel.data, train, net, net)
refused("no_sync: a function was expected", th.parallel.no_sync, 3)
refused("is a shard", sharded, x)
refused("parameter 'bias' is a shard", th.optim.Adafactor, shards)
refused("a mesh was expected", th.parallel.fully_shard, net, net)
refused("no axis 'rows'", th.parallel.fully_shard, net, mesh, { axis = "rows" })
refused("the parameters are missing", th.parallel.data, train, mesh)
refused("'reduce_dtype' must be a dtype, got an integer", th.compile(th.parallel.data(train, mesh, net, { reduce_dtype = 16 })), x)
refused("is called in a step of th.parallel.data", th.compile(function(y) return th.parallel.reduce_gradients({ y }, { w })[1] end), x)
-- An error inside of the step ends the mode in which gradients are means.
refused("by hand", th.compile(th.parallel.data(function() error "by hand" end, mesh, net)), x)
