-- The options backend, mode and options of th.compile: names, functions, and what is refused.
local th = require "thunder"
local expect = require "support.expect"

local function near(a, b, tolerance) assert(math.abs(a - b) <= tolerance, ("%g, not %g"):format(a, b)) end
local function f(x) return (th.sin(x) * 2):sum() end
local x = th.tensor { 0.0, 0.5, 1.0 }
local expected = 2 * (math.sin(0.5) + math.sin(1.0))

for _, name in ipairs(th.list_backends {}) do
  near(th.compile(f, { backend = name })(x):item(), expected, 1e-5)
end
assert(table.concat(th.list_backends(), ","):find "thunder")
assert(not table.concat(th.list_backends(), ","):find "eager")

-- A function gets the whole trace, and its result runs it.
local seen
local g = th.compile(f, {
  backend = function(region, inputs)
    seen = #region.lines
    assert(#inputs == 1)
    return function(a) return (th.sin(a) * 2):sum() end
  end,
})
near(g(x):item(), expected, 1e-5)
assert(seen >= 3)

-- By name, from then on.
assert(th.register_backend { name = "lua.mine", run = function() return function(a) return (th.sin(a) * 2):sum() end end } == "lua.mine")
near(th.compile(f, { backend = "lua.mine" })(x):item(), expected, 1e-5)
th.register_backend { name = "lua.plain", disable_passes = { "algebra" }, fusion = false, tags = { "debug" } }
local plain = th.compile(function(a) return a * 1 + 0 end, { backend = "lua.plain" })
plain(x)
for _, trace in ipairs(th.last_traces(plain)) do assert(trace.name ~= "algebra") end

-- PyTorch's names, and modes.
near(th.compile(f, { options = { ["max-autotune"] = true, dce = false } })(x):item(), expected, 1e-5)
assert(th.list_mode_options "max-autotune".use_cudagraphs)
expect.error(function() th.compile(f, { mode = "lite", options = { dce = true } }) end, "either mode or options can be given")
expect.error(function() th.compile(f, { backend = "eagre" }) end, "unknown backend 'eagre' (did you mean 'eager'?)")
expect.error(function() th.compile(f, { options = { ["trace.upload_tar"] = true } }) end, "option 'trace.upload_tar' of PyTorch's Inductor is not there")
expect.error(function() th.register_backend { nam = "x" } end, "register_backend has no field 'nam'")
