-- What docs/extending.md shows runs as it stands: Lua here, C in the example that holds it.
local page = require "support.page"

local text, lua, others = page.run "../docs/extending.md"
local program = page.read "../examples/extend/op.c"
for _, block in ipairs(others) do
  assert(program:find(block, 1, true), "examples/extend/op.c lacks a block of the page")
end
assert(lua == 5 and #others == 1)
for _, piece in ipairs { "by mine", "faster_rsqrt", "double_relu" } do assert(text:find(piece, 1, true), piece) end
