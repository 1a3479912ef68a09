// `thunder doctor`: what this installation has; of processes that a launcher started also where each is, and how fast values pass between them.
#include "commands.h"
#include "state.h"

namespace {

constexpr const char* kDoctorScript = R"lua(
local options = ...
local th = require "thunder"
local BYTES, SECONDS = 256, 0.2 -- of a rank's text; how long a rate is measured

-- What each rank says, at most so many bytes.
local function texts_of(mesh, own)
  local bytes = { own:sub(1, BYTES):byte(1, -1) }
  for i = #bytes + 1, BYTES do bytes[i] = 0 end
  local texts = {}
  for rank, row in ipairs(th.all_gather(th.tensor { bytes }, "world"):tolist()) do
    texts[rank] = string.char(table.unpack(row)):match "^[^\0]*"
  end
  return texts
end

local function host_name()
  local file = io.open "/proc/sys/kernel/hostname"
  local name = file and file:read "l" or "a host without a name"
  if file then file:close() end
  return name
end

-- Seconds that a collective takes, one after the other. Rank 0 says how often, so that all do the same.
local function measure(mesh, collective)
  local times, began = 1, nil
  collective() -- what is made once
  while true do
    mesh:barrier()
    began = th.clock()
    for _ = 1, times do collective() end
    local took = th.broadcast(th.tensor((th.clock() - began) * 1.0), "world"):item()
    if took > SECONDS / 4 then return took / times end
    times = math.ceil(times * math.min(8, SECONDS / math.max(took, 1e-6)))
  end
end

-- The ranks of the world and their rates, or nil: there is one rank.
local function examine_ranks()
  local mesh = th.mesh({}, { engine = options.engine })
  local ranks = mesh:size()
  if ranks == 1 then return nil end
  local device = mesh:device()
  local found = { text = tostring(mesh), ranks = {}, rates = {}, rank = mesh:index() }
  for rank, text in ipairs(texts_of(mesh, ("%s, %s"):format(host_name(), device))) do found.ranks[rank] = text end
  local small = th.zeros(2):to(device)
  found.microseconds = 1e6 * measure(mesh, function() return th.all_reduce(small)[1]:item() end)
  for _, mib in ipairs { 1, 16 } do
    local values = th.zeros(mib << 18):to(device)
    local part = values[{ { 1, #values // ranks } }]:clone()
    -- Bytes that pass each rank's link, as nccl-tests count them.
    local reduce = measure(mesh, function() return th.all_reduce(values)[1]:item() end)
    local gather = measure(mesh, function() return th.all_gather(part)[1]:item() end)
    local bytes = (mib << 20) * (ranks - 1) / ranks / 1e9
    found.rates[#found.rates + 1] = { mib = mib, all_reduce = 2 * bytes / reduce, all_gather = bytes / gather }
  end
  return found
end

local world = examine_ranks() -- first: the launcher's MPI is the one that the rest then finds
if world and world.rank > 0 then return end
local failed = false
for _, found in ipairs(th.installation()) do failed = failed or found.state == "fails" end
if options.json then
  local ranks = ""
  if world then
    local rows, rates = {}, {}
    for rank, text in ipairs(world.ranks) do rows[rank] = ('"%s"'):format(text:gsub('[%c"\\]', "?")) end
    for i, rate in ipairs(world.rates) do
      rates[i] = ('{"mib":%d,"all_reduce":%.3f,"all_gather":%.3f}'):format(rate.mib, rate.all_reduce, rate.all_gather)
    end
    ranks = (',"ranks":[%s],"microseconds":%.1f,"gbytes":[%s]'):format(table.concat(rows, ","), world.microseconds, table.concat(rates, ","))
  end
  print(('{"command":"doctor","schema":1,"version":"%s","installation":%s%s}'):format(th.version, th.describe "installation", ranks))
  return failed and os.exit(1, true)
end
local function row(name, text, state) print(("%-13s %s%s"):format(name, state == "works" and "" or state .. ": ", text)) end
row("thunder", ("%s, %s, %d ops"):format(th.version, _VERSION, #th.ops()), "works")
for _, found in ipairs(th.installation()) do row(found.name, found.text, found.state) end
if world then
  row("world", world.text, "works")
  for rank, text in ipairs(world.ranks) do row("rank " .. rank - 1, text, "works") end
  row("latency", ("%.1f us an all_reduce of 8 bytes"):format(world.microseconds), "works")
  for _, rate in ipairs(world.rates) do
    row("links", ("%.2f GB/s of a rank's in an all_reduce, %.2f in an all_gather, of %d MiB"):format(rate.all_reduce, rate.all_gather, rate.mib), "works")
  end
end
if failed then os.exit(1, true) end
)lua";

}  // namespace

int examine_installation(const Command& command, const Words& words) { return run_tool_script(kDoctorScript, &command, words); }
