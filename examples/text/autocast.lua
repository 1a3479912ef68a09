-- Lets a model's forward compute its products in bfloat16, while its weights stay float32.
local th = require "thunder"

return function(net)
  local forward = net.forward
  function net:forward(...) return th.autocast(th.bfloat16, forward, self, ...) end
end
