-- What a script drops on a device is freed before it is in the way, though to Lua's collector a tensor is a few bytes. For a stand-in that
-- has 256 MiB (THUNDER_FAKE_CUDA_MEMORY).
local th = require "thunder"
local gpu, MiB = th.cuda(0), 1 << 20
local function zeros(mebibytes) return th.zeros({ mebibytes * MiB // 4 }, { device = gpu }) end
local function most() return th.cuda.max_memory_allocated() // MiB end

-- Results of a call, as gradients are: those of the call before are gone when the next ones are made, or soon after.
local f = th.compile(function() return zeros(33), zeros(33) end)
f()
th.cuda.reset_peak_memory_stats()
for _ = 1, 4 do f() end
assert(most() <= 4 * 34, ("%d MiB at most"):format(most()))

-- What the script holds is no garbage, and what it closes is gone at once.
collectgarbage()
assert(th.cuda.memory_allocated() < MiB)
local held = { zeros(33), zeros(33) }
f()
f()
assert(th.cuda.memory_allocated() >= 66 * MiB and held[2]:numel() == 33 * MiB // 4)
for i = 1, 2 do held[i]:close() end
collectgarbage()
assert(th.cuda.memory_allocated() < MiB)

-- A script that stopped the collector gets its garbage, too, before it is told that there is no memory: of ops and of calls.
collectgarbage "stop"
for _ = 1, 4 do zeros(80) end
for _ = 1, 4 do f() end
collectgarbage "restart"
local fits, why = pcall(function()
  for i = 1, 4 do held[i] = zeros(80) end
end)
assert(not fits and tostring(why):find "out of memory", tostring(why))
print "what a script drops on a device is freed in time"
