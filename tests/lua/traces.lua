-- Traces: every stage of a program prints, and the text runs and gives the same numbers.
-- covers: bindings/lua/trace.c
local th = require "thunder"
local expect = require "support.expect"

-- Runs each stage of f's last program on these tensors; each must give `results`.
local function check_stages(f, parameters, constants, inputs, results)
  local traces = th.last_traces(f)
  assert(#traces >= 3)
  for _, trace in ipairs(traces) do
    assert(trace.text == tostring(trace) and trace.ms >= 0 and #trace.name > 0)
    local copies = {}
    for i, t in ipairs(constants) do copies[i] = t:clone() end
    local got = table.pack(th.run_trace(trace, parameters, copies, inputs))
    assert(got.n == #results, trace.name)
    for i = 1, got.n do
      assert(got[i]:equal(results[i]), ("%s: result %d differs\n%s"):format(trace.name, i, trace.text))
    end
    for i, t in ipairs(constants) do
      local after = results.constants and results.constants[i] or t
      assert(copies[i]:equal(after), ("%s: constant %d differs\n%s"):format(trace.name, i, trace.text))
    end
  end
end

-- Lines run one by one give the bits of the host executor.
local host = { executors = { "host" } }
local x = th.tensor { { 1.0, -2.0, 3.0 }, { 0.5, 0.25, -1.0 } }

-- Forward, with a live number and several results.
local f = th.compile(function(a, s)
  local y = th.softmax(th.relu(a) * s, -1)
  return y, y:sum(0, true), a:reshape(3, 2):permute(1, 0)
end, host)
local results = { f(x, 0.75) }
check_stages(f, {}, {}, { x, th.tensor(0.75) }, results)

-- Captured tensors are constants c[k] of the program, in the order in which they were met.
local w = th.tensor { { 0.5, -1.0, 2.0 }, { 1.5, 0.25, -0.5 } }
local g = th.compile(function(a) return th.linear(a, w) end, host)
check_stages(g, {}, { w }, { x }, { g(x) })

-- A training step: gradient and write-back.
local before = w:clone()
local step = th.compile(function(a, target)
  local loss = th.mse_loss(th.linear(a, w), target)
  w:sub_(th.grad_of(loss, w) * 0.1)
  return loss
end, host)
local target = th.tensor { { 1.0, 0.0 }, { 0.0, 1.0 } }
local loss = step(x, target)
check_stages(step, {}, { before }, { x, target }, { loss, constants = { w } })

-- Steps through ops that only traces hold, backwards that an executor may take as one line.
local layer = th.tensor { 1.0, 0.5, 2.0 }
local classes = th.tensor { 2, 0 }
local original = layer:clone()
local classify = th.compile(function(a)
  local loss = th.cross_entropy(th.layer_norm(a, { 3 }, layer), classes)
  layer:sub_(th.grad_of(loss, layer))
  return loss, a:split(1)
end, host)
local given = { classify(x) }
local captured = {}
local header = th.last_traces(classify)[1].text
for k, kind in header:gmatch "%-%- c%[(%d+)%][^:]*: (%w+)" do captured[tonumber(k)] = kind == "i64" and classes or original end
given.constants = {}
for k, t in ipairs(captured) do given.constants[k] = t == original and layer or t end
check_stages(classify, {}, captured, { x }, given)
assert(table.concat((function()
  local texts = {}
  for _, trace in ipairs(th.last_traces(classify)) do texts[#texts + 1] = trace.text end
  return texts
end)()):find("layer_norm_backward", 1, true))

-- A text that is not a trace, and an unknown op.
expect.error(function() th.run_trace("return function(") end, "traces.lua:", "trace:1:")
expect.error(function() th.run_trace("return function(p, c, i) return prims.nothing(i[1]) end", {}, {}, { x }) end,
  "unknown op 'prims.nothing'")
expect.error(function() return th.last_traces(f)[1].txt end, "no member 'txt'", "'text'")
