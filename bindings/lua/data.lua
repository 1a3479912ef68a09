-- th.data: files of arrays, splits and shuffled batches.
local th, core = ...
local data = {}
th.data = data

data.csv = core.read_csv -- (path, dtype): [rows, columns]
data.npy = core.read_npy -- (path): the array of a .npy file
data.idx = core.read_idx -- (path): the array of an IDX file as MNIST has it, packed by gzip or not
data.safetensors = core.read_safetensors -- (path): tensors by name
data.save_npy = core.write_npy -- (tensor, path): writes a .npy file
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
-- Each `for` is an epoch of its own, or as many as `epochs` says, also where one was left by break or goes on. The source is a list of
-- tensors, or the path of a CSV file whose last column is a label. With a device (th.cuda(0), "cuda") batches are there: while one is used,
-- the next is copied, so that the source must not be written meanwhile.
function data.batches(source, options)
  options = core.check_options("batches", options, known)
  if type(source) == "string" then source = features_and_label(source) end
  if core.is_tensor(source) then source = { source } end
  if type(source) ~= "table" then
    core.refuse(("batches: a list of tensors, or the path of a CSV file, was expected, got %s"):format(core.type_text(source)))
  end
  local function new_rows()
    local rows = core.batches(source, options.size or 1, options.shuffle, options.drop_last, options.seed or 0)
    if options.device then core.set_batch_device(rows, th.device(options.device)) end
    return rows
  end
  local rows, epochs = new_rows(), options.epochs or 1
  return setmetatable({
    new_rows = new_rows,
    rows = rows, -- of the loop that began last
    begun = false, -- nobody reads them yet
    epoch = 0, -- where the next loop begins
    loops = {}, -- by the line of the `for`
    last = false, -- of them
    epochs = epochs,
    total = core.batches_size(rows) * epochs,
  }, Batches)
end

-- A loop at this line: whatever ran there before was left.
local function begin(self, place)
  if self.begun then
    local state = core.batches_state(self.rows):tolist()
    self.rows = self.new_rows()
    core.batches_set_state(self.rows, th.tensor { state[1], self.epoch, 0, state[4] })
  end
  self.begun, self.epoch = true, self.epoch + self.epochs
  self.loops[place] = { rows = self.rows, left = self.epochs, number = 0 }
  self.last = self.loops[place]
  return self.last
end

-- As the iterator of a `for`: the number of the batch, then its tensors. Lua says no more of the loop than the number and its line.
function Batches:__call(_, i)
  local place = core.place() or ""
  local loop = i == nil and begin(self, place) or self.loops[place] or self.last
  if i and not (loop and loop.number == i) then
    core.refuse(("batches: no loop at this line has come to batch %s; two loops that take turns need two of th.data.batches()"):format(tostring(i)))
  end
  while loop.left > 0 do
    local batch = table.pack(core.batches_next(loop.rows))
    if batch.n > 0 then
      loop.number = loop.number + 1
      return loop.number, table.unpack(batch)
    end
    loop.left = loop.left - 1
  end
  self.loops[place] = nil
  if loop.rows == self.rows then self.begun = false end -- they stand at the next epoch
end
function Batches:__len() return self.total end

local members = {
  -- The position, in the loop that began last, as a tensor; set_state resumes exactly there.
  state = function(self) return core.batches_state(self.rows) end,
  set_state = function(self, state)
    local rows = self.new_rows()
    core.batches_set_state(rows, state)
    self.rows, self.begun, self.epoch, self.loops, self.last = rows, false, state:tolist()[2], {}, false
  end,
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
  for i, tensor in ipairs { core.batches_next(core.batches(tensors, rows, true, false, options.seed or 0)) } do
    rest[i] = tensor[{ { held_out + 1, rows } }]:contiguous()
    out[i] = tensor[{ { 1, held_out } }]:contiguous()
  end
  return rest, out
end
core.strict(data, "data")
