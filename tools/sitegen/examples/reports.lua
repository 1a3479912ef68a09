-- Programs that show reports, for tools/sitegen/lists.py: the first one shows each report that has none of its own.

-- default
local w = th.randn(64, 16)
local f = th.compile(function(x) return th.gelu(th.linear(x, w)):sum() end)
f(th.randn(8, 16))

-- fusion
local f = th.compile(function(x) return x:exp():sum() + x:sum(1):exp():sum() end)
f(th.ones(40, 300))

-- breaks
local f = th.compile(function(x) if x:sum():item() > 0 then return x + 1 end return x - 1 end, { fullgraph = false })
f(th.ones(3))

-- hints
local f = th.compile(function(x) return x:sort() end)
f(th.randn(300, 300))

-- choices
local f = th.compile(function(x) return x:matmul(x) end, { max_autotune = true })
f(th.randn(300, 300))

-- transforms
local without_div = th.pass { name = "without_div", after = "grad", rules = { "div(a, sqrt(b)) -> mul(a, rsqrt(b))" }, register = false }
local f = th.compile(function(x) return x / th.sqrt(x) end, { passes = { without_div } })
f(th.ones(3))

-- cuda
local f = th.compile(function(x) return th.gelu(x) * 2 end)
f(th.ones(40, 300))

-- options
local f = th.compile(function(x) return x + 1 end, { disable_passes = "cse", epilogue_fusion = false })
f(th.ones(3))

-- profile
local f = th.compile(function(x) return x:matmul(x):relu():sum() end)
th.profile(f, th.randn(256, 256))

-- profile_json
local f = th.compile(function(x) return x:relu():sum() end)
th.profile(f, th.randn(256, 256))

-- chrome_trace
local f = th.compile(function(x) return x:relu():sum() end)
th.profile(f, th.randn(256, 256))

-- examination
local f = th.compile(function(x) return (x - x:mean()):log():sum() end)
th.examine(f, th.tensor { 0.0, 1.0, 2.0 })

-- examination_json
local f = th.compile(function(x) return (x - x:mean()):log():sum() end)
th.examine(f, th.tensor { 0.0, 1.0, 2.0 })
