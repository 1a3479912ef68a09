-- calls.lua: what a call costs the host, in microseconds: a + b on 16 floats, op by op, compiled, and as a CUDA graph; a chain of 64 kernels as a
-- graph. Calls follow one another; the device is waited for at the end, or, where a row says alone, before each.
-- bench/cuda/graph_launch.cpp shows what the driver takes for such a graph.
local th = require "thunder"
local gpu = th.cuda(0)
local a, b = th.rand(16):to(gpu), th.rand(16):to(gpu)

local function us(name, f, ...)
  for _ = 1, 20 do f(...) end
  f(...):cpu()
  local start, times = th.clock(), 2000
  for _ = 1, times do f(...) end
  print(("%-24s %6.2f us"):format(name, (th.clock() - start) / times * 1e6))
  f(...):cpu()
end

local function add(x, y) return x + y end
local function chain(x, y)
  for _ = 1, 64 do x = th.softmax(x * y, 0) end
  return x
end
-- The host's part of one call while the device has nothing else to do: the median.
local function alone(name, f, ...)
  local times = {}
  for i = 1, 200 do
    th.cuda.synchronize()
    local start = th.clock()
    f(...)
    times[i] = (th.clock() - start) * 1e6
  end
  table.sort(times)
  print(("%-24s %6.2f us, alone"):format(name, times[#times // 2]))
  th.cuda.synchronize()
end
us("a + b, op by op", add, a, b)
us("a + b, compiled", th.compile(add), a, b)
us("a + b, graph", th.compile(add, { mode = "reduce-overhead" }), a, b)
us("64 kernels, compiled", th.compile(chain), a, b)
us("64 kernels, graph", th.compile(chain, { mode = "reduce-overhead" }), a, b)
alone("a + b, compiled", th.compile(add), a, b)
alone("64 kernels, graph", th.compile(chain, { mode = "reduce-overhead" }), a, b)
