-- nn.init: first values of parameters, written into the tensor, which is returned: PyTorch's torch.nn.init. They are ops, init_NAME_.
--   for _, w in pairs(net:parameters()) do if w:dim() > 1 then nn.init.xavier_uniform_(w) end end
local th, core = ...
local init = {}
for name in pairs(core.op_names()) do
  local own = name:match "^init_(.+_)$"
  if own then
    init[own] = function(tensor, ...)
      th[name](tensor, ...)
      return tensor
    end
  end
end

function init.constant_(tensor, value)
  th.fill_(tensor, value)
  return tensor
end
function init.zeros_(tensor) return init.constant_(tensor, 0.0) end
function init.ones_(tensor) return init.constant_(tensor, 1.0) end

-- How much of the standard deviation is kept for what follows the layer; slope: of a leaky_relu.
function init.calculate_gain(nonlinearity, slope) return th.init_calculate_gain(nonlinearity, slope):item() end

th.nn.init = setmetatable(init, {
  __metatable = false,
  __tostring = function() return "nn.init: " .. core.listed(init) end,
  __index = function(_, name)
    core.refuse(("nn.init has no function '%s'%s"):format(tostring(name), core.suggest(tostring(name), init)))
  end,
})
