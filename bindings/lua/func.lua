-- th.func: functions made of functions, under the names that torch.func has. They compose with each other, with th.grad and with
-- th.compile. Arguments are tensors and tables of them; argnums counts arguments from 1.
local th, core = ...

-- th.func.grad(f, wrt), th.func.value_and_grad(f, wrt): th.grad and th.value_and_grad under PyTorch's names.
th.func = { grad = th.grad, value_and_grad = th.value_and_grad }

local function leaves_of(tree)
  if type(tree) ~= "table" then return 1 end
  local count = 0
  for _, child in pairs(tree) do count = count + leaves_of(child) end
  return count
end

-- For each leaf of the arguments the dim that counts the examples; false: none.
local function spread(dims, arguments)
  local out = {}
  for i = 1, arguments.n do
    local dim = dims
    if type(dims) == "table" then dim = dims[i] end
    for _ = 1, leaves_of(arguments[i]) do out[#out + 1] = dim or false end
  end
  return out
end

-- th.func.vmap(f, in_dims, out_dims, randomness): f over batches of examples, which dim in_dims of its arguments counts (0; or a
-- table with an entry for each argument, false where it is the same for all), and dim out_dims of its results. Ops that draw
-- random numbers are refused unless randomness is "different" or "same".
function th.func.vmap(f, in_dims, out_dims, randomness)
  return function(...)
    local arguments = table.pack(...)
    local results = table.pack(core.vmap(f, in_dims and spread(in_dims, arguments), type(out_dims) == "table" and out_dims or nil,
      randomness or "error", arguments))
    if type(out_dims) ~= "number" or out_dims == 0 then return table.unpack(results, 1, results.n) end
    for i = 1, results.n do results[i] = th.movedim(results[i], 0, out_dims) end
    return table.unpack(results, 1, results.n)
  end
end

local function paths_of(argnums)
  if argnums == nil then return "0" end
  if type(argnums) ~= "table" then return tostring(argnums - 1) end
  local paths = {}
  for i, number in ipairs(argnums) do paths[i] = tostring(number - 1) end
  return table.concat(paths, ",")
end

-- th.func.jvp(f, primals, tangents): what f(primals..) gives, then the derivative of each of that along the tangents.
function th.func.jvp(f, primals, tangents)
  local arguments = table.pack(table.unpack(primals))
  arguments.n = arguments.n + 1
  arguments[arguments.n] = tangents
  local results = table.pack(core.transform("jvp", f, nil, arguments))
  table.move(results[results.n], 1, results.n - 1, results.n, results)
  return table.unpack(results, 1, 2 * (results.n - 1))
end

-- The tree with change(tensor) in the place of each tensor.
local function mapped(tree, change)
  if type(tree) ~= "table" then return core.is_tensor(tree) and change(tree) or tree end
  local out = {}
  for key, child in pairs(tree) do out[key] = mapped(child, change) end
  return out
end

-- In a trace the lines of the results are differentiated, by copies of the primals that f alone has.
local function recorded_vjp(f, primals)
  local own = mapped({ table.unpack(primals, 1, primals.n) }, th.clone)
  local results = table.pack(f(table.unpack(own, 1, primals.n)))
  results.n = results.n + 1
  results[results.n] = function(...)
    local cotangents, loss = table.pack(...), nil
    if cotangents.n ~= results.n - 1 then core.refuse(("vjp: %d cotangents are needed, %d were given"):format(results.n - 1, cotangents.n)) end
    for i = 1, cotangents.n do
      local result, cotangent = results[i], cotangents[i]
      if not core.is_tensor(result) or not core.is_tensor(cotangent) then
        core.refuse(("vjp: result and cotangent %d must be tensors, got %s and %s"):format(i, core.type_text(result), core.type_text(cotangent)))
      end
      local wanted, given = ("%s%s"):format(result.dtype, result.shape), ("%s%s"):format(cotangent.dtype, cotangent.shape)
      if wanted ~= given then core.refuse(("vjp: cotangent %d must be %s, got %s"):format(i, wanted, given)) end
      local term = (result * cotangent):sum()
      loss = loss and loss + term or term
    end
    return table.unpack(th.grad_of(loss, own), 1, primals.n)
  end
  return table.unpack(results, 1, results.n)
end

-- th.func.vjp(f, primals..): what f gives, then a function of a cotangent for each of that, which gives the gradients of the primals.
-- Their random numbers are those of what f gave. Outside of compiled functions each gradient calls f again.
function th.func.vjp(f, ...)
  local primals = table.pack(...)
  if core.is_tracing() then return recorded_vjp(f, primals) end
  local state = th.clone(th.random_state())
  local results = table.pack(f(...))
  results.n = results.n + 1
  results[results.n] = function(...)
    local arguments = table.pack(table.unpack(primals, 1, primals.n))
    arguments.n = arguments.n + 1
    arguments[arguments.n] = { ... }
    local now = th.clone(th.random_state())
    th.random_state():copy_(state)
    local pulled = table.pack(pcall(core.transform, "vjp", f, nil, arguments))
    th.random_state():copy_(now)
    if not pulled[1] then error(pulled[2], 0) end
    return table.unpack(pulled[pulled.n])
  end
  return table.unpack(results, 1, results.n)
end

local function jacobian(kind)
  -- By the argument `argnums` (1), for each result its Jacobian; by several, a list of them.
  return function(f, argnums)
    return function(...)
      local results = table.pack(core.transform(kind, f, paths_of(argnums), table.pack(...)))
      if type(argnums) ~= "table" then
        for i = 1, results.n do results[i] = results[i][1] end
      end
      return table.unpack(results, 1, results.n)
    end
  end
end
th.func.jacrev = jacobian "jacrev" -- backwards: a batch of one backward for each element of the results
th.func.jacfwd = jacobian "jacfwd" -- forwards: a batch of one derivative for each element of the arguments
th.func.hessian = jacobian "hessian" -- jacfwd of jacrev

-- th.func.grad_and_value(f, wrt): the gradients, then the value.
function th.func.grad_and_value(f, wrt)
  local both = th.value_and_grad(f, wrt)
  return function(...)
    local results = table.pack(both(...))
    local value = results[1]
    table.move(results, 2, results.n, 1)
    results[results.n] = value
    return table.unpack(results, 1, results.n)
  end
end

-- th.checkpoint(f): f, of which a backward keeps the arguments alone and computes the rest again. It saves memory in compiled
-- functions; on a tape, which keeps everything, it changes nothing.
function th.checkpoint(f)
  return function(...) return core.transform("checkpoint", f, nil, table.pack(...)) end
end
th.vmap = th.func.vmap
core.strict(th.func, "func")
