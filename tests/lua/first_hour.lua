-- The first things that a user of PyTorch types in Lua: they work, or say what to type.
local th = require "thunder"
local expect = require "support.expect"

local x = th.tensor { { 1.0, 2.0, 3.0 }, { 4.0, 5.0, 6.0 } }

-- Shapes: T reverses the dims, mT exchanges the last two.
expect.values(x.T, { { 1, 4 }, { 2, 5 }, { 3, 6 } })
expect.values(x.mT, { { 1, 4 }, { 2, 5 }, { 3, 6 } })
local cube = th.zeros { 2, 3, 4 }
assert(table.concat(cube.T.shape, " ") == "4 3 2" and table.concat(cube.mT.shape, " ") == "2 4 3")
assert(th.tensor(1.0).T:item() == 1 and th.ones(3).T.shape[1] == 3)

-- A dim gives values and where they are; another tensor the greater of both.
local values, positions = x:max(1)
expect.values(values, { 3, 6 })
expect.values(positions, { 2, 2 })
expect.values(x:max(th.full({ 2, 3 }, 4.5)), { { 4.5, 4.5, 4.5 }, { 4.5, 5, 6 } })

-- Files of tensors by name.
local path = os.tmpname()
th.save({ x = x, ["net.0"] = x[1] }, path)
local loaded = th.load(path)
expect.values(loaded.x, x:tolist())
expect.values(loaded["net.0"], { 1, 2, 3 })
os.remove(path)
expect.error(function() th.load(path) end, "first_hour.lua:", "cannot open")

-- GPUs: asked about, and refused where there are none.
assert(th.cuda.is_available() == (th.cuda.device_count() > 0))
assert(tostring(th.cuda(1)) == "cuda:1" and tostring(th.cuda):find "is_available")
expect.error(function() return th.cuda.is_avaliable end, "cuda has no member 'is_avaliable' (did you mean 'is_available'?)")
expect.values(x:cpu(), x:tolist())
-- A traced function may ask too: nothing of it is recorded.
local inside = {}
local asks = th.compile(function(t)
  inside[#inside + 1] = th.cuda.is_available()
  inside[#inside + 1] = th.cuda.device_count() > 0
  return t * 2
end)
expect.values(asks(th.ones { 2 }), { 2, 2 })
assert(#inside == 2 and inside[1] == th.cuda.is_available() and inside[2] == inside[1])
-- What torch.cuda says of memory, of the CPU too.
local held = th.zeros(100000)
assert(th.cuda.memory_allocated "cpu" >= 400000 and th.cuda.max_memory_allocated(th.cpu) >= th.cuda.memory_allocated(th.cpu))
held = nil
collectgarbage()
th.cuda.empty_cache "cpu"
th.cuda.reset_peak_memory_stats "cpu"
assert(th.cuda.memory_reserved "cpu" == th.cuda.memory_allocated "cpu")
assert(th.cuda.memory_stats("cpu").max_allocated_bytes == th.cuda.memory_allocated "cpu")
th.cuda.synchronize "cpu"
if not th.cuda.is_available() then
  expect.error(function() x:cuda() end, "there is no device cuda:0 here")
  expect.error(function() x:to "cuda" end, "there is no device cuda:0 here")
end

-- No message begins with a function of C, which no script calls.
for _, f in ipairs {
  function() x:to "cuda:7" end,
  function() th.load_plugin "/there/is/none.so" end,
  function() th.nn.Linear(2, 3):load "/there/is/none" end,
  function() th.from_trace "" end,
} do
  local ok, message = pcall(f)
  assert(ok or not message:find "thunder_", message)
end

-- What is far from all names is not guessed at.
expect.error(function() return x.grad end, "no member 'grad': grad_of(loss, parameters) gives the gradients")
expect.error(function() return th.utils end, "no op or function 'utils'")
assert(not select(2, pcall(function() return th.utils end)):find "did you mean")

-- A layer that fails is named by its path, behind the line of the script.
local net = th.nn.Sequential { th.nn.Sequential { th.nn.Linear(4, 2) } }
expect.error(function() net(x) end, "first_hour.lua:", "linear: input has 3 features, weight takes 4", "[at layer 0.0]")
local body = th.nn.Module { wte = th.nn.Embedding(4, 2) }
function body:forward(i) return self.wte(i) end
local line = debug.getinfo(1, "l").currentline + 1
local f = th.compile(function(i) return body(i) * 2 end)
expect.error(function() f(th.tensor { 7 }) end, "embedding: index 7 is out of range for dim 0 of size 4",
  "first_hour.lua:" .. line - 2 .. ", layer wte, run by executor")

-- Shapes that depend on values.
local nonzero = (x - 3):nonzero()
assert(table.concat(nonzero.shape, " ") == "5 2")
local rows, columns = th.where(x:gt(4))
expect.values(rows, { 1, 1 })
expect.values(columns, { 1, 2 })
local again = th.nonzero(x:gt(4), { as_tuple = true })
expect.values(again, { 1, 1 })
expect.values(x:masked_select(x:gt(4)), { 5, 6 })
local distinct, inverse, counts = th.unique(th.tensor { 3, 1, 3 }, { return_inverse = true, return_counts = true })
expect.values(distinct, { 1, 3 })
expect.values(inverse, { 1, 0, 1 })
expect.values(counts, { 1, 2 })
expect.values(th.bincount(th.tensor { 0, 2, 2 }), { 1, 0, 2 })
expect.values(th.repeat_interleave(th.tensor { 5, 6 }, th.tensor { 1, 2 }), { 5, 6, 6 })
expect.values(th.repeat_interleave(th.tensor { 5, 6 }, 2), { 5, 5, 6, 6 })
expect.values(th.one_hot(th.tensor { 1, 0 }), { { 0, 1 }, { 1, 0 } })
expect.error(function() th.compile(function(t) return th.nonzero(t) end)(x) end,
             "nonzero: the shape of its result depends on values")

-- Windows by name, and where their greatest elements were.
local ones = th.ones { 1, 1, 3, 3 }
expect.values(th.conv2d { ones, ones, padding = "same" }, { { { { 4, 6, 4 }, { 6, 9, 6 }, { 4, 6, 4 } } } })
assert(table.concat(th.nn.Conv2d { 1, 2, 3, padding = "same" }(ones).shape, " ") == "1 2 3 3")
expect.error(function() return th.nn.Conv2d { 1, 2, 3, padding = "full" } end,
             "padding must be numbers, 'same' or 'valid', got 'full'")
local most, places = th.max_pool2d(x[th.newaxis], 2, { return_indices = true })
expect.values(most, { { { 5 } } })
expect.values(places, { { { 4 } } })
expect.values(th.max_pool2d(x[th.newaxis], 2), { { { 5 } } })
most, places = th.nn.MaxPool2d { 2, return_indices = true }(x[th.newaxis])
expect.values(th.nn.MaxUnpool2d(2)(most, places, { output_size = { 2, 3 } }), { { { 0, 0, 0 }, { 0, 5, 0 } } })

-- Booleans of two tensors, operands as arguments, numbers drawn in place.
assert(th.allclose(x, x + 1e-9) == true and x:allclose(x + 1) == false and th.equal(x, x) == true)
expect.values(th.einsum("ij,kj->ik", x, x), { { 14, 32 }, { 32, 77 } })
expect.values(th.einsum("ij->ji", { x }), { { 1, 4 }, { 2, 5 }, { 3, 6 } })
local drawn = th.zeros { 100 }
assert(drawn:uniform_(2, 3) and th.min(drawn):item() >= 2 and th.max(drawn):item() < 3)
assert(drawn:normal_(0, 0.01) and th.max(th.abs(drawn)):item() < 1)
local loss = th.nn.CTCLoss()(th.zeros { 2, 1, 2 }, th.tensor { { 1 } }, th.tensor { 2 }, th.tensor { 1 })
assert(math.abs(loss:item() + math.log(3)) < 1e-6)
expect.error(function() return th.jit.script(print) end, "th.jit.trace(f, example)")
expect.error(function() return th.jit.frezee end, "jit has no function 'frezee' (did you mean 'freeze'?)")

-- Sizes print, and are compared, as lists.
assert(tostring(x.shape) == "{2, 3}" and tostring(x:size()) == "{2, 3}" and tostring(th.tensor(1).shape) == "{}")
assert(x.shape == (x * 2).shape and x.shape ~= x.T.shape and x.shape == { 2, 3 })
assert(th.zeros(x.shape).shape == x.shape and th.repr(x.shape) == "{2, 3}")
assert(th.tree_map(function(n) return n * 2 end, { x.shape })[1][2] == 6)
expect.error(function() return x[0] end, "index 0 is out of range: dim 0 has 2 elements, which count from 1")
expect.error(function() x.requires_grad = true end, "'requires_grad' cannot be set", "leaving the tensor out of grad_of")

-- Modules: forward by name, parameters in order, members that keep their kind.
local layers = th.nn.Sequential { th.nn.Linear(3, 2), th.nn.BatchNorm1d(2) }
expect.values(layers:eval():forward(x), layers(x):tolist())
local function names_of(iterator)
  local names = {}
  for name, tensor in iterator do names[#names + 1] = name .. tostring(tensor.shape) end
  return table.concat(names, " ")
end
assert(names_of(layers:named_parameters()) == "0.weight{2, 3} 0.bias{2} 1.weight{2} 1.bias{2}")
assert(names_of(layers:named_buffers()) == "1.running_mean{2} 1.running_var{2} 1.num_batches_tracked{}")
local held = th.nn.Module { fc = th.nn.Linear(3, 2), scale = th.ones(1) }
expect.error(function() return held.forward end, "this Module has no member 'forward'")
expect.error(function() held.fc = 3 end, "'fc' is a module of this Module, got an integer")
expect.error(function() held.fc = nil end, "'fc' is a module of this Module, got nothing")
expect.error(function() held.scale = "big" end, "'scale' is a tensor of this Module, got a string")
held.fc, held.scale, held.count = th.nn.Linear(3, 4), th.zeros(1), 3
assert(held.fc(x).shape == { 2, 4 } and held.scale:item() == 0 and held.count == 3)

-- What was forgotten is asked for.
expect.error(function() return th.optim.Adam() end, "Adam: parameters are missing")
expect.error(function() th.optim.SGD(layers, 0.1):step() end, "step: gradients are missing: step(th.grad_of(loss, parameters))")
expect.error(function() th.save(x, path) end, "save: a table of tensors by name was expected, got a tensor")
expect.error(function() th.save({ a = 3 }, path) end, "'a' is no tensor with data")
expect.error(function() th.data.batches() end, "batches: a list of tensors, or the path of a CSV file, was expected, got nothing")
expect.error(function() return th.data.read_csv end, "data has nothing named 'read_csv'")
expect.error(function() return th.func.vamp end, "func has nothing named 'vamp' (did you mean 'vmap'?)")
expect.error(function() th.einsum("ij,jk->ik", x, x) end, "einsum: label 'j' has the sizes 2 and 3")
assert(th.pi == math.pi and th.inf == math.huge and th.nan ~= th.nan and math.abs(th.e - 2.718281828) < 1e-9)
th.set_num_threads(2)
th.set_num_threads(0)
expect.error(function() th.set_num_threads(-1) end, "set_num_threads: count must be an integer from 0 on, got -1")
