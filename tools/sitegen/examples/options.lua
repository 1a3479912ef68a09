-- A program for each option of compile that shows what it does, for tools/sitegen/lists.py.

-- executors
local f = th.compile(function(x) return (x * 2):exp() end, { executors = "host" })
f(th.ones(3))
print(th.last_traces(f)[#th.last_traces(f)])

-- name
local f = th.compile(function(x) return x + 1 end, { name = "decoder" })
f(th.ones(3))
print((tostring(th.last_traces(f)[1]):match("[^\n]*")))

-- engine_library
local f = th.compile(function(x) return x + 1 end, { backend = "onnxrt", engine_library = "/opt/engines/libonnxruntime.so.1" })
print(select(2, pcall(f, th.ones(3))))

-- disable_passes
local f = th.compile(function(x) return x:exp() + x:exp() end, { disable_passes = "cse,cse_prims" })
f(th.ones(3))
print(th.last_traces(f)[#th.last_traces(f)])

-- float32_matmul_precision
local function product(a, b) return a:matmul(b) end
local exact, fast = th.compile(product), th.compile(product, { float32_matmul_precision = "medium" })
local a, b = th.randn(256, 256), th.randn(256, 256)
print("they differ by at most", (exact(a, b) - fast(a, b)):abs():max():item())

-- allow_reciprocal
local f = th.compile(function(x) return x / x:sum(1, true) end, { allow_reciprocal = true })
f(th.ones(4, 300))
print(th.last_traces(f)[#th.last_traces(f)])

-- cudnn_allow_tf32
local f = th.compile(function(x, w) return th.conv2d(x, w) end, { cudnn_allow_tf32 = true })
f(th.ones(1, 1, 4, 4), th.ones(1, 1, 3, 3))
print(th.explain(f, "options"))

-- backend
local f = th.compile(function(x) return (x * 2):exp() end, { backend = "eager" })
f(th.ones(3))
print(th.last_traces(f)[#th.last_traces(f)])

-- mode
local f = th.compile(function(x) return x:matmul(x) end, { mode = "max-autotune-no-cudagraphs" })
f(th.randn(300, 300))
print(th.explain(f, "choices"))

-- use_cudagraphs
local f = th.compile(function(x) return x + 1 end, { use_cudagraphs = true })
f(th.ones(3))
print(th.explain(f, "options"))

-- freezing
local w = th.ones(3)
local f = th.compile(function(x) return x + w:exp() end, { freezing = true })
f(th.ones(3))
print(th.last_traces(f)[#th.last_traces(f)])

-- max_autotune
local f = th.compile(function(x) return x:matmul(x) end, { max_autotune = true })
f(th.randn(300, 300))
print(th.explain(f, "choices"))

-- deterministic
print(select(2, pcall(th.compile, function(x) return x:matmul(x) end, { deterministic = true, max_autotune = true })))

-- donate_argnums
local function f(x) return (x:exp():matmul((-x):exp())):sum() end
for _, options in ipairs { {}, { donate_argnums = "0" } } do
  local compiled = th.compile(f, options)
  compiled(th.ones(64, 64))
  print((th.explain(compiled, "memory"):match("[^\n]*")))
end

-- verify
local f = th.compile(function(x) return x + 1 end, { verify = true })
f(th.ones(3))
print(th.explain(f, "options"))

-- debug_checks
local f = th.compile(function(x) return (x - x:mean()):log() end, { debug_checks = "nan" })
print(select(2, pcall(f, th.tensor { 0.0, 1.0, 2.0 })))

-- epilogue_fusion
local w = th.ones(300, 300)
local f = th.compile(function(x) return (x:matmul(w)):relu() end, { epilogue_fusion = false })
f(th.ones(300, 300))
print(th.last_traces(f)[#th.last_traces(f)])

-- trace_dir
local f = th.compile(function(x) return x + 1 end, { trace_dir = "written", name = "f" })
f(th.ones(3))
os.execute "ls written/*"

-- trace_files
local f = th.compile(function(x) return x + 1 end, { trace_dir = "written", trace_files = "compile_profile", name = "f" })
f(th.ones(3))
os.execute "head -3 written/*/*"

-- sharp_edges
local f = th.compile(function(x) return x + os.time() end, { sharp_edges = "error" })
print(select(2, pcall(f, th.ones(3))))

-- recipe
print(select(2, pcall(th.compile, function(x) return x end, { recipe = "hf-transformers" })))

-- plugins
local f = th.compile(function(x) return x + 1 end, { plugins = "reduce-overhead" })
f(th.ones(3))
print(th.explain(f, "options"))

-- debug_options
local f = th.compile(function(x) return x + 1 end, { debug_options = "check_traces" })
f(th.ones(3))
print(th.explain(f, "options"))

-- cache
local f = th.compile(function(x) return x + 1 end, { cache = "no caching" })
f(th.ones(3))
f(th.ones(3))
print(th.cache_hits(f), th.cache_misses(f))

-- always_trace
local f = th.compile(function(x) return x + 1 end, { always_trace = true })
f(th.ones(3))
f(th.ones(3))
print(th.cache_hits(f), th.cache_misses(f))

-- use_last_executed
local f = th.compile(function(x, times) return x * times end, { use_last_executed = true })
print(f(th.ones(3), 2), f(th.ones(3), 5))

-- use_static_caching
local f = th.compile(function(x, times) return x * times end, { use_static_caching = true })
print(f(th.ones(3), 2), f(th.ones(3), 5))

-- dynamic
local traced = 0
local f = th.compile(function(x)
  traced = traced + 1
  return x + 1
end, { dynamic = true })
for n = 2, 5 do f(th.ones(n)) end
print("traced", traced)
print(th.explain(f, "guards"))

-- dynamic_shapes
local f = th.compile(function(x, y) return x:matmul(y) end, { dynamic_shapes = "0:s0,3;1:3,s0" })
f(th.ones(2, 3), th.ones(3, 2))
print(th.explain(f, "guards"))

-- automatic_dynamic_shapes
local f = th.compile(function(x) return x + 1 end, { automatic_dynamic_shapes = false })
for n = 2, 5 do f(th.ones(n)) end
print(th.cache_hits(f), th.cache_misses(f))

-- recompile_limit
local f = th.compile(function(x, times) return x * times end, { recompile_limit = 2, dynamic = false })
for times = 1, 4 do f(th.ones(3), times) end

-- accumulated_recompile_limit
local f = th.compile(function(x, times) return x * times end, { accumulated_recompile_limit = 2 })
for times = 1, 4 do f(th.ones(3), times) end

-- fail_on_recompile_limit
local f = th.compile(function(x, times) return x * times end, { recompile_limit = 1, fail_on_recompile_limit = true, dynamic = false })
f(th.ones(3), 1)
print(select(2, pcall(f, th.ones(3), 2)))

-- fullgraph
local f = th.compile(function(x) if x:sum():item() > 0 then return x + 1 end return x - 1 end, { fullgraph = false })
print(f(th.ones(3)), th.explain(f, "breaks"))

-- disable
local f = th.compile(function(x) return x + 1 end, { disable = true })
print(f(th.ones(3)), th.cache_misses(f))

-- progress
local f = th.compile(function(x) return x + 1 end, { progress = function(stage, done, total) io.write(stage, " ", done, "/", total, "; ") end })
f(th.ones(3))
print()

-- guard_filter_fn
local keep_none = function(guards)
  local keep = {}
  for i, guard in ipairs(guards) do
    print(guard.name, guard.guard_type, guard.value)
    keep[i] = false
  end
  return keep
end
local f = th.compile(function(x, times) return x * times end, { guard_filter_fn = keep_none })
print(f(th.ones(3), 2), f(th.ones(3), 5))
