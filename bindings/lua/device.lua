-- Devices: th.cpu, th.cuda(1), th.device "cuda:1"; the members of th.cuda are those of torch.cuda.
local th, core = ...

th.cpu = core.device(1, 0)

-- th.device "cpu", "cuda" or "cuda:1"; a device is given back as it is.
function th.device(name)
  if type(name) ~= "string" then return name end
  if name == "cpu" then return th.cpu end
  local index = name == "cuda" and 0 or math.tointeger(tonumber(name:match "^cuda:(%d+)$"))
  return index and core.device(2, index) or core.refuse(("device: '%s' is no device: 'cpu', 'cuda' or 'cuda:N'"):format(name))
end

-- An index, a device or its name; nothing: the first GPU. The CPU has statistics of memory too.
local function device_of(given)
  if given == nil or math.type(given) == "integer" then return core.device(2, given or 0) end
  return th.device(given)
end

local members = {}
-- Whether there is a GPU, and how many.
function members.is_available() return core.has_device(core.device(2, 0)) end
function members.device_count()
  local count = 0
  while core.has_device(core.device(2, count)) do count = count + 1 end
  return count
end
-- Waits for all work on the device, and reports what went wrong in it.
function members.synchronize(device) core.synchronize(device_of(device)) end
-- Blocks of memory that are kept for reuse go back.
function members.empty_cache(device) core.empty_cache(device_of(device)) end
-- { allocated_bytes, max_allocated_bytes, reserved_bytes, max_reserved_bytes, hits, misses, retries }
function members.memory_stats(device) return core.memory_stats(device_of(device)) end
-- The greatest numbers of memory_stats begin anew.
function members.reset_peak_memory_stats(device) core.reset_peak_memory_stats(device_of(device)) end
-- th.cuda.memory_allocated(device), th.cuda.max_memory_allocated(device), th.cuda.memory_reserved(device),
-- th.cuda.max_memory_reserved(device): a number of memory_stats each, in bytes.
for name, field in pairs { memory_allocated = "allocated_bytes", max_memory_allocated = "max_allocated_bytes",
                           memory_reserved = "reserved_bytes", max_memory_reserved = "max_reserved_bytes" } do
  members[name] = function(device) return members.memory_stats(device)[field] end
end

-- { name, major, minor, multi_processor_count, total_memory, L2_cache_size, shared_memory_per_block_optin, free_memory }
function members.get_device_properties(device) return core.device_info(device_of(device)) end
function members.get_device_name(device) return members.get_device_properties(device).name end
function members.get_device_capability(device)
  local info = members.get_device_properties(device)
  return info.major, info.minor
end
-- Bytes that nobody has, of all programs, and of how many.
function members.mem_get_info(device)
  local info = members.get_device_properties(device)
  return info.free_memory, info.total_memory
end
-- "cuda" stands for the first GPU, and for no other.
function members.current_device() return 0 end
function members.set_device(device)
  if device_of(device) ~= core.device(2, 0) then
    core.refuse(("set_device: 'cuda' stands for cuda:0 here; name %s where it is wanted"):format(tostring(device_of(device))))
  end
end
-- Random numbers of all devices follow one state.
members.manual_seed, members.manual_seed_all = core.seed, core.seed

th.cuda = setmetatable(members, {
  __call = function(_, index) return core.device(2, index or 0) end,
  __tostring = function() return "th.cuda: th.cuda(index) is a device; is_available(), device_count(), synchronize(), memory_stats() ..." end,
  __index = function(_, name)
    core.refuse(("cuda has no member '%s'%s"):format(tostring(name), core.suggest(tostring(name), members)))
  end,
  __metatable = false,
})
