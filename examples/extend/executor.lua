-- An executor in Lua: kernels for two ops, chosen by a checker, and what they are asked about.
--   thunder run examples/extend/executor.lua
local th = require "thunder"

local seen = {}
th.executor {
  name = "lookup",
  ops = {
    -- A kernel gets the op's arguments and gives its results.
    gelu = function(x, approximate)
      seen.gelu = approximate
      return 0.5 * x * (1 + th.erf(x * math.sqrt(0.5)))
    end,
    -- Only for what it is good at; everything else goes to the executors behind it.
    softmax = {
      checker = function(op) return op.inputs[1].dtype == th.float32 and op.args.dim == -1 end,
      run = function(x)
        seen.softmax = (seen.softmax or 0) + 1
        local e = th.exp(x - x:amax(-1, true))
        return e / e:sum(-1, true)
      end,
    },
  },
}

local f = th.compile(function(x) return th.softmax(th.gelu(x), -1), th.softmax(x, 0) end, { executors = { "lookup", "fusion" } })
local x = th.randn(4, 8)
local rows, columns = f(x)
assert(seen.softmax == 1 and seen.gelu == "none")

local expected_rows, expected_columns = th.softmax(th.gelu(x), -1), th.softmax(x, 0)
assert((rows - expected_rows):abs():amax():item() < 1e-6)
assert((columns - expected_columns):abs():amax():item() < 1e-6)
print(th.last_traces(f)[#th.last_traces(f)]) -- who runs what
