-- thunder run examples/extend/triton/swish.lua FOLDER: an op whose kernel on CUDA devices is the one that export.py compiled with Triton.
local th = require "thunder"
local folder = arg and arg[1] or error "usage: swish.lua FOLDER, which export.py has filled"

local function read(name)
  local file = assert(io.open(folder .. "/" .. name, "rb"))
  local text = file:read "a"
  file:close()
  return text
end
local launch = read "swish.json"
local function field(name) return launch:match('"' .. name .. '": "([^"]*)"') or math.tointeger(tonumber(launch:match('"' .. name .. '": (%d+)'))) end

th.op {
  schema = "triton.swish(tensor x) -> tensor",
  doc = "x * sigmoid(x) of float32, by a kernel of Triton's.",
  elementwise = true,
  decompose = function(x) return x * th.sigmoid(x) end,
  cuda = { image = read "swish.cubin", symbol = field "symbol", parameters = field "parameters", grid = field "grid", block = field "block",
           shared_bytes = field "shared_bytes" },
}
local f = th.compile(function(x) return th.triton.swish(x + 1) * 2 end)
local x = th.randn(1000, 77)
local expected, got = f(x), f(x:to "cuda"):to "cpu"
print(th.last_traces(f)[#th.last_traces(f)])
assert(th.allclose(got, expected, 1e-5, 1e-6), "Triton's kernel gives something else")
print("Triton's kernel gives what the CPU does")
