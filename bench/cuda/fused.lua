-- thunder run bench/cuda/fused.lua [ROWS COLUMNS]: microseconds of fused kernels on bf16 tensors of 16384 x 4096, forward and backward (th.func.vjp:
-- the gradients of all arguments, from a cotangent), each over inputs that do not fit in the L2 cache, and of a step of AdamW, by the
-- host's clock, 20 calls in a row. bench/cuda/fused.py does the same in PyTorch.
local th = require "thunder"
local F = th.nn.functional
local device = th.cuda(0)
local rows, columns = tonumber(arg and arg[1]) or 16384, tonumber(arg and arg[2]) or 4096

local function tensor(...) return th.randn({ ... }, { dtype = th.bfloat16, device = device }) end

local function seconds(n, call)
  local start = th.clock()
  for _ = 1, n do call() end
  th.cuda.synchronize()
  return (th.clock() - start) / n
end

local function time(name, f, ...)
  local g, inputs = th.compile(f), { ... }
  local function call() g(table.unpack(inputs)) end
  local first, best = seconds(1, call), math.huge
  seconds(3, call)
  for _ = 1, 8 do best = math.min(best, seconds(20, call)) end
  print(("%-28s %8.1f us   first %.2f s"):format(name, best * 1e6, first))
end

local function backward(f)
  return function(dy, ...)
    local results = table.pack(th.func.vjp(f, ...))
    return results[results.n](dy)
  end
end

local x, y, dy = tensor(rows, columns), tensor(rows, columns), tensor(rows, columns)
local w, b = tensor(columns), tensor(columns)
local heads, d_heads = x:view(1, rows, columns // 128, 128), dy:view(1, rows, columns // 128, 128)
local angles = th.rand({ rows, 1, 128 }, { device = device }) * 6
local cos, sin = angles:cos(), angles:sin()
local function gelu(v) return F.gelu(v, { approximate = "tanh" }) end
local function swiglu(v, g) return F.silu(g) * v end
local function layer_norm(v, s, t) return F.layer_norm(v, { columns }, s, t) end
local function rms_norm(v, s) return F.rms_norm(v, { columns }, s) end
local function softmax(v) return F.softmax(v, -1) end
local function rope(v)
  local first, second = v:chunk(2, -1)
  return (v * cos + th.cat({ -second, first }, -1) * sin):to(v.dtype)
end
do -- until the clocks are up
  local warm, begin = th.compile(gelu), th.clock()
  while th.clock() - begin < 1 do seconds(1, function() warm(x) end) end
end
time("copy (t + 1)", function(v) return v + 1 end, x)
time("add", function(v, u) return v + u end, x, y)
time("gelu", gelu, x)
time("gelu backward", backward(gelu), dy, x)
time("swiglu", swiglu, x, y)
time("swiglu backward", backward(swiglu), dy, x, y)
time("layer_norm", layer_norm, x, w, b)
time("layer_norm backward", backward(layer_norm), dy, x, w, b)
time("rms_norm", rms_norm, x, w)
time("rms_norm backward", backward(rms_norm), dy, x, w)
time("softmax", softmax, x)
time("softmax backward", backward(softmax), dy, x)
time("rope", rope, heads)
time("rope backward", backward(rope), d_heads, heads)
time("sum of columns", function(v) return v:to(th.float32):sum(0) end, x)
time("sum", function(v) return v:to(th.float32):sum() end, x)
local logits, classes = tensor(4096, 50304), th.randint(0, 50000, { 4096 }):to(device)
time("cross_entropy 4096x50304", function(l, c) return F.cross_entropy(l, c) end, logits, classes)
local one = th.ones({}, { dtype = th.bfloat16, device = device })
time("cross_entropy backward", backward(function(l) return F.cross_entropy(l, classes) end), one, logits)
time("cross_entropy and gradient", function(l)
  local results = table.pack(th.func.vjp(function(v) return F.cross_entropy(v, classes) end, l))
  return results[1], results[results.n](th.ones({}, { dtype = th.bfloat16, device = device }))
end, logits)
time("sort 4096x4096", function(v) return th.sort(v, { dim = -1 }) end, tensor(4096, 4096))
time("topk 40 of 8x50304", function(v) return th.topk(v, 40) end, tensor(8, 50304))
local image = tensor(64, 64, 112, 112)
local function pool(v) return F.max_pool2d(v, 3, { stride = 2, padding = 1 }) end
time("max_pool2d", pool, image)
time("max_pool2d backward", backward(pool), tensor(64, 64, 56, 56), image)

-- The parameters of GPT-2 124M, in float32.
local shapes = { { 50304, 768 }, { 1024, 768 }, { 768 }, { 768 } }
for _ = 1, 12 do
  for _, shape in ipairs { { 2304, 768 }, { 2304 }, { 768, 768 }, { 768 }, { 3072, 768 }, { 3072 }, { 768, 3072 }, { 768 }, { 768 }, { 768 }, { 768 }, { 768 } } do
    shapes[#shapes + 1] = shape
  end
end
local parameters, gradients = {}, {}
for i, shape in ipairs(shapes) do
  parameters[i] = th.randn(shape, { device = device })
  gradients[i] = th.randn(shape, { device = device })
end
local optimizer = th.optim.AdamW(parameters, { lr = 1e-3, weight_decay = 0.1 })
time("AdamW, 124M in 148 tensors", function(...) optimizer:step { ... } end, table.unpack(gradients))
