#include "models.h"

// Before the two scripts that call a model: the words that say its inputs, and these.
const char* const kModelInputs = R"lua(
local th = require "thunder"
local tool = require "thunder.tool"
local options, file, target = ...
local function fail(...) io.stderr:write("thunder: ", string.format(...), "\n") os.exit(1, true) end
local function refuse(...)
  io.stderr:write("thunder: ", options.command, ": ", string.format(...), "\nsee `thunder help ", options.command, "`\n")
  os.exit(2, true)
end

local inputs, dims = {}, {}
local function each_pair(word, f)
  for _, text in ipairs(options[word] or {}) do
    local name, what = text:match "^(.-)=(.*)$"
    if not name then refuse("--%s takes NAME=VALUE, got %s", word, text) end
    f(name, what)
  end
end
each_pair("input", function(name, path) inputs[name] = path end)
each_pair("dim", function(name, size)
  dims[name] = math.tointeger(tonumber(size)) or refuse("--dim %s=%s: an integer is needed", name, size)
end)

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
local check_with, folder, given_options = options.check, options.save, { backend = options.backend }
if folder then
  local why = tool.make_folder(folder)
  if why then fail("the folder '%s' cannot be made: %s", folder, why) end
end
local f = th.load_program(file, given_options)
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
local expected = results(th.load_program(file, other))
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
given_options.outputs, other.outputs = table.concat(names, ","), table.concat(names, ",")
local ours, theirs = results(th.load_program(file, given_options)), results(th.load_program(file, other))
for i, name in ipairs(names) do
  local off, allowed = difference(ours[i], theirs[i])
  if not (off <= allowed) then fail("the first node that differs is %s: '%s' by %.3g, allowed are %.3g", places[i], name, off, allowed) end
end
fail "no single node differs: the error adds up"
)lua";

const char* const kConvertModel = R"lua(
if options.opset or options.external_data or options.program then
  refuse("--opset, --external-data and --program are for models that are written, and %s is read", file)
end
if file == target then fail("convert: %s and %s are the same file, which would be lost", file, target) end
-- Each name that is not given a size has one of its own, so that none is taken for another's.
local size, fixed = 1, {}
for name in pairs(dims) do fixed[name] = true end
setmetatable(dims, { __index = function(_, name)
  size = size + 1
  rawset(dims, name, size)
  return size
end })
-- Sizes that the model names stay formulas in the program that a call makes, but for those that are given.
local f = th.load_program(file, { dynamic = true })
local signature = th.signature(f)
local given, list = inputs_of(signature), {}
for i, input in ipairs(signature.inputs) do
  list[i] = given[input.name]
  for d, named in ipairs(input.dims or {}) do
    if fixed[named] then th.mark_static(list[i], d - 1) end
  end
end
f(table.unpack(list, 1, #list))
th.save_program(f, target)
)lua";

const char* const kRunProgram = R"lua(
local options, file = ...
local th = require "thunder"
local function refuse(...)
  io.stderr:write("thunder: ", string.format(...), "\nsee `thunder help run`\n")
  os.exit(2, true)
end
local number = options.program and (math.tointeger(tonumber(options.program)) or refuse("run: --program takes a number, got '%s'", options.program))
local f = th.load_program(file, { backend = options.backend, program = number, run_saved_kernels = options.run_saved_kernels })

-- What its programs take, and how that is written here.
local function say_what_it_wants(programs)
  local lines, example = {}, {}
  for i, program in ipairs(programs) do
    local types = {}
    for k, input in ipairs(program.inputs) do
      types[k] = ("%s: %s [%s]"):format(input.name, input.dtype, table.concat(input.dims, ", "))
      if i == 1 then example[k] = input.name:gsub("%W", "_") .. ".npy" end
      if input.name:find(".", 1, true) then example.nested = true end
    end
    for k, input in ipairs(program.constants) do types[#types + 1] = ("%s: %s"):format(input.name, input.value) end
    lines[#lines + 1] = ("program %d takes %s"):format(number or i, table.concat(types, "; "))
  end
  local how = example.nested and "its arguments are tables: th.load_program(FILE) in a script calls it"
    or ("such as: thunder run %s %s"):format(file, table.concat(example, " "))
  io.stderr:write("thunder: '", file, "' is called with arguments; ", table.concat(lines, "\n"), "\n", how, "\n")
  os.exit(2, true)
end

local arguments = table.pack(select(3, ...))
local programs = th.signature(f).programs
if arguments.n == 0 then
  local takes_some = false
  for _, program in ipairs(programs) do takes_some = takes_some or #program.inputs + #program.constants > 0 end
  if takes_some then say_what_it_wants(programs) end
end
for i = 1, arguments.n do
  local word = arguments[i]
  if word:find "%.npy$" then arguments[i] = th.data.npy(word)
  else arguments[i] = math.tointeger(word) or tonumber(word) or word end
end
print(f(table.unpack(arguments, 1, arguments.n)))
)lua";
