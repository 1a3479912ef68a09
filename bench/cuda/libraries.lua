-- thunder run bench/cuda/libraries.lua: what NVIDIA's libraries do for us on the first GPU. Microseconds of attention with and without masks
-- (bf16, 8 x 16 heads x 1024 x 64, forward and with its gradients), of products by the algorithm that cuBLASLt prefers and by the
-- fastest that max_autotune finds, of copies from the host, and of a step that reads batches from there.
local th = require "thunder"
local F = th.nn.functional
local device = th.cuda(0)

local function seconds(n, call)
  local start = th.clock()
  for _ = 1, n do call() end
  th.cuda.synchronize()
  return (th.clock() - start) / n
end

local function best(call)
  local least = math.huge
  seconds(3, call)
  for _ = 1, 5 do least = math.min(least, seconds(10, call)) end
  return least * 1e6
end

-- ---- attention ----

local batch, heads, length, width = 8, 16, 1024, 64
local function half(...) return th.randn({ ... }, { dtype = th.bfloat16, device = device }) end
local q, k, v, dy = half(batch, heads, length, width), half(batch, heads, length, width), half(batch, heads, length, width), half(batch, heads, length, width)
local lower = th.ones({ length, length }, { device = device }):tril():gt(0)
local shorter = th.arange(length, { device = device }):lt(length - 100):view(1, 1, 1, length):expand(batch, 1, 1, length):contiguous()
local both = lower:view(1, 1, length, length):logical_and(shorter):contiguous()
local added = th.zeros({ length, length }, { dtype = th.bfloat16, device = device }):masked_fill(lower:logical_not(), -math.huge)
local cases = {
  { "no mask" }, { "is_causal", nil, true }, { "causal mask of booleans", lower }, { "padding, booleans", shorter },
  { "causal and padding", both }, { "added, bfloat16", added }, { "added, float32: line by line", added:to(th.float32) },
}
for _, case in ipairs(cases) do
  local name, mask, causal = table.unpack(case, 1, 3)
  local function attend(a, b, c) return F.scaled_dot_product_attention(a, b, c, { attn_mask = mask, is_causal = causal or false }) end
  local forward = th.compile(attend)
  local both_ways = th.compile(function(d, ...)
    local results = table.pack(th.func.vjp(attend, ...))
    return results[results.n](d)
  end)
  local first = seconds(1, function() forward(q, k, v) end) + seconds(1, function() both_ways(dy, q, k, v) end)
  print(("attention, %-30s forward %8.1f us, with gradients %8.1f us, first %.2f s, plans %.2f s"):format(name, best(function() forward(q, k, v) end),
    best(function() both_ways(dy, q, k, v) end), first, (th.stats(forward).plan_ns + th.stats(both_ways).plan_ns) / 1e9))
end

-- ---- products ----

for _, shape in ipairs { { 4096, 768, 3072 }, { 4096, 3072, 768 }, { 4096, 768, 50304 }, { 16, 2048, 8192 }, { 4096, 4096, 4096 } } do
  local m, inner, n = table.unpack(shape)
  local a, b = half(m, inner), half(inner, n)
  local line = ("product %dx%dx%d, bfloat16:"):format(m, inner, n)
  for _, timed in ipairs { false, true } do
    local f = th.compile(function(x, y) return x:matmul(y) end, { max_autotune = timed })
    local first = seconds(1, function() f(a, b) end)
    line = line .. (" %s %.1f us (first %.2f s)"):format(timed and "fastest" or "preferred", best(function() f(a, b) end), first)
  end
  print(line)
end

-- ---- copies and batches ----

for _, mib in ipairs { 1, 8, 128 } do
  local here = th.rand { mib << 18 }
  local start = th.clock()
  local there = here:to(device)
  local returned = th.clock() - start
  th.cuda.synchronize()
  local total = best(function() there = here:to(device) end)
  print(("copy of %d MiB: the call returns after %.0f us at first, %.0f us in a row, %.1f GB/s"):format(mib, returned * 1e6, total, mib * 1.048576e3 / total))
end

local images, labels = th.rand { 2048, 3, 64, 64 }, th.randint(0, 9, { 2048 })
local work = half(4096, 4096)
local step = th.compile(function(x, y) return (x:to(th.bfloat16):view(-1, 4096):sum() + y:sum()) + (work:matmul(work):matmul(work)):sum() end)
for _, ahead in ipairs { false, true } do
  local batches = th.data.batches({ images, labels }, { size = 256, shuffle = true, epochs = 4, device = ahead and device or nil })
  local count, start = 0, 0
  for i, x, y in batches do
    if i == 9 then th.cuda.synchronize(); start = th.clock() end
    if not ahead then x, y = x:to(device), y:to(device) end
    step(x, y)
    count = i
  end
  th.cuda.synchronize()
  print(("a step of 256 images of 64 x 64, %s: %.0f us"):format(ahead and "batches on the device" or "moved by the caller", (th.clock() - start) / (count - 8) * 1e6))
end
