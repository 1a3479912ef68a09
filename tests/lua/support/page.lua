-- The code of a page of docs/: Lua runs here, block by block, and what it prints is kept.
local page = {}

function page.read(path)
  local file = assert(io.open(path))
  local text = file:read "a"
  file:close()
  return text
end

-- What the Lua blocks printed, how many there are, and a list of the blocks of other languages.
function page.run(path)
  local printed, count, others = {}, 0, {}
  local function keep(...)
    for _, each in ipairs { ... } do printed[#printed + 1] = tostring(each) end
  end
  for language, block in page.read(path):gmatch "```(%a+)\n(.-)\n```" do
    if language == "lua" then
      count = count + 1
      assert(load(block, ("=%s, block %d"):format(path, count), "t", setmetatable({ print = keep }, { __index = _G })))()
    else
      others[#others + 1] = block
    end
  end
  return table.concat(printed, "\n"), count, others
end

return page
