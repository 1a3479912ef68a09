// What `thunder` does without a command: reads lines, runs them, prints what they give.
#include "repl.h"

const char kReadAndRun[] = R"lua(
local th, line = require "thunder", require "thunder.line"
_G.th = th
-- help, help(th.softmax), help "softmax"; exit, exit(): each also alone on a line.
_G.help = setmetatable({}, {
  __call = function(_, what) print(th.help(what)) end,
  __tostring = function() return th.help() end,
  __metatable = false,
})
_G.exit = setmetatable({}, { __call = function(_, code) os.exit(code == nil or code, true) end, __metatable = false })

-- The names below a prefix such as "th.nn." or "x:"; the library and tensors have the ops' as well.
local function names_of(path)
  local value = _G
  for name in path:gmatch("[%a_][%w_]*") do
    local known, found = pcall(function() return value[name] end)
    if not known or found == nil then return {} end
    value = found
  end
  local names = {}
  local function add(table)
    for name in pairs(table) do
      if type(name) == "string" and name:match("^[%a_][%w_]*$") then names[name] = true end
    end
  end
  if type(value) == "table" then add(value) end
  local index = (getmetatable(value) or {}).__index
  if type(index) == "table" then add(index) end
  if value == th or type(value) == "userdata" then
    for _, op in ipairs(th.ops()) do
      if op.name:match("^[%a][%w_]*$") then names[op.name] = true end
    end
  end
  return names
end

line.complete(function(text)
  local path, part = text:match("^(.-)([%a_]?[%w_]*)$")
  local found = {}
  for name in pairs(names_of(path)) do
    if name:sub(1, #part) == part then found[#found + 1] = path .. name end
  end
  table.sort(found)
  return found
end)

if line.interactive then
  local home = os.getenv("HOME")
  if home then line.remember(home .. "/.thunder_history") end
  print(("thunder %s, %s. `th` is the library, Tab completes, help explains, exit ends."):format(th.version, _VERSION))
end

-- What is asked for in words, and not in Lua: "help softmax", "? softmax", "exit".
local function command_of(text)
  local word, rest = text:match("^%s*([%a?]+)%s*(.-)%s*$")
  if word == "exit" or word == "quit" then return rest == "" and function() os.exit(true, true) end end
  if word ~= "help" and word ~= "?" then return nil end
  if rest == "" then return function() print(th.help()) end end
  if word == "?" or rest:match("^[%w_.]+$") then return function() print(th.help(rest)) end end
end

-- An expression is a chunk that returns it. A chunk that only ends too early is read on; an interrupt clears all of it.
local function read_chunk()
  local text, interrupted = line.read("> ")
  if interrupted then return read_chunk() end
  if not text then return nil end
  local chunk = command_of(text) or load("return " .. text, "=input", "t")
  local message
  while not chunk do
    chunk, message = load(text, "=input", "t")
    if chunk or not message:find("near <eof>$") then break end
    local more, cleared = line.read(">> ")
    if cleared then return read_chunk() end
    if not more then break end
    text = text .. "\n" .. more
  end
  return chunk or message
end

local failed = false
local function show(ok, ...)
  if not ok then
    failed = true
    io.stderr:write(tostring((...)), "\n")
  elseif select("#", ...) > 0 then
    local shown = table.pack(...)
    for i = 1, shown.n do shown[i] = th.repr(shown[i]) end
    print(table.unpack(shown, 1, shown.n))
  end
end

for chunk in read_chunk do
  if type(chunk) == "function" then show(line.call(chunk))
  else show(false, chunk) end
end
if failed and not line.interactive then os.exit(1) end
)lua";

const char kRunCode[] = R"lua(
local _, code = ...
local th, line = require "thunder", require "thunder.line"
_G.th, _G.arg = th, { [0] = "-e", table.unpack(arg, 2) }
local chunk, wrong = load("return " .. code, "=-e", "t")
if not chunk then chunk, wrong = load(code, "=-e", "t") end
local shown = chunk and table.pack(line.call(chunk)) or { false, wrong, n = 2 }
if not shown[1] then
  io.stderr:write("thunder: ", tostring(shown[2]), "\n")
  os.exit(1, true)
end
for i = 2, shown.n do shown[i] = th.repr(shown[i]) end
if shown.n > 1 then print(table.unpack(shown, 2, shown.n)) end
)lua";
