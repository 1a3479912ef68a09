-- th.data: files of arrays, splits and shuffled batches.
local th, core = ...
local data = {}
th.data = data

data.csv = core.read_csv -- (path, dtype): [rows, columns]
data.npy = core.read_npy
data.idx = core.read_idx
data.safetensors = core.read_safetensors -- tensors by name
data.save_npy = core.write_npy -- (tensor, path)
-- save({ name = tensor }, path); tables inside give names with dots.
function data.save(tensors, path)
  if type(tensors) ~= "table" then
    core.refuse(("save: a table of tensors by name was expected, got %s"):format(core.type_text(tensors)))
  end
  core.write_safetensors(tensors, path)
end
th.save, th.load = data.save, data.safetensors

-- A table of numbers whose last column is a label: float32 [rows, columns - 1] and int64 [rows].
local function features_and_label(path)
  local rows = data.csv(path)
  local columns = rows.shape[2]
  return { rows[{ {}, { 1, columns - 1 } }]:contiguous(), rows[{ {}, columns }]:to(th.int64) }
end

local known = { size = true, shuffle = true, drop_last = true, seed = true, epochs = true, device = true }
local Batches = { __metatable = false, __name = "thunder.batches" }

-- for i, x, y in th.data.batches({x, y}, { size = 32, shuffle = true, seed = 0, epochs = 1 }) do
-- The source is a list of tensors, or the path of a CSV file whose last column is a label. With a device (th.cuda(0), "cuda") batches are
-- there: while one is used, the next is copied, so that the source must not be written meanwhile.
function data.batches(source, options)
  options = core.check_options("batches", options, known)
  if type(source) == "string" then source = features_and_label(source) end
  if core.is_tensor(source) then source = { source } end
  if type(source) ~= "table" then
    core.refuse(("batches: a list of tensors, or the path of a CSV file, was expected, got %s"):format(core.type_text(source)))
  end
  local epochs = options.epochs or 1
  local handle = core.batches(source, options.size or 1, options.shuffle, options.drop_last, options.seed or 0)
  if options.device then core.set_batch_device(handle, th.device(options.device)) end
  return setmetatable({ handle = handle, epochs = epochs, epoch = 0, total = core.batch_count(handle) * epochs }, Batches)
end

-- As the iterator of a `for`: the number of the batch, then its tensors.
function Batches:__call(_, i)
  while self.epoch < self.epochs do
    local batch = table.pack(core.next_batch(self.handle))
    if batch.n > 0 then return (i or 0) + 1, table.unpack(batch) end
    self.epoch = self.epoch + 1
  end
  self.epoch = 0
end
function Batches:__len() return self.total end

local members = {
  -- The position as a tensor; set_state resumes exactly there.
  state = function(self) return core.batch_state(self.handle) end,
  set_state = function(self, state) core.set_batch_state(self.handle, state) end,
}
function Batches:__index(key)
  return members[key] or core.refuse(("batches have no member '%s'%s"):format(tostring(key), core.suggest(tostring(key), members)))
end

-- Two lists of tensors: all rows but a part, and that part, drawn at random from `seed`.
function data.split(tensors, part, options)
  options = core.check_options("split", options, { seed = true })
  local rows = #tensors[1]
  local held_out = math.floor(rows * part + 0.5)
  local rest, out = {}, {}
  for i, tensor in ipairs { core.next_batch(core.batches(tensors, rows, true, false, options.seed or 0)) } do
    rest[i] = tensor[{ { held_out + 1, rows } }]:contiguous()
    out[i] = tensor[{ { 1, held_out } }]:contiguous()
  end
  return rest, out
end
core.strict(data, "data")
