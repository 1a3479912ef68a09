-- nn.init: first values of parameters, written into the tensor, which is returned: PyTorch's torch.nn.init.
--   for _, w in pairs(net:parameters()) do if w:dim() > 1 then nn.init.xavier_uniform_(w) end end
local th, core = ...
local init = {}

local function written(tensor, values)
  th.copy_(tensor, values)
  return tensor
end

function init.uniform_(tensor, a, b)
  a, b = a or 0, b or 1
  return written(tensor, th.rand(tensor.shape) * (b - a) + a)
end
function init.normal_(tensor, mean, std) return written(tensor, th.randn(tensor.shape) * (std or 1) + (mean or 0)) end
function init.constant_(tensor, value)
  th.fill_(tensor, value)
  return tensor
end
function init.zeros_(tensor) return init.constant_(tensor, 0.0) end
function init.ones_(tensor) return init.constant_(tensor, 1.0) end

local function matrix(who, tensor)
  if tensor.ndim ~= 2 then core.refuse(("%s: a tensor of 2 dims was expected, got %d"):format(who, tensor.ndim)) end
end

-- Ones on the diagonal of a matrix, zeros elsewhere.
function init.eye_(tensor)
  matrix("eye_", tensor)
  return written(tensor, th.eye(tensor.shape[1], tensor.shape[2]))
end

-- Normal numbers between a and b, by the inverse of the distribution.
function init.trunc_normal_(tensor, mean, std, a, b)
  mean, std, a, b = mean or 0, std or 1, a or -2, b or 2
  local function level(value) return th.ndtr(th.tensor((value - mean) / std, th.float64)):item() end
  local low, high = level(a), level(b)
  local values = th.ndtri(th.rand(tensor.shape, { dtype = th.float64 }) * (high - low) + low) * std + mean
  return written(tensor, th.to(th.clamp(values, a, b), tensor.dtype))
end

-- ---- by the number of connections ----

local GAINS = { linear = 1.0, conv1d = 1.0, conv2d = 1.0, conv3d = 1.0, conv_transpose1d = 1.0, conv_transpose2d = 1.0,
  conv_transpose3d = 1.0, sigmoid = 1.0, tanh = 5 / 3, relu = math.sqrt(2), selu = 0.75 }

-- How much of the standard deviation is kept for what follows the layer; slope: of a leaky_relu.
function init.calculate_gain(nonlinearity, slope)
  if nonlinearity == "leaky_relu" then return math.sqrt(2 / (1 + (slope or 0.01) ^ 2)) end
  return GAINS[nonlinearity] or core.refuse(("calculate_gain: unknown nonlinearity '%s'%s"):format(tostring(nonlinearity),
    core.suggest(tostring(nonlinearity), GAINS)))
end

local function fans(who, tensor)
  local shape, field = tensor.shape, 1
  if #shape < 2 then core.refuse(("%s: a tensor of at least 2 dims was expected, got %d"):format(who, #shape)) end
  for dim = 3, #shape do field = field * shape[dim] end
  return shape[2] * field, shape[1] * field
end

function init.xavier_uniform_(tensor, gain)
  local inputs, outputs = fans("xavier_uniform_", tensor)
  local bound = (gain or 1) * math.sqrt(6 / (inputs + outputs))
  return init.uniform_(tensor, -bound, bound)
end
function init.xavier_normal_(tensor, gain)
  local inputs, outputs = fans("xavier_normal_", tensor)
  return init.normal_(tensor, 0, (gain or 1) * math.sqrt(2 / (inputs + outputs)))
end

local function deviation(who, tensor, a, mode, nonlinearity)
  mode = mode or "fan_in"
  if mode ~= "fan_in" and mode ~= "fan_out" then
    core.refuse(("%s: mode must be 'fan_in' or 'fan_out', got '%s'"):format(who, tostring(mode)))
  end
  local inputs, outputs = fans(who, tensor)
  return init.calculate_gain(nonlinearity or "leaky_relu", a or 0) / math.sqrt(mode == "fan_in" and inputs or outputs)
end
function init.kaiming_uniform_(tensor, a, mode, nonlinearity)
  local bound = math.sqrt(3) * deviation("kaiming_uniform_", tensor, a, mode, nonlinearity)
  return init.uniform_(tensor, -bound, bound)
end
function init.kaiming_normal_(tensor, a, mode, nonlinearity)
  return init.normal_(tensor, 0, deviation("kaiming_normal_", tensor, a, mode, nonlinearity))
end

-- Takes from a row what it has of the earlier ones, twice, so that rounding leaves nothing, and makes it of length 1.
local function orthonormalise(rows)
  for i, row in ipairs(rows) do
    for _ = 1, 2 do
      for j = 1, i - 1 do
        local shared = 0
        for k, value in ipairs(row) do shared = shared + value * rows[j][k] end
        for k = 1, #row do row[k] = row[k] - shared * rows[j][k] end
      end
    end
    local length = 0
    for _, value in ipairs(row) do length = length + value * value end
    for k = 1, #row do row[k] = row[k] / math.sqrt(length) end
  end
  return rows
end
-- Orthonormal rows, or columns when there are more rows; what has more dims is taken as a matrix of its first.
function init.orthogonal_(tensor, gain)
  local columns, rows = fans("orthogonal_", tensor), tensor.shape[1]
  local drawn = th.randn({ math.min(rows, columns), math.max(rows, columns) }, { dtype = th.float64 })
  local made = core.tensor(orthonormalise(core.tolist(drawn)), th.float64)
  if rows > columns then made = th.transpose(made, 0, 1) end
  return written(tensor, th.to(th.reshape(made, tensor.shape) * (gain or 1), tensor.dtype))
end

th.nn.init = setmetatable(init, {
  __metatable = false,
  __tostring = function() return "nn.init: " .. core.listed(init) end,
  __index = function(_, name)
    core.refuse(("nn.init has no function '%s'%s"):format(tostring(name), core.suggest(tostring(name), init)))
  end,
})
