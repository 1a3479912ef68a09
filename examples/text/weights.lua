-- Weights from safetensors files under the names that their authors publish.
local th = require "thunder"
local attempt = require "text.attempt"
local mistake = require "text.mistake"
local weights = {}

local function matches(name, patterns)
  for _, pattern in ipairs(patterns) do
    if name:find(pattern) then return true end
  end
  return false
end

local function shape_text(tensor) return ("%s[%s]"):format(tostring(tensor.dtype), table.concat(tensor.shape, ", ")) end

-- Tensors by the model's own names. Files of a checkpoint hold the model under "net.".
function weights.read(model, paths)
  local found = {}
  for _, path in ipairs(paths) do
    local tensors = attempt("weights", th.data.safetensors, path)
    local checkpoint = false
    for name in pairs(tensors) do checkpoint = checkpoint or name:sub(1, 4) == "net." end
    for name, tensor in pairs(tensors) do
      local own = name
      if checkpoint then own = name:match "^net%.(.*)" end
      if own and model.prefix and own:sub(1, #model.prefix) == model.prefix then own = own:sub(#model.prefix + 1) end
      if own and not matches(own, model.passed_over) then
        if found[own] then mistake("%s: there is a second tensor '%s'", path, own) end
        found[own] = tensor
      end
    end
  end
  return found
end

-- Into the module's own tensors, all or none: names and shapes must be the module's.
function weights.fill(model, net, found)
  local parameters, problems = net:parameters(), {}
  for name, tensor in pairs(parameters) do
    if not found[name] then
      problems[#problems + 1] = ("'%s' is missing"):format(name)
    elseif table.concat(found[name].shape, ",") ~= table.concat(tensor.shape, ",") then
      problems[#problems + 1] = ("'%s' is %s, not %s"):format(name, shape_text(found[name]), shape_text(tensor))
    end
  end
  for name, tensor in pairs(found) do
    local original = model.tied[name]
    if not parameters[name] and not original then
      problems[#problems + 1] = ("'%s' is no parameter of this model"):format(name)
    elseif not parameters[name] and found[original] and not tensor:equal(found[original]) then
      problems[#problems + 1] = ("'%s' is not '%s', which this model uses in its place"):format(name, original)
    end
  end
  if #problems > 0 then
    table.sort(problems)
    local shown = table.concat(problems, "\n  ", 1, math.min(#problems, 5))
    mistake("the weights are not those of this model, %d differences:\n  %s", #problems, shown)
  end
  for name, tensor in pairs(parameters) do tensor:copy_(found[name]) end
end

return weights
