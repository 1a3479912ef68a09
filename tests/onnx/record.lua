-- record.lua FOLDER SCRIPT [ARGUMENT...]: runs a script; each function that it compiles is exported at a call like its first, with what that
-- takes and gives, or after all. tests/onnx/examples.py reads that.
local th = require "thunder"
local folder, script = table.remove(arg, 1), table.remove(arg, 1)
arg[0] = script

local function flattened(value, into)
  if th.is_tensor(value) then into[#into + 1] = value
  elseif type(value) == "table" then
    for i = 1, #value do flattened(value[i], into) end
    local names = {}
    for k in pairs(value) do if type(k) == "string" then names[#names + 1] = k end end
    table.sort(names)
    for _, k in ipairs(names) do flattened(value[k], into) end
  end
  return into
end
local function keep(values, count, place, name)
  local list = {}
  for i = 1, count do flattened(values[i], list) end
  for i, t in ipairs(list) do th.data.save_npy(t, ("%s/%s%d.npy"):format(place, name, i - 1)) end
end

local function shapes(list)
  local text = {}
  for i, t in ipairs(list) do text[i] = table.concat(t.shape, ",") end
  return table.concat(text, ";")
end

local made = 0
-- A call of the compiled function, of which it has the program.
local function record(g, given)
  local at = ("%s/%d"):format(folder, made)
  made = made + 1
  os.execute("mkdir " .. at)
  local ok, why = pcall(th.export_onnx, g, at .. "/model.onnx", { program = 1 })
  if not ok then
    local file = assert(io.open(at .. "/refused", "w"))
    file:write(tostring(why))
    file:close()
  end
  keep(given, given.n, at, "in")
  local out = table.pack(g(table.unpack(given, 1, given.n)))
  keep(out, out.n, at, "out")
  return out
end

local compile, compiled, waiting = th.compile, {}, {}
function th.compile(f, options)
  local g, recorded, first = compile(f, options), false, nil
  local function call(...)
    local given = table.pack(...)
    local now = shapes(flattened(given, {}))
    if first == now and not recorded then
      recorded, waiting[call] = true, nil
      local out = record(g, given)
      return table.unpack(out, 1, out.n)
    end
    local out = table.pack(g(...))
    if not first then first, waiting[call] = now, given end
    return table.unpack(out, 1, out.n)
  end
  compiled[call] = g
  return call
end

-- What else takes a compiled function gets that.
for _, name in ipairs { "last_traces", "stats", "explain", "save_program", "load_program", "signature", "grad" } do
  local plain = th[name]
  th[name] = function(f, ...) return plain(compiled[f] or f, ...) end
end
dofile(script)
-- What was called once, or never twice with the same shapes.
for call, given in pairs(waiting) do record(compiled[call], given) end
