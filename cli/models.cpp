#include "models.h"

// Before the two scripts that call a model: the words that say its inputs, and these.
const char* const kModelInputs = R"lua(
local th = require "thunder"
local function fail(...) io.stderr:write("thunder: ", string.format(...), "\n") os.exit(1, true) end

local words, files = { ... }, {}
local inputs, dims = {}, {}
local at = 1
local function value(option)
  at = at + 1
  return words[at] or fail("%s needs a value", option)
end
local function pair(option)
  local text = value(option)
  local name, what = text:match "^(.-)=(.*)$"
  return name or fail("%s takes NAME=VALUE, got %s", option, text), what
end
-- Of `known` each function takes the value of the option of its name.
local function read_words(command, count, known)
  while at <= #words do
    local word = words[at]
    if word == "--input" then local name, path = pair(word) inputs[name] = path
    elseif word == "--dim" then local name, size = pair(word) dims[name] = math.tointeger(tonumber(size)) or fail("--dim %s=%s: an integer is needed", name, size)
    elseif known[word] then known[word](value(word))
    elseif #files < count and word:sub(1, 2) ~= "--" then files[#files + 1] = word
    else fail("what is %s? see thunder %s --help", word, command) end
    at = at + 1
  end
end

-- Inputs that are not given are made: reals of a normal distribution, integers of 0 and 1, the same ones each time. By their names.
local function inputs_of(signature)
  th.manual_seed(0)
  local given, names, named, varying = {}, {}, {}, {}
  for _, input in ipairs(signature.inputs) do
    names[#names + 1] = input.name
    for _, size in ipairs(input.dims or {}) do
      if type(size) == "string" and size ~= "" and not named[size] then
        named[size] = true
        varying[#varying + 1] = size
      end
    end
  end
  for name in pairs(dims) do
    if not named[name] then fail("the model has no dim '%s'; it has %s", name, #varying > 0 and table.concat(varying, ", ") or "none that varies") end
  end
  for _, input in ipairs(signature.inputs) do
    local path = inputs[input.name]
    inputs[input.name] = nil
    if path then
      given[input.name] = th.data.npy(path)
    else
      local shape = {}
      for d, size in ipairs(input.dims or fail("input '%s' has no shape in the model; give it with --input", input.name)) do
        shape[d] = math.type(size) == "integer" and size or dims[size] or 2
      end
      local dtype = th[({ f32 = "float32", f64 = "float64", f16 = "float16", bf16 = "bfloat16", i64 = "int64", i32 = "int32",
        i16 = "int16", i8 = "int8", u8 = "uint8", bool = "bool" })[input.dtype] or fail("input '%s' is of %s; give it with --input", input.name, input.dtype)]
      local real = input.dtype:find "f%d"
      given[input.name] = (real and th.randn(shape) or th.randint(0, 2, shape)):to(dtype)
      print(("%s: made, %s [%s]"):format(input.name, input.dtype, table.concat(shape, ", ")))
    end
  end
  local unknown = next(inputs)
  if unknown then fail("the model has no input '%s'; it has %s", unknown, table.concat(names, ", ")) end
  return given
end
)lua";

const char* const kRunModel = R"lua(
local options, check_with, folder = {}, nil, nil
read_words("run", 1, {
  ["--backend"] = function(name) options.backend = name end,
  ["--check"] = function(name) check_with = name end,
  ["--save"] = function(path) folder = path end,
})
local f = th.load_program(files[1], options)
local signature = th.signature(f)
local given = inputs_of(signature)

local function results(program) return table.pack(program(given)) end
local outputs = results(f)
for i, output in ipairs(signature.outputs) do
  print(output.name .. ":")
  print(outputs[i])
  if folder then th.data.save_npy(outputs[i], ("%s/%s.npy"):format(folder, (output.name:gsub("[^%w_.-]", "_")))) end
end
if not check_with then return end

-- The largest difference, and what is allowed.
local function difference(a, b)
  if not (th.is_tensor(a) and th.is_tensor(b)) or a:numel() == 0 then return 0, 0 end
  local x, y = a:to(th.float64), b:to(th.float64)
  local same = (x:eq(y)):logical_or(x:isnan():logical_and(y:isnan()))
  local off = th.where(same, 0.0, (x - y):abs()):max():item()
  local size = th.where(y:isfinite(), y:abs(), 0.0):max():item()
  return off, 1e-4 * (1 + size)
end

local other = { backend = check_with }
local expected = results(th.load_program(files[1], other))
local differs = false
for i, output in ipairs(signature.outputs) do
  local off, allowed = difference(outputs[i], expected[i])
  local wrong = not (off <= allowed)
  differs = differs or wrong
  print(("%s: largest error %.3g beside %s%s"):format(output.name, off, check_with, wrong and (", allowed are %.3g"):format(allowed) or ""))
end
if not differs then return end

-- All values of all nodes, of both: where they differ first.
local names, places = {}, {}
for _, node in ipairs(signature.nodes) do
  for _, name in ipairs(node.outputs) do
    if name ~= "" and not name:find "[, ]" then
      names[#names + 1] = name
      places[#names] = ("node %d, %s '%s'"):format(node.node, node.op, node.name)
    end
  end
end
options.outputs, other.outputs = table.concat(names, ","), table.concat(names, ",")
local ours, theirs = results(th.load_program(files[1], options)), results(th.load_program(files[1], other))
for i, name in ipairs(names) do
  local off, allowed = difference(ours[i], theirs[i])
  if not (off <= allowed) then fail("the first node that differs is %s: '%s' by %.3g, allowed are %.3g", places[i], name, off, allowed) end
end
fail "no single node differs: the error adds up"
)lua";

const char* const kConvertModel = R"lua(
read_words("convert", 2, {})
if #files < 2 then fail "two files are needed; see thunder convert --help" end
if files[1] == files[2] then fail("convert: %s and %s are the same file, which would be lost", files[1], files[2]) end
-- Each name has a size of its own, so that none is taken for another's.
local size = 1
setmetatable(dims, { __index = function(_, name)
  size = size + 1
  rawset(dims, name, size)
  return size
end })
-- Sizes that the model names stay formulas in the program that a call makes.
local f = th.load_program(files[1], { dynamic = true })
local signature = th.signature(f)
local given, list = inputs_of(signature), {}
for i, input in ipairs(signature.inputs) do list[i] = given[input.name] end
f(table.unpack(list, 1, #list))
th.save_program(f, files[2])
)lua";

const char* const kInspectModel = R"lua(
local th = require "thunder"
local s = th.signature(th.load_program(...))
local function list(what, values)
  print(what .. ":")
  for _, v in ipairs(values) do
    local dims = {}
    for d, size in ipairs(v.dims or {}) do dims[d] = size == "" and "?" or tostring(size) end
    print(("  %s %s [%s]"):format(v.name, v.dtype or "?", v.dims and table.concat(dims, ", ") or "?"))
  end
end
if s.format == "onnx" then
  local sets = {}
  for domain, version in pairs(s.opsets) do sets[#sets + 1] = (domain == "" and "ai.onnx" or domain) .. " " .. version end
  table.sort(sets)
  print(("%s: ONNX of %s, opsets %s"):format(s.file, s.producer ~= "" and s.producer or "an unknown producer", table.concat(sets, ", ")))
end
list("inputs", s.inputs)
list("outputs", s.outputs)
if s.format ~= "onnx" then return end
print(("weights: %d tensors, %d bytes"):format(s.weights, s.weight_bytes))
print "ops:"
for _, op in ipairs(s.operators) do
  print(("  %5d %s%s%s"):format(op.count, op.domain == "" and "" or op.domain .. ".", op.op, op.imported and "" or "  (not imported)"))
end
if #s.unsupported == 0 then return end
print "not imported:"
for _, u in ipairs(s.unsupported) do print(("  node %d, %s '%s': %s"):format(u.node, u.op, u.name, u.reason)) end
os.exit(1, true)
)lua";
