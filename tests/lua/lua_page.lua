-- What docs/lua.md shows runs as it stands.
local text, count = require("support.page").run "../docs/lua.md"
assert(count == 9)
for _, piece in ipairs { "float32", "return", "the learning rate is 0.00000" } do assert(text:find(piece, 1, true), piece) end
