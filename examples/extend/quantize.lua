-- Weight-only quantisation: Linear layers whose weights are 8 or 4 bits, as a transform of a module together with that of
-- its state, and the inverse of both.
--   thunder run examples/extend/quantize.lua
local th = require "thunder"
local nn = th.nn

-- Symmetric, a scale for each row; stored as uint8 around 128.
th.op {
  schema = "quant.linear_int8(tensor input, tensor weight, tensor scale, tensor? bias=None) -> tensor",
  doc = "linear with the weight (weight - 128) * scale, a scale for each row.",
  decompose = function(input, weight, scale, bias)
    return th.linear(input, (weight:to(input.dtype) - 128) * scale:unsqueeze(1), bias)
  end,
}
-- Two weights in a byte, the even column in its low half; a scale for each group of a row.
th.op {
  schema = "quant.linear_int4(tensor input, tensor weight, tensor scale, tensor? bias=None) -> tensor",
  doc = "linear with the weight (half byte - 8) * scale, a scale for each group of columns.",
  decompose = function(input, weight, scale, bias)
    local rows, half, groups = weight.shape[1], weight.shape[2], scale.shape[2]
    local bytes = weight:to(input.dtype)
    local high = th.floor(bytes / 16)
    local pairs_of = th.stack({ bytes - high * 16, high }, -1):reshape(rows, groups, 2 * half // groups)
    return th.linear(input, ((pairs_of - 8) * scale:unsqueeze(-1)):reshape(rows, 2 * half), bias)
  end,
}

local function rounded(x, least, greatest) return th.clamp(th.floor(x + 0.5), least, greatest) end
local GROUP = 32

-- Of each width: a weight as what is stored, and back.
local formats = {
  [8] = {
    op = "quant.linear_int8",
    quantize = function(weight)
      local scale = weight:abs():amax(1) / 127
      return (rounded(weight / scale:unsqueeze(1), -127, 127) + 128):to(th.uint8), scale
    end,
    dequantize = function(bytes, scale) return (bytes:to(scale.dtype) - 128) * scale:unsqueeze(1) end,
  },
  [4] = {
    op = "quant.linear_int4",
    quantize = function(weight)
      local rows, columns = weight.shape[1], weight.shape[2]
      assert(columns % GROUP == 0, "int4 needs input features in groups of 32")
      local groups = weight:reshape(rows, columns // GROUP, GROUP)
      local scale = groups:abs():amax(2) / 7
      local halves = (rounded(groups / scale:unsqueeze(2), -7, 7) + 8):reshape(rows, columns // 2, 2)
      return (halves:select(2, 0) + halves:select(2, 1) * 16):to(th.uint8), scale
    end,
    dequantize = function(bytes, scale)
      local rows, half = bytes.shape[1], bytes.shape[2]
      local all = bytes:to(scale.dtype)
      local high = th.floor(all / 16)
      local groups = th.stack({ all - high * 16, high }, -1):reshape(rows, scale.shape[2], GROUP)
      return ((groups - 8) * scale:unsqueeze(-1)):reshape(rows, 2 * half)
    end,
  },
}

local quantize = {}

-- The state of a plain network as that of its quantised form, and back: `names` are the layers.
function quantize.state_dict(state, names, bits)
  local out = {}
  for path, tensor in pairs(state) do out[path] = tensor end
  for _, name in ipairs(names) do
    out[name .. ".weight"], out[name .. ".scale"] = formats[bits].quantize(state[name .. ".weight"])
  end
  return out
end
function quantize.inverse_state_dict(state, names, bits)
  local out = {}
  for path, tensor in pairs(state) do out[path] = tensor end
  for _, name in ipairs(names) do
    out[name .. ".weight"] = formats[bits].dequantize(state[name .. ".weight"], state[name .. ".scale"])
    out[name .. ".scale"] = nil
  end
  return out
end

-- The module in place: each named Linear becomes a layer with the quantised weight as a buffer.
function quantize.module(net, names, bits)
  local state = quantize.state_dict(net:state(), names, bits)
  for _, name in ipairs(names) do
    local layer, op = nn.Module {}, th[formats[bits].op]
    for _, member in ipairs { "weight", "scale", "bias" } do
      local tensor = state[name .. "." .. member]
      if tensor then layer:register_buffer(member, tensor) end
    end
    local biased = state[name .. ".bias"] ~= nil
    function layer:forward(input) return op(input, self.weight, self.scale, biased and self.bias or nil) end
    net[name] = layer
  end
  return net
end

-- ---- a network in 32, 8 and 4 bits ----

local function bytes_of(state)
  local bytes = 0
  for _, tensor in pairs(state) do bytes = bytes + tensor:nbytes() end
  return bytes
end

local function network()
  th.seed(3)
  local net = nn.Module { up = nn.Linear(64, 128), down = nn.Linear(128, 8, { bias = false }) }
  function net:forward(x) return self.down(th.relu(self.up(x))) end
  return net
end

local names, x = { "up", "down" }, th.randn(32, 64)
local plain = network()
local expected = plain(x)
local spread = expected:abs():amax():item()
for _, case in ipairs { { bits = 8, error = 0.02 }, { bits = 4, error = 0.25 } } do
  local net = quantize.module(network(), names, case.bits)
  local f = th.compile(net)
  local off = (f(x) - expected):abs():amax():item() / spread
  print(("int%d: %6d bytes instead of %d, the largest error %.4f of the largest result"):format(case.bits, bytes_of(net:state()),
    bytes_of(plain:state()), off))
  assert(off < case.error and bytes_of(net:state()) * 3 < bytes_of(plain:state()))
  assert(th.last_traces(f)[1].text:find(formats[case.bits].op, 1, true))

  -- The inverse gives a plain network that computes the same, and quantising that again the same bytes.
  local back = quantize.inverse_state_dict(net:state(), names, case.bits)
  local again = network()
  for path, tensor in pairs(again:state()) do tensor:copy_(back[path]) end
  assert((again(x) - f(x)):abs():amax():item() < 1e-4)
  local twice = quantize.state_dict(again:state(), names, case.bits)
  for _, name in ipairs(names) do assert(twice[name .. ".weight"]:equal(net:state()[name .. ".weight"])) end

  -- A gradient with respect to the input goes through it.
  local g = th.compile(th.grad(function(t) return net(t):sum() end))(x)
  local wanted = th.grad(function(t) return again(t):sum() end)(x)
  assert((g - wanted):abs():amax():item() < 1e-3)
end
