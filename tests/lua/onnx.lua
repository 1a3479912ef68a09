-- ONNX models as functions: y = relu(x @ w.T + b), written by the package onnx.
local th = require "thunder"
local expect = require "support.expect"

local hex = "080a120574657374733ab8010a330a01780a0966632e7765696768740a0766632e626961731201681a026663220447656d6d2a0d0a0674"
  .. "72616e73421801a001020a0c0a0168120179220452656c751201672a2b080208031001420966632e7765696768744a180000803f000000"
  .. "4000004040000080bf000000c0000040c02a1708021001420766632e626961734a080000003f0000003f5a140a0178120f0a0d08011209"
  .. "0a0312016e0a02080362140a0179120f0a0d080112090a0312016e0a02080242040a001012"
local bytes = hex:gsub("%x%x", function(byte) return string.char(tonumber(byte, 16)) end)
local x = th.tensor { { 1.0, 0.0, 0.0 } }

-- Of bytes, and of a file whatever its name.
local f = th.load_program_bytes(bytes)
expect.values(f(x), { { 1.5, 0.0 } })
local path = os.tmpname()
local file = assert(io.open(path, "wb"))
file:write(bytes)
file:close()
local g = th.load_program(path, { outputs = "h" })
expect.values(g { x = x }, { { 1.5, -0.5 } })
os.remove(path)

-- What it takes and gives.
local s = th.signature(f)
assert(s.format == "onnx" and s.producer == "tests" and s.weights == 2 and #s.unsupported == 0)
assert(s.inputs[1].name == "x" and s.inputs[1].dtype == "f32" and s.inputs[1].dims[1] == "n" and s.inputs[1].dims[2] == 3)
assert(s.outputs[1].name == "y" and #s.operators == 2 and s.nodes[1].name == "fc")

-- Its weights are a module, which calls follow; it is a function like any other.
local weights = th.program_module(f)
local names = {}
for name in pairs(weights:state_dict()) do names[#names + 1] = name end
table.sort(names)
assert(table.concat(names, " ") == "fc.bias fc.weight", table.concat(names, " "))
weights.fc.bias = th.tensor { 0.0, 5.0 }
expect.values(f(x), { { 1.0, 4.0 } })
expect.values(th.grad(function(a) return f(a):sum() end)(x), { { 0.0, 0.0, 0.0 } })

expect.error(function() f(th.ones(1, 4)) end, "input 'x' is f32[1, 4], the model takes 3 in dim 1")
expect.error(function() f { z = x } end, "there is no input 'z'; the model has 1: x")
expect.error(function() th.load_program_bytes(bytes:sub(1, 100)) end, "is not an ONNX model")
expect.error(function() th.load_program_bytes(bytes, { program = 1 }) end, "an ONNX model is one program")
expect.error(function() th.load_program_bytes(7) end, "a string was expected")
expect.error(function() th.program_module(print) end, "a compiled function was expected")
expect.error(function() th.program_module(th.compile(function(a) return a end)) end, "was not loaded from an ONNX model")

-- A compiled function says it too, once it is compiled.
local h = th.compile(function(a, how) return a * 2, how end)
assert(th.signature(h) == nil)
h(x, "once")
s = th.signature(h)
assert(s.format == "thunder" and s.inputs[1].name == "0" and s.inputs[1].dims[2] == 3 and s.outputs[1].dtype == "f32")
