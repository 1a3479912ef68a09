-- Programs: functions of traces, and compiled functions in files.
local th = require "thunder"
local expect = require "support.expect"

local w = th.tensor { { 1.0, 2.0 }, { 3.0, 4.0 } }
local f = th.compile(function(x) return th.softmax(x:matmul(w), -1) end)
local x = th.tensor { { 0.5, -1.0 } }
local y = f(x)

-- A trace of a compiled function has the tensors that were captured; its text needs them.
for _, trace in ipairs(th.last_traces(f)) do
  expect.same(th.function_from_trace(trace)(x), y)
  expect.same(th.function_from_trace(tostring(trace), { w })(x), y)
end
local text = tostring(th.last_traces(f)[1])
expect.error(function() th.function_from_trace(text) end, "no tensor is given for c[1], which is f32[2, 2]")
expect.error(function() th.function_from_trace(text, { w, w }) end, "the trace captured 1 tensors, 2 are given")
expect.error(function() th.function_from_trace("return 7") end, "trace:1:1")
expect.error(function() th.function_from_trace(text, { w })(th.ones(3, 2)) end, "input '0' is f32[3, 2], the trace was made for f32[1, 2]")

-- It is a function like any other: differentiated, called inside another.
local g = th.function_from_trace(text, { w })
local direct = th.grad(function(a) return (f(a) * f(a)):sum() end)(x)
expect.same(th.grad(function(a) return (g(a) * g(a)):sum() end)(x), direct)
expect.same(th.compile(function(a) return g(a) * 2 end)(x), y * 2)
assert(tostring(g):find "the trace after trace")

-- In a file, with its structure and its constants.
local path = os.tmpname()
local rich = th.compile(function(batch, how) return { sum = batch.x * batch.scale, how = how, list = { batch.x } } end)
rich({ x = x, scale = 2.0 }, "once")
th.save_program(rich, path)
local loaded = th.load_program(path)
local out = loaded({ x = x, scale = 3.0 }, "once")
expect.values(out.sum, { { 1.5, -3.0 } })
expect.same(out.list[1], x)
assert(out.how == "once")
expect.error(function() loaded({ x = x, scale = 3.0 }, "twice") end, "input 1 is 'twice', it was made for 'once'")
expect.error(function() th.load_program(path, { executers = "host" }) end, "executors")
expect.error(function() th.load_program(path .. ".no") end, path .. ".no")
expect.error(function() th.save_program(function() end, path) end, "save_program: a compiled function was expected, got a function")
expect.error(function() th.save_program(th.compile(function(a) return a end), path) end, "nothing is compiled that could be saved")
-- With its kernels; and all kernels for another process.
th.compile_ahead(rich, path)
expect.values(th.load_program(path, { run_saved_kernels = true })({ x = x, scale = 3.0 }, "once").sum, { { 1.5, -3.0 } })
expect.error(function() th.compile_ahead(1, path) end, "compile_ahead: a compiled function was expected, got")
-- As C, which tests/cli/export.py compiles.
local scaled, folder = th.compile(function(a) return th.exp(a) * w end), path .. ".folder"
scaled(x)
th.save_program(scaled, path)
th.export_c(path, folder, { name = "scaled" })
local header = assert(io.open(folder .. "/scaled.h")):read "a"
assert(header:find "int scaled%(const float %*in0, float %*out0, void %*workspace%);", header)
for _, file in ipairs { "scaled.h", "scaled.c", "scaled_data.S", "scaled_data.bin", "scaled_kernel_1.o" } do assert(os.remove(folder .. "/" .. file)) end
os.remove(folder)
expect.error(function() th.export_c(path, folder, { nam = "scaled" }) end, "did you mean 'name'?")
expect.error(function() th.export_c(path) end, "export_c: a path was expected, got nothing")
-- As ONNX, which tests/python/onnx_export_test.py runs.
th.export_onnx(scaled, path, { opset = 20 })
local model = assert(io.open(path, "rb")):read "a"
assert(model:find("libthunder", 1, true) and model:find("Exp", 1, true) and model:find("Mul", 1, true))
expect.error(function() th.export_onnx(scaled, path, { opset = 40 }) end, "opset must be 17 to 25, got 40")
expect.error(function() th.export_onnx(path, path) end, "export_onnx: a compiled function was expected, got a string")
expect.error(function() th.export_onnx(scaled) end, "export_onnx: a path was expected, got nothing")
local artifacts, info = th.compiler.save_cache_artifacts()
assert(type(artifacts) == "string" and info.cpu_kernels >= 0 and info.cuda_kernels == 0)
assert(th.compiler.load_cache_artifacts(artifacts).cpu_kernels == info.cpu_kernels)
expect.error(function() th.compiler.load_cache_artifacts(artifacts:sub(2)) end, "holds no compiled kernels")
expect.error(function() th.compiler.load_cache_artifacts(1) end, "a string was expected")
os.remove(path)

-- What the pages show runs as it stands.
for page, blocks in pairs { traces = 2, programs = 4 } do
  local printed, count = require("support.page").run("../docs/" .. page .. ".md")
  assert(count == blocks, page .. count)
  assert(printed:find "true" and (page == "traces" or printed:find "0.5"), printed)
end
