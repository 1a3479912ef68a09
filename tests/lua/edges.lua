-- The options sharp_edges, name, transforms and those of lightning-thunder: programs on which they make a difference.
local th = require "thunder"
local expect = require "support.expect"
local x = th.tensor { 1.0, 2.0 }

local function noisy(a) return a * math.random() end
local function clocked(a) return a + os.clock() end
local function sound(a) return (a:exp() + th.rand(2)):sum() end

expect.error(function() th.compile(noisy, { sharp_edges = "error" })(x) end,
  "sharp_edges: math.random() is called once, while the function is traced [at ")
expect.error(function() th.compile(clocked, { sharp_edges = "error" })(x) end, "edges.lua:7]; give it as an argument")
th.compile(sound, { sharp_edges = "error" })(x)
th.compile(noisy)(x)

-- The hook is gone afterwards, also after an error; a host's own stays.
assert(debug.gethook() == nil)
local counted = 0
debug.sethook(function() counted = counted + 1 end, "c")
expect.error(function() th.compile(noisy, { sharp_edges = "error" })(x) end, "math.random() is called once")
assert(debug.gethook() ~= nil and counted > 0)
debug.sethook()

local f = th.compile(sound, { name = "decoder" })
f(x)
assert(tostring(th.last_traces(f)[1]):find("decoder", 1, true))

local tripled = th.pass {
  name = "tripled", before = "grad", register = false,
  run = function(trace) for _, line in ipairs(trace) do if line.op == "exp" then line:replace(function(a) return a * 3 end) end end end,
}
expect.values(th.compile(function(a) return a:exp() end, { transforms = { tripled } })(x), { 3, 6 })

expect.error(function() th.compile(sound, { plugins = { "fsdp" } }) end, "option 'plugins' = \"fsdp\" is not there: a program runs on one device")
expect.error(function() th.compile(sound, { deterministic = true, max_autotune = true }) end, "option 'deterministic' asks for max_autotune = false")
th.compile(sound, { plugins = { "reduce-overhead" }, debug_options = "check_traces", recipe = "auto" })(x)

-- Executors of a compile that names none.
local built_in = th.get_default_executors()
assert(built_in[#built_in] == "host" and th.get_always_executors()[1] == "host" and not th.get_executor "fission")
th.set_default_executors { "products" }
assert(table.concat(th.get_default_executors(), ",") == "products,host")
th.set_default_executors()
assert(table.concat(th.get_default_executors(), ",") == table.concat(built_in, ","))

local fused = th.compile(function(a) return (a:exp() + 1) * 2 end)
fused(x)
assert(#th.get_fusions(fused)[1] == 3 and th.get_fusions(fused)[1][1] == "prims.exp")
