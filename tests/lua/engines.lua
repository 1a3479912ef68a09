-- Engines of others as backends: each that is here computes, each that is not says every name that was looked for.
local th = require "thunder"
local expect = require "support.expect"

local x, y = th.tensor { 1.0, 2.0, 3.0 }, th.tensor { 4.0, 5.0, 6.0 }
local found = table.concat(th.list_backends(), ",")
for name, library in pairs { onnxrt = "libonnxruntime.so", openxla = "xla_cpu_pjrt.so", tvm = "THUNDER_TVM_PYTHON" } do
  local f = th.compile(function(a, b) return th.softmax(a * b, 0):sum() end, { backend = name })
  if (","..found..","):find(","..name..",", 1, true) then
    expect.values(f(x, y):reshape { 1 }, { 1.0 }, 1e-6)
    local traces = th.last_traces(f)
    assert(tostring(traces[#traces]):find("by " .. name, 1, true), tostring(traces[#traces]))
    -- In the memory of the process beside the other one and our own compiler.
    local mixed = th.compile(function(a) return (a:exp() * 2):sum() end, { executors = name .. ",fusion" })
    expect.values(mixed(th.zeros(3)):reshape { 1 }, { 6.0 }, 1e-5)
  else
    expect.error(function() f(x, y) end, name .. " is not available here: none of ", library)
  end
end
