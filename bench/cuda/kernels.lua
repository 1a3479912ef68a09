-- thunder run bench/cuda/kernels.lua [ROWS COLUMNS]: microseconds of fused kernels on bf16 tensors of 16384 x 4096, forward and backward, each
-- over inputs that do not fit in the L2 cache, by the process's time, which waiting for the device counts into; and of what a step of GPT-2 is made of. bench/cuda/kernels.py does the same in PyTorch.
local th = require "thunder"
local F = th.nn.functional
local device = th.cuda(0)
local rows, columns = tonumber(arg and arg[1]) or 16384, tonumber(arg and arg[2]) or 4096

local function tensor(...) return th.randn({ ... }, { dtype = th.bfloat16 }):to(device) end
local function wait(t) return t:reshape(-1)[1]:to "cpu":item() end

local function time(name, f, ...)
  local g = th.compile(f)
  local inputs = { ... }
  local function run(n)
    local out
    for _ = 1, n do out = g(table.unpack(inputs)) end
    wait(type(out) == "table" and out[1] or out)
  end
  local before = os.clock()
  run(1)
  local first = os.clock() - before
  run(3)
  local best = math.huge
  for _ = 1, 8 do
    before = os.clock()
    run(20)
    best = math.min(best, (os.clock() - before) / 20)
  end
  print(("%-28s %8.1f us   first %.2f s"):format(name, best * 1e6, first))
end

local function backward(f)
  return function(x, dy, ...)
    local rest = { ... }
    return th.grad(function(v) return (f(v, table.unpack(rest)):to(th.float32) * dy:to(th.float32)):sum() end)(x)
  end
end

local x, y, dy = tensor(rows, columns), tensor(rows, columns), tensor(rows, columns)
local w, b = tensor(columns), tensor(columns)
local function gelu(v) return F.gelu(v, { approximate = "tanh" }) end
local function swiglu(v, g) return F.silu(g) * v end
local function layer_norm(v, s, t) return F.layer_norm(v, { columns }, s, t) end
local function rms_norm(v, s) return F.rms_norm(v, { columns }, s) end
local function softmax(v) return F.softmax(v, -1) end
do -- until the clocks are up
  local warm, begin = th.compile(gelu), os.clock()
  while os.clock() - begin < 1 do wait(warm(x)) end
end
time("copy (t + 1)", function(v) return v + 1 end, x)
time("add", function(v, u) return v + u end, x, y)
time("gelu", gelu, x)
time("gelu backward", backward(gelu), x, dy)
time("swiglu", swiglu, x, y)
time("swiglu backward", backward(swiglu), x, dy, y)
time("layer_norm", layer_norm, x, w, b)
time("layer_norm backward", backward(layer_norm), x, dy, w, b)
time("rms_norm", rms_norm, x, w)
time("rms_norm backward", backward(rms_norm), x, dy, w)
time("softmax", softmax, x)
time("softmax backward", backward(softmax), x, dy)
time("sum of columns", function(v) return v:to(th.float32):sum(0) end, x)
time("sum", function(v) return v:to(th.float32):sum() end, x)
local logits, classes = tensor(4096, 50304), (th.rand({ 4096 }) * 50000):to(th.int64):to(device)
time("cross_entropy 4096x50304", function(l, c) return F.cross_entropy(l, c) end, logits, classes)
