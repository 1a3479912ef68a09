-- mistake(format, ...): an error for who calls the program, not for who writes it. It is an object whose text says all, so
-- that it is shown without a traceback, by `thunder run` as by a stock interpreter.
local meta = { __tostring = function(self) return self.text end }

return function(format, ...)
  error(setmetatable({ text = select("#", ...) > 0 and format:format(...) or format }, meta))
end
