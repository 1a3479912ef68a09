-- Passes in Lua: rules as text, and a function that edits the trace.
--   thunder run examples/extend/pass.lua
local th = require "thunder"

-- Rules hold where their guards do; names are ops, other words stand for anything.
th.pass {
  name = "faster_rsqrt",
  after = "grad",
  rules = { "div(a, sqrt(b)) -> mul(a, rsqrt(b)) if b.dtype == f32 and b.rank > 0" },
}

-- A function over the lines: a linear layer without a bias whose input is a linear layer without one is one product of
-- the weights, where that is less work.
local merged = 0
th.pass {
  name = "merge_linear",
  before = "grad",
  run = function(trace)
    local made_by = {}
    for _, line in ipairs(trace) do made_by[line.output_values[1]] = line end
    for _, line in ipairs(trace) do
      local inner = line.op == "linear" and not line.inputs[3] and made_by[line.input_values[1]]
      if inner and inner.op == "linear" and not inner.inputs[3] then
        local rows, hidden = inner.inputs[1].shape[1], inner.inputs[2].shape[1]
        local x, w1 = inner:arguments()
        if hidden > rows then
          line:replace(function(_, w2) return th.linear(x, th.matmul(w2, w1)) end)
          merged = merged + 1
        end
      end
    end
  end,
}

local w1, w2 = th.randn(64, 4), th.randn(3, 64)
local function f(x)
  local y = th.linear(th.linear(x, w1), w2)
  return y / th.sqrt(y * y + 1)
end
local compiled = th.compile(f, { verify = true })
local x = th.randn(8, 4)
assert((compiled(x) - f(x)):abs():amax():item() < 1e-5)
assert(merged == 1)
for _, trace in ipairs(th.last_traces(compiled)) do
  if trace.name == "merge_linear" or trace.name == "faster_rsqrt" then print(trace) end
end
