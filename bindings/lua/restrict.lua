-- What a restricted script may not do, before the other files take these functions.
local _, core = ...
if not core.restricted then return end

local by_hand = { "read_csv", "save", "load", "save_program", "compile_ahead", "load_program", "export_c", "export_onnx" }
for _, names in ipairs { core.of_files, by_hand } do
  for _, name in ipairs(names) do
    assert(core[name], name)
    core[name] = function() core.refuse(name .. ": a restricted script cannot reach files") end
  end
end

core.load_program_bytes = function() core.refuse "load_program_bytes: a restricted script cannot load programs" end
core.cuda_kernel = function(who) core.refuse(who .. ": a restricted script cannot bring kernels for CUDA devices") end
core.load_cache_artifacts = function() core.refuse "load_cache_artifacts: a restricted script cannot load machine code" end

local add_kernel = core.add_kernel
core.add_kernel = function(op, kernel, symbol)
  if symbol then core.refuse "op: a restricted script cannot load libraries" end
  return add_kernel(op, kernel)
end
