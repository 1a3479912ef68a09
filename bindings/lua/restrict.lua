-- What a restricted script may not do, before the other files take these functions.
local _, core = ...
if not core.restricted then return end

for _, name in ipairs {
  "read_csv", "read_npy", "read_idx", "read_safetensors", "write_npy", "write_safetensors", "save", "load", "load_plugin",
  "save_program", "compile_ahead", "load_program", "export_c", "export_onnx",
} do
  assert(core[name], name)
  core[name] = function() core.refuse(name .. ": a restricted script cannot reach files") end
end

core.cuda_kernel = function(who) core.refuse(who .. ": a restricted script cannot bring kernels for CUDA devices") end
core.load_cache_artifacts = function() core.refuse "load_cache_artifacts: a restricted script cannot load machine code" end

local add_kernel = core.add_kernel
core.add_kernel = function(op, kernel, symbol)
  if symbol then core.refuse "op: a restricted script cannot load libraries" end
  return add_kernel(op, kernel)
end
