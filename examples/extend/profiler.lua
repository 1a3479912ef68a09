-- A profiler as a pass: marks between the lines that run, which add up the time of each.
--   thunder run examples/extend/profiler.lua
local th = require "thunder"

local profiler = { seconds = {}, lines = {} }

-- An op with effects is never merged, dropped or run ahead of the others.
local started
th.op {
  schema = "profiler.mark(int line) -> tensor",
  doc = "Ends the line before it, and begins the one after it.",
  effects = true,
  meta = function() return { dtype = th.int64, shape = {} } end,
  host = function(line)
    local now = os.clock()
    if started and line > 1 then profiler.seconds[line - 1] = (profiler.seconds[line - 1] or 0) + now - started end
    started = os.clock()
    return th.tensor(line)
  end,
}

-- After the claim: what stands there is what runs, regions included.
profiler.pass = th.pass {
  name = "profile",
  after = "claim",
  register = false,
  run = function(trace)
    for i, line in ipairs(trace) do
      profiler.lines[i] = ("%s by %s"):format(line.op, line.executor)
      line:insert_before(function() return th.profiler.mark(i) end)
    end
    trace[#trace]:insert_after(function() return th.profiler.mark(#trace + 1) end)
  end,
}

function profiler.report()
  local rows = {}
  for i, line in ipairs(profiler.lines) do rows[i] = ("%8.1f us  %s"):format((profiler.seconds[i] or 0) * 1e6, line) end
  return table.concat(rows, "\n")
end

local net = th.nn.Sequential { th.nn.Linear(256, 512), th.nn.ReLU(), th.nn.Linear(512, 10) }
local function f(x) return th.softmax(net(x), -1) end
local profiled, plain = th.compile(f, { passes = { profiler.pass } }), th.compile(f)
local x = th.randn(64, 256)
for _ = 1, 5 do assert(profiled(x):equal(plain(x))) end -- the marks change no bit
print(profiler.report())
local total = 0
for i in ipairs(profiler.lines) do total = total + (profiler.seconds[i] or 0) end
assert(total > 0 and profiler.report():find "linear")
