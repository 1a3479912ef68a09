-- th.mesh: the ranks of the world as a grid with named axes. th.parallel: programs on several ranks.
local th, core = ...

local Mesh = { __metatable = false, __name = "thunder.mesh" }
local members = {}
local meshes = setmetatable({}, { __mode = "k" })

function members.size(self, axis) return core.mesh_size(self.handle, axis) end
-- The number of this rank along an axis, from 0 as everywhere in the world outside of Lua; without one its rank in the world.
function members.index(self, axis) return core.mesh_index(self.handle, axis) end
function members.local_rank(self) return core.mesh_local_rank(self.handle) end
-- Where this rank computes: the CPU, or the GPU that the engine drives.
function members.device(self) return core.mesh_device(self.handle) end
function members.barrier(self, axis) core.mesh_barrier(self.handle, axis) end
-- Writes the values of one rank into a module's state, a tensor or a table of tensors of the others.
function members.broadcast(self, tensors, axis, root)
  if core.is_module(tensors) then tensors = tensors:state() end
  core.mesh_broadcast(self.handle, tensors, axis, root or 0)
end

function Mesh.__index(_, name)
  return members[name] or core.refuse(("a mesh has no member '%s'%s"):format(tostring(name), core.suggest(tostring(name), members)))
end
function Mesh.__newindex() core.refuse "a mesh cannot be changed" end
function Mesh.__tostring(self) return ("mesh(%s)"):format(core.mesh_text(rawget(self, "handle"))) end

local settings = { engine = true, timeout = true, communicator = true, folder = true }

local function axis_text(name, size)
  if type(name) ~= "string" or math.type(size) ~= "integer" then
    core.refuse "mesh: axes are names with sizes: { data = 2, tensor = 2 }, or { { 'data', 2 }, { 'tensor', 2 } }"
  end
  return ("%s=%d"):format(name, size)
end

-- th.mesh { data = 2, tensor = -1 }: axes in the order of their names; a list { { "data", 2 }, { "tensor", -1 } } has an order of its
-- own. The last one varies first from rank to rank, and -1 is what the others leave. Options: engine, timeout, communicator, folder.
function th.mesh(axes, options)
  if type(axes) ~= "table" then core.refuse(("mesh: axes are a table of names and sizes, got %s"):format(core.type_text(axes))) end
  local texts = {}
  if #axes > 0 then
    for i, axis in ipairs(axes) do
      if type(axis) ~= "table" then axis = {} end
      texts[i] = axis_text(axis[1], axis[2])
    end
  else
    for name, size in pairs(axes) do texts[#texts + 1] = axis_text(name, size) end
    table.sort(texts)
  end
  options = core.check_options("mesh", options, settings)
  local made = setmetatable({ handle = core.mesh(table.concat(texts, ","), options) }, Mesh)
  meshes[made] = true
  return made
end

local parallel = {}
th.parallel = parallel

local function check_mesh(who, mesh)
  if type(mesh) ~= "table" or not meshes[mesh] then core.refuse(("%s: a mesh was expected, got %s"):format(who, core.type_text(mesh))) end
end

-- th.parallel.fully_shard(net, mesh, { axis = "data", reshard_after_forward = true }): each rank has a part of the rows of each
-- parameter from here on, of what they are on rank 0. List the parameters, and make optimisers, afterwards. Compiled functions gather what
-- a forward reads; gradients by shards are shards, of the mean in th.parallel.data.
function parallel.fully_shard(net, mesh, options)
  check_mesh("fully_shard", mesh)
  options = core.check_options("fully_shard", options, { axis = true, reshard_after_forward = true })
  core.mesh_fully_shard(rawget(mesh, "handle"), net, options.axis or "data", options.reshard_after_forward ~= false)
  return net
end

-- th.parallel.parallelize_module(net, mesh, { ["blocks.*.fc1"] = "colwise", ["blocks.*.fc2"] = "rowwise" }, { axis = "tensor" }): each
-- rank computes with a part of these layers. List the parameters, and make optimisers, afterwards.
function parallel.parallelize_module(net, mesh, plan, options)
  check_mesh("parallelize_module", mesh)
  if type(plan) ~= "table" then core.refuse(("parallelize_module: a plan is a table of paths and styles, got %s"):format(core.type_text(plan))) end
  options = core.check_options("parallelize_module", options, { axis = true })
  local lines = {}
  for path, style in pairs(plan) do lines[#lines + 1] = ("%s=%s"):format(path, style) end
  table.sort(lines)
  core.mesh_parallelize_module(rawget(mesh, "handle"), net, options.axis or "tensor", table.concat(lines, ","))
  return net
end

-- th.parallel.no_sync(f, ...): f(...), in which gradients are this rank's own, though th.parallel.data is around it.
function parallel.no_sync(f, ...)
  if type(f) ~= "function" then core.refuse(("no_sync: a function was expected, got %s"):format(core.type_text(f))) end
  return core.call_with(core.set_grad_axis, nil, f, ...)
end

-- th.parallel.reduce_gradients(gradients, parameters): of gradients that were taken in no_sync, and added up, the mean or the sum over
-- the ranks, as th.parallel.data says.
function parallel.reduce_gradients(gradients, parameters) return core.reduce_gradients(gradients, parameters) end

-- th.parallel.data(step, mesh, net, { axis = "data", reduction = "mean" }): a training step of several ranks, each on examples of its own.
-- In it th.grad_of gives for parameters the mean, or the sum, over the ranks of the axis, so that the optimiser does the same on each.
-- reduce_dtype = th.bfloat16: they travel in it, and are added in f32. `net`, a module or a table of tensors, begins on all ranks as it is
-- on rank 0.
function parallel.data(step, mesh, tensors, options)
  check_mesh("data", mesh)
  if tensors == nil then core.refuse "data: the parameters are missing: a module, or a table of tensors" end
  options = core.check_options("data", options, { axis = true, reduction = true, reduce_dtype = true })
  local how = { axis = options.axis or "data", reduction = options.reduction or "mean", reduce_dtype = options.reduce_dtype }
  mesh:broadcast(tensors, how.axis)
  return function(...) return core.call_with(core.set_grad_axis, how, step, ...) end
end
