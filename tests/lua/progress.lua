-- Progress: it iterates like what it wraps, and writes plain lines where there is no terminal.
local th = require "thunder"
local expect = require "support.expect"

local seen = 0
local bar = th.progress(5, { label = "count" })
for i in bar do
  seen = seen + i
  bar:note("sum %d", seen)
end
assert(seen == 15)

local pairs_seen = 0
local function three(_, i)
  i = (i or 0) + 1
  if i <= 3 then return i, i * i end
end
for i, square in th.progress(three, { total = 3 }) do
  assert(square == i * i)
  pairs_seen = pairs_seen + 1
end
assert(pairs_seen == 3)
for _ in th.progress(0) do error("nothing to iterate") end
expect.error(function() th.progress(3, { lable = "x" }) end, "unknown option 'lable'", "'label'")

-- In a file there is a line with the whole count, and no carriage return.
local script = os.tmpname()
local output = os.tmpname()
local file = assert(io.open(script, "w"))
file:write([[local th = require "thunder" for _ in th.progress(20, { label = "work" }) do end]])
file:close()
local interpreter = arg[-1] or "lua5.4"
if interpreter:find("lua", 1, true) and os.execute(("%s %s 2> %s"):format(interpreter, script, output)) then
  local text = assert(io.open(output)):read("a")
  assert(text:find("work  100%  20/20", 1, true) and not text:find("\r", 1, true), text)
end
os.remove(script)
os.remove(output)
