-- The digits example on files as MNIST has them: IDX, 28x28. These hold real digits of the smaller set, enlarged; the
-- models must learn them as well as the example demands.
local th = require "thunder"

local SIDE, IMAGES, TIMES = 28, 128, 8

local rows = th.data.csv("../examples/digits/data/digits.csv"):tolist()

-- Each pixel three by three, from 0..16 to 0..240, in a frame of two.
local function enlarged(row)
  local bytes = {}
  for y = 0, SIDE - 1 do
    for x = 0, SIDE - 1 do
      local inside = y >= 2 and y < 26 and x >= 2 and x < 26
      bytes[#bytes + 1] = string.char(inside and row[(y - 2) // 3 * 8 + (x - 2) // 3 + 1] * 15 // 1 | 0 or 0)
    end
  end
  return table.concat(bytes)
end

local images, labels = {}, {}
for i = 1, IMAGES do
  images[i] = enlarged(rows[i])
  labels[i] = string.char(rows[i][65] | 0)
end

local directory = os.tmpname()
os.remove(directory)
assert(os.execute(("mkdir '%s'"):format(directory)))
local written = {}
local function write(name, ...)
  written[#written + 1] = ("%s/%s"):format(directory, name)
  local file <close> = assert(io.open(written[#written], "wb"))
  file:write(...)
end
local function write_set(name, times)
  local count = IMAGES * times
  write(name .. "-images-idx3-ubyte", string.pack(">I4I4I4I4", 0x803, count, SIDE, SIDE), table.concat(images):rep(times))
  write(name .. "-labels-idx1-ubyte", string.pack(">I4I4", 0x801, count), table.concat(labels):rep(times))
end
write_set("train", TIMES)
write_set("t10k", 1)
-- One of them packed, as they are distributed.
if os.execute("gzip --version > /dev/null") then
  assert(os.execute(("gzip '%s'"):format(written[1])))
  written[1] = written[1] .. ".gz"
end

local printed = {}
local print_then, arg_then = print, arg
function print(text) printed[#printed + 1] = tostring(text) end
arg = { [0] = "../examples/digits/digits.lua", "--mnist", directory }
local ok, message = pcall(dofile, arg[0])
print, arg = print_then, arg_then
for _, path in ipairs(written) do os.remove(path) end
os.remove(directory)

assert(ok, message)
local text = table.concat(printed, "\n")
assert(text:find("1024 images of 28x28 to learn from, 128 held out", 1, true), text)
assert(text:find("mlp: %d+%.%d+ %% of 128 held%-out images right") and text:find("cnn: %d+"), text)
