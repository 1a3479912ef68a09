-- What th.cuda says of a device, with the stand-ins for NVIDIA's libraries or a device: the names are torch.cuda's.
-- covers: bindings/lua/device.c bindings/lua/device.lua
local th = require "thunder"
if not th.cuda.is_available() then return print "no CUDA device" end

local properties = th.cuda.get_device_properties()
assert(th.cuda.get_device_name(0) == properties.name and #properties.name > 0)
local major, minor = th.cuda.get_device_capability "cuda:0"
assert(major == properties.major and minor == properties.minor)
local free, total = th.cuda.mem_get_info()
assert(free > 0 and free <= total and total == properties.total_memory)
assert(properties.multi_processor_count > 0 and th.cuda.current_device() == 0)

th.cuda.set_device(0)
local ok, message = pcall(th.cuda.set_device, 1)
assert(not ok and tostring(message):find("'cuda' stands for cuda:0 here; name cuda:1", 1, true), message)

th.cuda.manual_seed(3)
local first = th.rand({ 4 }, { device = th.cuda(0) })
th.cuda.manual_seed_all(3)
assert(th.rand({ 4 }, { device = th.cuda(0) }):to("cpu"):equal(first:to "cpu"))
print "th.cuda says what the device is like"
