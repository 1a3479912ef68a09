-- attempt(option, f, ...): f(...), which reads or writes the file that an option names; what is wrong with the file is the
-- mistake of who named it.
local mistake = require "text.mistake"

return function(option, f, ...)
  local results = table.pack(pcall(f, ...))
  if not results[1] then mistake("--%s: %s", option, (tostring(results[2]):gsub("^[^\n]-%.lua:%d+: ", ""))) end
  return table.unpack(results, 2, results.n)
end
