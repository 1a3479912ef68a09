-- The tensors of a module from a table of them, and copies of modules.
local th, core = ...
local methods = core.module_methods

-- The same as `state`: PyTorch's name.
methods.state_dict = core.state
-- Copies tensors by path into the module's own, all of them or, when it fails, none. Gives the names that only the module
-- has, and those that only the table has, which strict refuses.
function methods.load_state_dict(module, given, strict)
  local own, missing, unexpected, wrong = core.state(module), {}, {}, {}
  for path, tensor in pairs(own) do
    local from = given[path]
    if from == nil then
      -- A count of batches, which older states have not, stays what it is.
      if not path:match "num_batches_tracked$" then missing[#missing + 1] = path end
    elseif not core.is_tensor(from) then
      core.refuse(("load_state_dict: %s is no tensor"):format(path))
    elseif table.concat(core.shape(from), ", ") ~= table.concat(core.shape(tensor), ", ") then
      wrong[#wrong + 1] = ("%s is [%s] in the table, [%s] in the module"):format(path, table.concat(core.shape(from), ", "),
        table.concat(core.shape(tensor), ", "))
    end
  end
  for path in pairs(given) do
    if not own[path] then unexpected[#unexpected + 1] = path end
  end
  table.sort(missing)
  table.sort(unexpected)
  table.sort(wrong)
  if strict == nil or strict then
    for what, names in pairs { missing = missing, unexpected = unexpected } do
      if #names > 0 then wrong[#wrong + 1] = ("%s: %s"):format(what, table.concat(names, ", ")) end
    end
  end
  if #wrong > 0 then core.refuse("load_state_dict: " .. table.concat(wrong, "; ")) end
  for path, tensor in pairs(own) do
    if given[path] then th.copy_(tensor, given[path]) end
  end
  return missing, unexpected
end

-- ---- copies ----

local copied

-- Gives a copy's table what the original's has.
local function copy_fields(from, to, seen)
  seen[from] = to
  for name in methods.named_children(from) do
    local child, copy = core.child_of(from, name), core.child_of(to, name)
    if seen[child] then
      core.fields(to)[name] = seen[child]
    else
      copy_fields(child, copy, seen)
    end
  end
  for name, value in pairs(core.fields(from)) do
    if not core.is_module(value) then core.fields(to)[name] = copied(value, seen) end
  end
  if core.fields(from).forward then core.set_forward(to) end
  return to
end

function copied(value, seen)
  if seen[value] ~= nil then return seen[value] end
  if core.is_tensor(value) then
    seen[value] = th.clone(value)
  elseif core.is_module(value) then
    return copy_fields(value, core.module_copy(value), seen)
  elseif core.is_plain(value) then
    local made = {}
    seen[value] = made
    for key, item in pairs(value) do made[copied(key, seen)] = copied(item, seen) end
  end
  return seen[value] == nil and value or seen[value]
end

-- A module like this one with tensors of its own; attributes are copied too, functions are shared.
function methods.deepcopy(module) return copied(module, {}) end
