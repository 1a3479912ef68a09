-- Programs that make logs speak, for tools/sitegen/lists.py: the first one makes each log speak that has none of its own.

-- default
local w = th.randn(64, 16)
local f = th.compile(function(x) return th.gelu(th.linear(x, w)):sum() end)
f(th.randn(8, 16))

-- recompiles
local f = th.compile(function(x, times) return x * times end)
f(th.ones(3), 1)
f(th.ones(3), 2)

-- dynamic
local f = th.compile(function(x) return x * 2 end)
f(th.ones(3))
f(th.ones(4))

-- graph_breaks
local f = th.compile(function(x) if x:sum():item() > 0 then return x + 1 end return x - 1 end, { fullgraph = false })
f(th.ones(3))

-- perf_hints
local f = th.compile(function(x) return x:sort() end)
f(th.randn(300, 300))

-- cudagraphs
local f = th.compile(function(x) return x + 1 end, { use_cudagraphs = true })
f(th.ones(3))

-- autotuning
local f = th.compile(function(x) return x:matmul(x) end, { max_autotune = true })
f(th.randn(300, 300))

-- sharp_edges
local f = th.compile(function(x) return x + os.time() end, { sharp_edges = "warn" })
f(th.ones(3))
