-- Progress on standard error: a bar that redraws itself on a terminal, now and then a plain line elsewhere.
local th, core = ...

local WIDTH, REDRAW, PLAIN = 24, 0.1, 10.0 -- characters, seconds, seconds

local Bar = {}
Bar.__index = Bar
Bar.__metatable = false
Bar.__name = "thunder.progress"

local function duration(seconds)
  seconds = math.floor(seconds + 0.5)
  if seconds >= 3600 then return ("%d:%02d:%02d"):format(seconds // 3600, seconds // 60 % 60, seconds % 60) end
  return ("%d:%02d"):format(seconds // 60, seconds % 60)
end

function Bar:text(now)
  local spent = now - self.started
  local parts = { self.label }
  if self.total then
    local part = self.total > 0 and math.min(self.count / self.total, 1) or 1
    local full = math.floor(part * WIDTH)
    if self.terminal then parts[#parts + 1] = "[" .. ("#"):rep(full) .. ("."):rep(WIDTH - full) .. "]" end
    parts[#parts + 1] = ("%3d%%"):format(math.floor(part * 100))
    parts[#parts + 1] = ("%d/%d"):format(self.count, self.total)
    parts[#parts + 1] = duration(spent)
    if self.count > 0 and self.count < self.total then
      parts[#parts + 1] = "left " .. duration(spent * (self.total - self.count) / self.count)
    end
  else
    parts[#parts + 1] = ("%d"):format(self.count)
    parts[#parts + 1] = duration(spent)
  end
  parts[#parts + 1] = self.noted
  return table.concat(parts, "  ")
end

function Bar:draw(last)
  local now = core.clock()
  if not last and now - self.drawn < (self.terminal and REDRAW or PLAIN) then return end
  self.drawn = now
  local text = self:text(now)
  if self.terminal then
    io.stderr:write("\r", text, (" "):rep(self.shown - #text), last and "\n" or "")
    self.shown = #text
  else
    io.stderr:write(text, "\n")
  end
  io.stderr:flush()
end

-- Text at the end of the line, such as the loss.
function Bar:note(format, ...)
  self.noted = format:format(...)
end

function Bar:finish()
  if self.finished then return end
  self.finished = true
  self:draw(true)
end

-- As the iterator of a `for`.
function Bar:__call(...)
  if self.begun then self.count = self.count + 1 end
  self.begun = true
  local results = table.pack(self.next(...))
  if results[1] == nil then
    self:finish()
  else
    self:draw(false)
  end
  return table.unpack(results, 1, results.n)
end
Bar.__close = Bar.finish

-- th.progress(n or iterator, { label = "train", total = n }): for i in bar do ... bar:note("loss %.3f", loss) end
function th.progress(what, options)
  options = core.check_options("progress", options, { label = true, total = true })
  local bar = setmetatable({ label = options.label, total = options.total, count = 0, drawn = -math.huge, shown = 0,
                             terminal = core.is_terminal(), started = core.clock() }, Bar)
  if math.type(what) == "integer" then
    bar.total = bar.total or what
    bar.next = function(_, i)
      i = (i or 0) + 1
      return i <= what and i or nil
    end
  else
    if type(what) == "table" then bar.total = bar.total or rawget(what, "total") end
    bar.next = what
  end
  if not bar.terminal then bar.drawn = bar.started end
  return bar
end
