// Commands that show what a script or a program does: examine, profile, trace, explain, repro.
#include "seeing.h"

// A script is run, and each of its compiled functions looked at with the arguments of its
// last call; a program or model is called with inputs that are made.
const char* const kSee = R"lua(
local options, file = ...
local what, th, tool = options.command, require "thunder", require "thunder.tool"
local rest = table.pack(select(3, ...))
local function fail(...) io.stderr:write("thunder: ", string.format(...), "\n") os.exit(1, true) end
local function refuse(...)
  io.stderr:write("thunder: ", what, ": ", string.format(...), "\nsee `thunder help ", what, "`\n")
  os.exit(2, true)
end

local function write(path, text)
  local out, why = io.open(path, "wb")
  if not out then fail("cannot write %s", why) end
  local ok, wrong = out:write(text)
  local closed, late = out:close()
  if not (ok and closed) then fail("cannot write %s: %s", path, wrong or late) end
end

if what == "explain" and not rest[1] then
  for _, report in ipairs(th.reports()) do print(("%-18s %s"):format(report.name, report.doc)) end
  return
end

-- The functions to look at, each with the arguments of a call.
local calls = {}
local kind = tool.kind_of(file)
local takes_report = what == "trace" or what == "explain"
local report = takes_report and rest[1]
if kind == "script" then
  local words = takes_report and {} or rest
  arg = { [0] = file, table.unpack(words) }
  local chunk, why = loadfile(file)
  if not chunk then fail("%s", why) end
  local function run() return chunk(table.unpack(words)) end
  calls = options.json and tool.with_output_to_error(th.watch_calls, run) or th.watch_calls(run)
  if #calls == 0 then fail("%s calls no compiled function", file) end
elseif kind == "program" or kind == "model" then
  if rest[1] and not takes_report then refuse("a program is called with inputs that are made, it takes no '%s'", rest[1]) end
  local f = th.load_program(file)
  calls[1] = { f = f, arguments = th.made_inputs(f) }
else
  fail("'%s' is %s; `%s` takes a script, a saved program or an ONNX model", file,
    kind == "safetensors" and "a file of tensors (safetensors)" or tool.description_of(file), what)
end

-- What is printed as one document.
local documents = {}
local function say(found)
  if options.json then documents[#documents + 1] = found.json else print(tostring(found)) end
end
local function end_document()
  if not options.json then return end
  local name = file:gsub('[%c"\\]', function(c) return ("\\u%04x"):format(c:byte()) end)
  print(('{"command":"%s","schema":1,"file":"%s","functions":[%s]}'):format(what, name, table.concat(documents, ",")))
end
local function quietly(f, ...)
  if options.json then return tool.with_output_to_error(f, ...) end
  return f(...)
end

local function each(look)
  for i, call in ipairs(calls) do
    if i > 1 and not options.json then print() end
    look(call.f, call.arguments, i)
  end
end
local function numbered(path, i)
  local stem, ending = path:match "^(.+)(%.[^./]*)$"
  return ("%s-%d%s"):format(stem or path, i, ending or "")
end
local function say_file(path) io.stderr:write("thunder: wrote ", path, "\n") end

local function escaped(text) return (tostring(text):gsub("[&<>\"]", { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;" })) end
-- Of several functions PAGE lists them, and PAGE-1, PAGE-2 are theirs.
local function write_pages(page, found)
  local rows = {}
  for i, call in ipairs(calls) do
    local path = #calls == 1 and page or numbered(page, i)
    quietly(th.report, call.f, path, table.unpack(call.arguments, 1, call.arguments.n))
    rows[i] = ('<tr><td><a href="%s">%s</a></td><td>%s</td><td>%d</td></tr>'):format(escaped(path:match "[^/]*$"), escaped(found[i]["function"]),
      found[i].sound and "sound" or "not sound", #found[i].findings)
    if #calls > 1 then say_file(path) end
  end
  if #calls == 1 then return end
  write(page, ('<!doctype html>\n<html lang="en"><meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>%s</title>\n' ..
    '<h1>%s</h1>\n<table>\n<tr><th>function</th><th>state</th><th>findings</th></tr>\n%s\n</table>\n</html>\n'):format(
    escaped(file), escaped(file), table.concat(rows, "\n")))
end

if what == "examine" then
  local sound, all = true, {}
  each(function(f, arguments, i)
    local found = quietly(th.examine, f, table.unpack(arguments, 1, arguments.n))
    sound, all[i] = sound and found.sound, found
    say(found)
  end)
  if options.html then write_pages(options.html, all) end
  end_document()
  if not sound then os.exit(1, true) end
elseif what == "profile" then
  each(function(f, arguments, i)
    local profile = quietly(th.profile, f, table.unpack(arguments, 1, arguments.n))
    say(profile)
    if not options.chrome then return end
    local path = i == 1 and options.chrome or numbered(options.chrome, i)
    write(path, profile.chrome_trace)
    if #calls > 1 then say_file(path) end
  end)
  end_document()
elseif takes_report then
  each(function(f, arguments)
    if not th.last_traces(f)[1] then f(table.unpack(arguments, 1, arguments.n)) end
    if report then return print(th.explain(f, report)) end
    local traces = th.last_traces(f)
    for _, trace in ipairs(traces) do print(trace) end
  end)
else
  local step = math.tointeger(tonumber(options.step or 1)) or refuse("--step takes a number, got %s", options.step)
  local f, arguments = calls[1].f, calls[1].arguments
  if not th.last_traces(f)[1] then f(table.unpack(arguments, 1, arguments.n)) end
  if #calls > 1 then
    io.stderr:write(("thunder: %s calls %d compiled functions; this is step %d of the first\n"):format(file, #calls, step))
  end
  local text = th.repro(f, step)
  if options.output then write(options.output, text) else io.write(text) end
end
)lua";
