-- What docs/extending.md shows runs as it stands: Lua here, block by block; C in the example that holds it.
local function read(path)
  local file = assert(io.open(path))
  local text = file:read "a"
  file:close()
  return text
end

local page, program = read "../docs/extending.md", read "../examples/extend/op.c"
local lua, c = 0, 0
local printed = {}
for language, block in page:gmatch "```(%a+)\n(.-)\n```" do
  if language == "lua" then
    lua = lua + 1
    local environment = setmetatable({
      print = function(...)
        for _, each in ipairs { ... } do printed[#printed + 1] = tostring(each) end
      end,
    }, { __index = _G })
    assert(load(block, ("=extending.md, block %d"):format(lua), "t", environment))()
  else
    c = c + 1
    assert(program:find(block, 1, true), "examples/extend/op.c lacks a block of the page")
  end
end
assert(lua == 4 and c == 1)
local text = table.concat(printed, "\n")
for _, piece in ipairs { "by mine", "faster_rsqrt", "double_relu" } do assert(text:find(piece, 1, true), piece) end
