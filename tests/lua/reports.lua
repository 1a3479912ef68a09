-- What was seen of compiled functions: logs, counts, profiles, examinations, pages, repros.
local th = require "thunder"
local function fails(text, f, ...)
  local ok, message = pcall(f, ...)
  assert(not ok and tostring(message):find(text, 1, true), tostring(message))
end

local x = th.randn { 16, 16 }
local f = th.compile(function(a) return (a:matmul(a)):exp():sum() end, { dynamic = false })

-- Names of logs and reports, and what is not one.
assert(#th.logs() == 12 and th.logs()[1].name == "guards")
fails("did you mean 'guards'?", th.set_logs, "gaurds")
th.set_logs "guards"
th.set_logs()
local known = {}
for _, row in ipairs(th.reports()) do known[row.name] = row.doc end
assert(known.profile and known.stats and known.llvm)

-- Counts.
f(x) f(x) f(th.randn { 8, 8 })
assert(th.cache_hits(f) == 1 and th.cache_misses(f) == 2)
assert(th.last_miss_reason(f):find "shape is %[8, 8%], was %[16, 16%]")
local stats = th.compile_stats(f)
assert(stats.calls == 3 and #stats.reasons == 2 and #stats.stages > 5)
local counted = 0
for _, n in ipairs(stats.stages[1].histogram) do counted = counted + n end
assert(counted == 2 and #stats.stages[1].histogram == #stats.edges_ms + 1)
assert(th.last_prologue_traces(f)[1]:find "size%(0, 0%) == 8")
assert(#th.list_transforms(f) == 0)
local options = th.last_compile_options(f)
assert(options.used.dynamic == false and next(options.unused) == nil)

-- Profiles.
local profile = th.profile(f, x)
assert(profile.runs == 10 and profile.gflops > 0 and profile.gbytes > 0)
local flops = 0
for _, step in ipairs(profile.steps) do
  flops = flops + step.flops
  assert(step.where:find "reports.lua:9", step.where)
end
assert(flops >= 2 * 16 ^ 3)
assert(tostring(profile):find "GFLOP/s" and profile.chrome_trace:find '"traceEvents"')
local plain = th.profile(function(a) return a * 2 end, x)
assert(#plain.steps == 1)
fails("a function was expected", th.profile, 3)

-- Examinations: a NaN is named with its line.
local found = th.examine(f, x)
assert(found.sound and found.checked > 0 and found.gradients, tostring(found))
local function broken(a)
  local b = a - 1000
  return b:log():mean()
end
local nan = th.examine(broken, x)
assert(not nan.sound and nan.findings[1].kind == "nan" and nan.findings[1].op == "log", tostring(nan))
assert(nan.findings[1].where:find "reports.lua:53", nan.findings[1].where)
local unknown = th.examine(function(a) return th.sofmax(a, 0) end, x)
assert(not unknown.sound and unknown.findings[1].kind == "unsupported", tostring(unknown))
assert(unknown.findings[1].text:find "softmax", unknown.findings[1].text)

-- A page.
local path = os.tmpname()
th.report(f, path, x)
local page = io.open(path):read "a"
os.remove(path)
assert(page:find "^<!doctype html>" and page:find '"profile":{' and page:find '"examination":{')
fails("a path was expected", th.report, f, 3)
fails("call the function first", th.report, th.compile(function(a) return a end), path)

-- A step as a script of its own.
local script = th.repro(f, 1)
assert(script:find "th.run_repro")
assert(load(script:gsub("th.run_repro%(", "return th.run_repro("))() < 1e-3)
fails("there is no step 99", th.repro, f, 99)

-- The layers of a module.
local nn = th.nn
local s = th.summary(nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)), th.ones(3, 8))
assert(#s.rows == 4 and s.rows[2].kind == "Linear" and s.rows[2].shapes[1] == "[3, 16]" and s.rows[2].parameters == 144, tostring(s))
assert(s.parameters == 212 and s.rows[2].flops >= 2 * 3 * 8 * 16 and tostring(s):find "212 parameters")

-- Calls that something makes.
local calls = th.watch_calls(function() f(x) f(th.randn { 8, 8 }) end)
assert(#calls == 1 and calls[1].f == f and calls[1].arguments[1].shape[1] == 8)

-- Arguments for a program that was loaded, in its structure.
local nested = th.compile(function(a, k) return a.x * k.z[2] + a.y end)
nested({ x = th.ones(3), y = th.ones(3) }, { z = { th.ones(2), th.ones(3) } })
th.save_program(nested, path)
local loaded = th.load_program(path)
local made = th.made_inputs(loaded)
os.remove(path)
assert(made.n == 2 and made[1].y.shape[1] == 3 and made[2].z[2].shape[1] == 3)
assert(th.examine(loaded, table.unpack(made, 1, made.n)).sound)

-- Histories are drawn as pages and pictures.
do
  local path = os.tmpname()
  os.remove(path)
  th.plot_history({ loss = { 2, 1, th.tensor(0.5) } }, path .. ".html")
  local file = assert(io.open(path .. ".html"))
  assert(file:read "a":find("loss: 0.5 at the end, least 0.5 at 3", 1, true))
  file:close()
  th.plot_history({ loss = th.tensor { 2.0, 1.0 } }, path .. ".png")
  file = assert(io.open(path .. ".png", "rb"))
  assert(file:read(4) == "\x89PNG")
  file:close()
  os.remove(path .. ".html")
  os.remove(path .. ".png")
end
