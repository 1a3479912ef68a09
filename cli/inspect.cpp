#include "inspect.h"

const char* const kInspect = R"lua(
local options, file = ...
local th, tool = require "thunder", require "thunder.tool"
local function fail(...) io.stderr:write("thunder: ", string.format(...), "\n") os.exit(1, true) end

-- The JSON of what this script makes: lists, tables by name, texts, numbers and booleans.
local function json(value)
  if type(value) == "string" then
    return '"' .. value:gsub('[%c"\\]', function(c) return ("\\u%04x"):format(c:byte()) end) .. '"'
  end
  if type(value) ~= "table" then return tostring(value) end
  local parts = {}
  if #value > 0 or next(value) == nil then
    for i, item in ipairs(value) do parts[i] = json(item) end
    return "[" .. table.concat(parts, ",") .. "]"
  end
  for name, item in pairs(value) do parts[#parts + 1] = json(name) .. ":" .. json(item) end
  table.sort(parts)
  return "{" .. table.concat(parts, ",") .. "}"
end

local function list(what, values, indent)
  print(indent .. what .. ":")
  for _, v in ipairs(values) do
    local dims = {}
    for d, size in ipairs(v.dims or {}) do dims[d] = size == "" and "?" or tostring(size) end
    print(("%s  %s %s [%s]"):format(indent, v.name, v.dtype or "?", v.dims and table.concat(dims, ", ") or "?"))
  end
end
local function list_ops(operators, indent)
  print(indent .. "ops:")
  for _, op in ipairs(operators) do
    local domain = (op.domain or "") == "" and "" or op.domain .. "."
    print(("%s  %5d %s%s%s"):format(indent, op.count, domain, op.op, op.imported == false and "  (not imported)" or ""))
  end
end

local function show_model(s)
  local sets = {}
  for domain, version in pairs(s.opsets) do sets[#sets + 1] = (domain == "" and "ai.onnx" or domain) .. " " .. version end
  table.sort(sets)
  print(("%s: ONNX of %s, opsets %s"):format(file, s.producer ~= "" and s.producer or "an unknown producer", table.concat(sets, ", ")))
  list("inputs", s.inputs, "")
  if #s.optional_inputs > 0 then list("inputs that may be left out", s.optional_inputs, "") end
  list("outputs", s.outputs, "")
  print(("weights: %d tensors, %d bytes"):format(s.weights, s.weight_bytes))
  list_ops(s.operators, "")
  if #s.unsupported == 0 then return end
  print "not imported:"
  for _, u in ipairs(s.unsupported) do print(("  node %d, %s '%s': %s"):format(u.node, u.op, u.name, u.reason)) end
end

local function show_programs(s)
  print(("%s: %d saved program%s of %s"):format(file, #s.programs, #s.programs == 1 and "" or "s", s["function"]))
  for i, program in ipairs(s.programs) do
    print(("program %d:"):format(i))
    list("inputs", program.inputs, "  ")
    for _, c in ipairs(program.constants) do print(("    %s = %s"):format(c.name, c.value)) end
    list("outputs", program.outputs, "  ")
    list(("weights, %d bytes"):format(program.weight_bytes), program.weights, "  ")
    list_ops(program.operators, "  ")
  end
end

local function tensors_of(by_name)
  local tensors, bytes = {}, 0
  for name, t in pairs(by_name) do
    local dims = {}
    for d, size in ipairs(t.shape) do dims[d] = size end
    local dtype = tostring(t.dtype):gsub("float", "f"):gsub("int", "i"):gsub("^ui", "u") -- as traces have it
    tensors[#tensors + 1] = { name = name, dtype = dtype, dims = dims }
    bytes = bytes + t:nbytes()
  end
  table.sort(tensors, function(a, b) return a.name < b.name end)
  return { tensors = tensors, bytes = bytes }
end

local kind = tool.kind_of(file)
local found
if kind == "model" or kind == "program" then found = th.signature(th.load_program(file))
elseif kind == "safetensors" then found = tensors_of(th.load(file))
elseif kind == "array" then found = tensors_of { array = th.data.npy(file) }
else
  local opened, why = io.open(file, "rb")
  if not opened then fail("cannot open %s", why) end
  opened:close()
  fail("'%s' is %s; `inspect` reads saved programs, ONNX models, safetensors and .npy", file, tool.description_of(file))
end
if options.json then
  found.command, found.schema, found.file, found.kind, found.format = "inspect", 1, file, kind, nil
  if kind == "program" then found.inputs, found.outputs = nil, nil end
  print(json(found))
elseif kind == "model" then show_model(found)
elseif kind == "program" then show_programs(found)
else
  print(("%s: %s, %d tensor%s, %d bytes"):format(file, kind == "array" and "NumPy's" or "safetensors", #found.tensors, #found.tensors == 1 and "" or "s", found.bytes))
  list("tensors", found.tensors, "")
end
if kind == "model" and #found.unsupported > 0 then os.exit(1, true) end
)lua";
