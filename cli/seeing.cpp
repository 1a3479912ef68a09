// Commands that show what a script or a program does: examine, profile, trace, repro.
#include "seeing.h"

// Arguments: what to do, then FILE and options. A script is run, and each of its compiled functions looked at with the arguments of its
// last call; a program or model is called with inputs that are made.
const char* const kSee = R"lua(
local th = require "thunder"
local what, words = ..., table.pack(select(2, ...))
local function fail(...) io.stderr:write("thunder: ", string.format(...), "\n") os.exit(1, true) end

local file, rest, options, at = nil, {}, {}, 1
while at <= words.n do
  local name = words[at]:match "^%-%-(%a+)$"
  if name and not file or name and (name == "html" or name == "chrome" or name == "step" or name == "json" or name == "output") then
    if name == "json" then options.json = true
    else at = at + 1 options[name] = words[at] or fail("--%s needs a value", name) end
  elseif not file then file = words[at]
  else rest[#rest + 1] = words[at] end
  at = at + 1
end
if not file then return os.exit(2, true) end

local function write(path, text)
  local out = io.open(path, "wb") or fail("'%s' cannot be written", path)
  out:write(text)
  out:close()
end

-- The functions to look at, each with the arguments of a call.
local calls = {}
if require "thunder.is_script" (file) then
  arg = { [0] = file, table.unpack(rest) }
  calls = th.watch_calls(function() return assert(loadfile(file))(table.unpack(rest)) end)
  if #calls == 0 then fail("%s calls no compiled function", file) end
else
  if rest[1] and what ~= "trace" then fail("%s: a program is called with inputs that are made, it takes no '%s'", what, rest[1]) end
  local f = th.load_program(file)
  calls[1] = { f = f, arguments = th.made_inputs(f) }
end

local function each(look)
  for i, call in ipairs(calls) do
    if i > 1 then print() end
    look(call.f, call.arguments, i)
  end
end
local function numbered(path, i) return i == 1 and path or (path:gsub("%.?[^.]*$", function(ending) return "-" .. i .. ending end)) end

if what == "examine" then
  local sound = true
  each(function(f, arguments, i)
    local found = th.examine(f, table.unpack(arguments, 1, arguments.n))
    sound = sound and found.sound
    print(options.json and found.json or tostring(found))
    if options.html then th.report(f, numbered(options.html, i), table.unpack(arguments, 1, arguments.n)) end
  end)
  if not sound then os.exit(1, true) end
elseif what == "profile" then
  each(function(f, arguments, i)
    local profile = th.profile(f, table.unpack(arguments, 1, arguments.n))
    print(options.json and profile.json or tostring(profile))
    if options.chrome then write(numbered(options.chrome, i), profile.chrome_trace) end
  end)
elseif what == "trace" then
  each(function(f, arguments)
    if not th.last_traces(f)[1] then f(table.unpack(arguments, 1, arguments.n)) end
    if rest[1] then return print(th.explain(f, rest[1])) end
    local traces = th.last_traces(f)
    for _, trace in ipairs(traces) do print(trace) end
  end)
else
  local step = math.tointeger(tonumber(options.step or 1)) or fail("--step takes a number, got %s", options.step)
  local f, arguments = calls[1].f, calls[1].arguments
  if not th.last_traces(f)[1] then f(table.unpack(arguments, 1, arguments.n)) end
  local text = th.repro(f, step)
  if options.output then write(options.output, text) else io.write(text) end
end
)lua";
