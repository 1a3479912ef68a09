-- Kernels for CUDA devices, as th.op and th.executor take them: checked, with their launch rules as text.
local _, core = ...

local fields = {
  source = "string", image = "string", symbol = "string", options = "table", parameters = "string", grid = true, block = true,
  shared_bytes = true, strided = "boolean",
}

-- A number, a formula, or a table of up to three.
local function rule(who, value, name)
  local parts = type(value) == "table" and value or { value }
  local texts = {}
  for i, part in ipairs(parts) do
    if math.type(part) == "integer" or type(part) == "string" then texts[i] = tostring(part) end
  end
  if #texts < 1 or #texts > 3 or #texts ~= #parts then
    core.refuse(("%s: '%s' must be a number, a formula such as 'ceildiv(x.numel, 256)', or one to three of them"):format(who, name))
  end
  return table.concat(texts, ", ")
end

-- { symbol = "name of the kernel", source = "CUDA C++" or image = "PTX or a cubin", grid =, block = 256, shared_bytes =,
--   parameters = "x, float c, out, x.numel", options = { "-DN=4" }, strided = true }: see docs/extending.md.
function core.cuda_kernel(who, spec)
  who = who .. ", its kernel for CUDA devices"
  if type(spec) ~= "table" then core.refuse(("%s must be a table, got %s"):format(who, core.type_text(spec))) end
  local kernel = {}
  for name, value in pairs(spec) do
    local wanted = fields[name]
    if not wanted then core.refuse(("%s has no field '%s'%s"):format(who, tostring(name), core.suggest(tostring(name), fields))) end
    if wanted ~= true and type(value) ~= wanted then
      core.refuse(("%s: '%s' must be a %s, got %s"):format(who, name, wanted, core.type_text(value)))
    end
    kernel[name] = value
  end
  for _, name in ipairs { "symbol", "grid" } do
    if kernel[name] == nil then core.refuse(("%s: '%s' is missing"):format(who, name)) end
  end
  kernel.grid, kernel.block = rule(who, kernel.grid, "grid"), rule(who, kernel.block or 256, "block")
  if kernel.shared_bytes ~= nil then kernel.shared_bytes = rule(who, kernel.shared_bytes, "shared_bytes") end
  return kernel
end
