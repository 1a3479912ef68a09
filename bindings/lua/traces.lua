-- Traces: a printed one is a Lua chunk, and run_trace runs it with the ops as its environment.
local th, core = ...
local mt = core.metatable("trace")

mt.__tostring = core.trace_text
local properties = { text = core.trace_text, name = core.trace_name, ms = core.trace_milliseconds }
function mt.__index(trace, key)
  if properties[key] then return properties[key](trace) end
  core.refuse(("a trace has no member '%s'%s"):format(tostring(key), core.suggest(tostring(key), properties)))
end

local environment = {
  inf = math.huge,
  nan = 0 / 0,
  cpu = th.cpu,
  cuda = th.cuda,
  device = core.device,
  table = table,
  copy_ = function(x, value) return core.op_function("copy_")(x, value) end,
  -- The line from which the grad pass makes a backward: here the tape makes it.
  grad = function(loss, wrt) return table.unpack(core.grad(loss, wrt)) end,
}
for name, dtype in pairs(core.dtypes) do environment[name] = dtype end
environment.op = setmetatable({}, { __index = function(_, name) return environment[name] or core.op_function(name) end })

-- Ops by name; a name with a dot is reached through tables such as prims.
local function namespace(prefix, own)
  return setmetatable(own, {
    __index = function(self, name)
      local found = core.op_function(prefix .. name)
      if not found and prefix == "" then found = namespace(name .. ".", {}) end
      if not found then core.refuse(("a trace calls the unknown op '%s%s'"):format(prefix, name)) end
      rawset(self, name, found)
      return found
    end,
  })
end
namespace("", environment)

-- th.run_trace(trace or its text, parameters, constants, inputs): the results of the program, computed op by op.
-- Written tensors are written.
function th.run_trace(trace, parameters, constants, inputs)
  local text = type(trace) == "string" and trace or core.trace_text(trace)
  local chunk = core.load_chunk(text, environment)
  return core.scope(true, chunk(), parameters or {}, constants or {}, inputs or {})
end

-- th.function_from_trace(trace or its text, captured, options): a compiled function of one argument for each i[k], which
-- returns the results one after the other. `captured`: a list of tensors for p[k] and c[k], in the order of the text; a trace
-- of last_traces() has its own.
function th.function_from_trace(trace, captured, options)
  if type(trace) == "string" then trace = core.parse_trace(trace) end
  return core.compile_trace(trace, captured, options)
end

local function path_check(path, who)
  if type(path) ~= "string" then core.refuse(("%s: a path was expected, got %s"):format(who, core.type_text(path))) end
  return path
end
-- th.save_program(f, path): the programs that f keeps in a file, which needs neither f nor this script to run.
function th.save_program(f, path)
  if not core.is_compiled(f) then core.refuse(("save_program: a compiled function was expected, got %s"):format(core.type_text(f))) end
  core.save_program(f, path_check(path, "save_program"))
end
-- th.compile_ahead(f, path): the same with the machine code of their kernels, which runs without LLVM on a machine of this kind.
function th.compile_ahead(f, path)
  if not core.is_compiled(f) then core.refuse(("compile_ahead: a compiled function was expected, got %s"):format(core.type_text(f))) end
  core.compile_ahead(f, path_check(path, "compile_ahead"))
end
-- th.load_program(path, options): a compiled function. It takes what f took when it was called before saving. The option
-- run_saved_kernels = true runs the machine code that compile_ahead wrote: for files that you trust as you trust a program.
-- An ONNX model is a function of its inputs, in their order or as one table of their names; the option outputs = "a,b" names the values
-- that it gives in place of its outputs (docs/onnx.md).
function th.load_program(path, options) return core.load_program(path_check(path, "load_program"), options) end
-- th.load_program_bytes(string, options): the same of a file's bytes.
function th.load_program_bytes(bytes, options)
  if type(bytes) ~= "string" then core.refuse(("load_program_bytes: a string was expected, got %s"):format(core.type_text(bytes))) end
  return core.load_program_bytes(bytes, options)
end
local function compiled_check(f, who)
  if not core.is_compiled(f) then core.refuse(("%s: a compiled function was expected, got %s"):format(who, core.type_text(f))) end
  return f
end
-- th.program_module(f): the weights of a program that an ONNX model is, as a module whose tensors have their names there.
function th.program_module(f) return core.program_module(compiled_check(f, "program_module")) end
-- th.signature(f): { inputs = { { name, dtype, dims } }, outputs = ... }, where a dim is a size or the name of one that varies; of an
-- ONNX model also its operators, and what of them is unsupported. nil before f has been compiled.
function th.signature(f)
  local text = core.signature(compiled_check(f, "signature"))
  return text ~= "" and core.json(text) or nil
end
-- th.export_c(path, folder, options): the program of a file as C, with one function that needs no libthunder (docs/programs.md).
-- Options: name (the file's), cpu ("x86-64-v3"; "native": this one), program (1).
function th.export_c(path, folder, options)
  core.export_c(path_check(path, "export_c"), path_check(folder, "export_c"), options)
end

-- th.export_onnx(f, path, options): the program that f keeps as an ONNX model (docs/programs.md). Options: opset (18),
-- external_data (false: weights lie in the model, up to 1 GiB), program (1).
function th.export_onnx(f, path, options)
  if not core.is_compiled(f) then core.refuse(("export_onnx: a compiled function was expected, got %s"):format(core.type_text(f))) end
  core.export_onnx(f, path_check(path, "export_onnx"), options)
end

-- th.compiler.set_stance(name): th.set_stance under PyTorch's name.
th.compiler = { set_stance = th.set_stance }
-- th.compiler.disable(f): f as a compiled function that compiles nothing: each call runs it op by op. Called by a compiled
-- function it is a part of that.
function th.compiler.disable(f) return th.compile(f, { disable = true }) end
-- th.compiler.save_cache_artifacts(): a string of all kernels that this process has compiled and what max_autotune
-- measured, and { cpu_kernels, cuda_kernels, product_choices }, how many they are.
th.compiler.save_cache_artifacts = core.save_cache_artifacts
-- th.compiler.load_cache_artifacts(string): the kernels of such a string are not compiled again; how many they are. They are
-- machine code: the string must come from where scripts may come from.
function th.compiler.load_cache_artifacts(artifacts)
  if type(artifacts) ~= "string" then
    core.refuse(("load_cache_artifacts: a string was expected, got %s"):format(core.type_text(artifacts)))
  end
  return core.load_cache_artifacts(artifacts)
end
