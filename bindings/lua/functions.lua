-- Functions of tensors: compiled, differentiated, seeded, and what is known about them.
local th, core = ...

-- th.compile(f, { option = value }): f with its programs in a cache. Floats among the arguments stay live and are
-- tensors inside f; integers, booleans and strings are constants that a call checks. With symbols = true sizes that stand for any, and
-- integers that were seen to vary, are objects inside f, with operators: n + 1, n // 2, n < 5, but th.sizes_equal(n, 5), since == between
-- a number and an object is false in Lua. backend is a name of th.list_backends(), or a function as th.register_backend takes it;
-- options = { ... } takes PyTorch's names too, and excludes mode.
function th.compile(f, options)
  if core.is_module(f) then
    local net = f
    f = function(...) return net(...) end
  end
  local progress = core.compile_progress()
  if progress and options == nil then options = {} end
  if type(options) ~= "table" then return core.compile(f, options) end
  options = core.given_options(options)
  if progress and options.progress == nil then options.progress = progress end
  local symbols, others = options.symbols, {}
  if symbols ~= nil and type(symbols) ~= "boolean" then
    core.refuse("compile: option 'symbols' must be a boolean, got " .. core.type_text(symbols))
  end
  for name, value in pairs(options) do
    -- progress and guard_filter_fn
    if name ~= "symbols" then others[name] = type(value) == "function" and core.compile(value, { disable = true }) or value end
  end
  return core.compile(f, others, symbols)
end

-- Of sizes, which may be objects in a function that was compiled with symbols = true: whether two are equal, which is then checked at
-- each call; and a size as a number, for which alone the trace then is.
function th.sizes_equal(a, b)
  if core.is_size(a) then return a:eq(b) end
  if core.is_size(b) then return b:eq(a) end
  return a == b
end
function th.size_number(n) return core.is_size(n) and n:value() or n end

-- th.tape(f, ...): f(...), with what grad_of needs kept while it runs.
function th.tape(f, ...) return core.scope(true, f, ...) end

-- f(...) while a setting has a value; set(value) gives what it was, which it has again afterwards, after an error too.
function core.call_with(set, value, f, ...)
  local before = set(value)
  local results = table.pack(pcall(f, ...))
  set(before)
  if not results[1] then error(results[2], 0) end
  return table.unpack(results, 2, results.n)
end

-- th.autocast(th.bfloat16, f, ...): f(...) in mixed precision, as torch.autocast: products, convolutions and attention in that type, what
-- needs more in float32, weights in their own. In a compiled function it stands inside of the function.
function th.autocast(dtype, f, ...)
  if type(f) ~= "function" then core.refuse(("autocast: a dtype and a function were expected, got %s"):format(core.type_text(f))) end
  return core.call_with(core.set_autocast, dtype, f, ...)
end

-- d(loss)/d(wrt), in the structure of wrt: a tensor, or tables of tensors.
th.grad_of = core.grad

local function tensors_of(tree)
  if core.is_tensor(tree) then return core.is_real(tree) and tree or nil end
  if type(tree) ~= "table" then return nil end
  local out = {}
  for key, child in pairs(tree) do out[key] = tensors_of(child) end
  return next(out) ~= nil and out or nil
end

-- The arguments with each tensor as a view of its own: one that is given twice, or captured as well, has a gradient for
-- each place.
local function views_of(tree)
  if core.is_tensor(tree) then
    local dims = {}
    for dim = 1, #tree.shape do dims[dim] = dim - 1 end
    return core.is_real(tree) and th.permute(tree, dims) or tree
  end
  if not core.is_plain(tree) then return tree end
  local out = {}
  for key, child in pairs(tree) do out[key] = views_of(child) end
  return out
end

-- The positions that wrt = 2 or wrt = { 1, 3 } asks for; nil where wrt is of tensors.
local function positions_of(wrt)
  if math.type(wrt) == "integer" then return { wrt } end
  return type(wrt) == "table" and math.type(wrt[1]) == "integer" and wrt or nil
end

-- For each argument that is asked for, or each that has some, its float tensors in a list.
local function wanted_of(positions, arguments)
  local groups = {}
  for i = 1, arguments.n do groups[i] = tensors_of(arguments[i]) or false end
  local wanted = {}
  for _, at in ipairs(positions or {}) do
    if math.type(at) ~= "integer" or at < 1 or at > arguments.n then
      core.refuse(("grad: wrt names argument %s, there are %d: they count from 1"):format(tostring(at), arguments.n))
    end
    if not groups[at] then core.refuse(("grad: argument %d, which wrt names, has no float tensors"):format(at)) end
    wanted[#wanted + 1] = groups[at]
  end
  if positions then return wanted end
  for _, group in ipairs(groups) do
    if group then wanted[#wanted + 1] = group end
  end
  return wanted
end

-- A function that returns f's results, the gradients of the first, a 0-d tensor, last. `wrt` is the position of an argument,
-- from 1, or a list of positions, with a gradient for each; or what f captures: a tensor, or tables of tensors, in whose
-- structure the gradients are. Without it there is one for each argument that holds float tensors.
function th.value_and_grad(f, wrt)
  local positions = positions_of(wrt)
  local captured = positions == nil and wrt ~= nil
  local function recorded(...)
    local arguments = table.pack(...)
    if not captured then
      for i = 1, arguments.n do arguments[i] = views_of(arguments[i]) end
    end
    local results = table.pack(f(table.unpack(arguments, 1, arguments.n)))
    local loss = results[1]
    if not core.is_tensor(loss) then core.refuse("value_and_grad: the function must return its loss, a 0-d tensor, first") end
    if captured then
      results[results.n + 1] = core.grad(loss, wrt)
      return table.unpack(results, 1, results.n + 1)
    end
    local gradients = core.grad(loss, wanted_of(positions, arguments))
    table.move(gradients, 1, #gradients, results.n + 1, results)
    return table.unpack(results, 1, results.n + #gradients)
  end
  return function(...) return core.scope(true, recorded, ...) end
end

-- th.grad(f, wrt): the gradients alone, wrt as above.
function th.grad(f, wrt)
  local both = th.value_and_grad(function(...) return (f(...)) end, wrt)
  return function(...) return select(2, both(...)) end
end

local function tree_map(f, path, tree, others)
  if not core.is_plain(tree) then return f(tree, table.unpack(others, 1, others.n)) end
  local out = {}
  for i = 1, others.n do
    local other = others[i]
    local is_tree = core.is_plain(other)
    for key in pairs(is_tree and other or {}) do
      if tree[key] == nil then core.refuse(("tree_map: tree %d has %s%s, the first has not"):format(i + 1, path, tostring(key))) end
    end
    if not is_tree then core.refuse(("tree_map: tree %d has no table at '%s'"):format(i + 1, path)) end
  end
  for key, child in pairs(tree) do
    local below = { n = others.n }
    for i = 1, others.n do
      below[i] = others[i][key]
      if below[i] == nil then core.refuse(("tree_map: tree %d lacks %s%s"):format(i + 1, path, tostring(key))) end
    end
    out[key] = tree_map(f, path .. tostring(key) .. ".", child, below)
  end
  return out
end
-- th.tree_map(f, tree, ...): a table like `tree` with f(leaf, leaf of the next tree, ...) in each place. Trees are nested
-- plain tables of one structure; anything else is a leaf.
function th.tree_map(f, tree, ...) return tree_map(f, "", tree, table.pack(...)) end

-- The same numbers are drawn after the same seed; one that is never given is drawn by the system, another in each process.
th.seed = core.seed
th.manual_seed = core.seed
th.initial_seed = core.initial_seed -- the seed that holds: th.seed(th.initial_seed()) in another process repeats this one
th.set_num_threads = core.set_num_threads -- how many threads a call may use; 0: as many as there are processors
-- th.set_logs "guards,+fusion": which logs say what they see from now on, on standard error; "+" in detail, "-" not even warnings. The
-- names are th.logs(), a list of { name, doc, more }.
th.set_logs = core.set_logs
th.clock = core.clock -- seconds since some moment, which only go forward
-- The random state, int64[2]: save it, and copy_ it back to resume.
th.random_state = core.random

th.last_traces = core.last_traces -- a list of traces that print
th.last_backward_traces = core.last_backward_traces -- the same of the backward that ran last on a tape
-- th.function_name(f), th.trace_count(f), th.write_report(f, path), th.last_miss(f), th.memory_report(f) ..., and th.explain(f, what):
-- text about the program compiled last: why neighbours in its trace were not fused, a line for each two; with "loops", the loop
-- nest of each kernel after each stage of its lowering; with "guards", what it is guarded by, a formula each line; with "breaks",
-- where and why the function was no one program; with "stages", the stages of its compile and their times; with the name of a stage,
-- what the program was after it.
for _, name in ipairs(core.of_compiled) do th[name] = core[name] end
-- The same as a list of { where, reason, lines, times }.
function th.graph_breaks(f) return core.json(core.graph_breaks(f)) end
th.stats = core.stats
th.version = core.version()
core.metatable("compiled").__tostring = function(f)
  local stats = core.stats(f)
  return ("compiled function %s: %d calls, %d programs"):format(core.function_place(f), stats.calls, stats.entries)
end
-- A message with the lines of the script that led to it, for xpcall: those of this library are left out.
th.traceback = core.traceback

local function described(what)
  return function() return core.json(core.describe(what)) end
end
th.executors = described "executors"
-- lightning-thunder's functions of these names: lists of names, and the row of one, or nil.
local function executors_that(keep)
  local names = {}
  for _, row in ipairs(th.executors()) do
    if keep(row) then names[#names + 1] = row.name end
  end
  return names
end
function th.get_all_executors() return executors_that(function() return true end) end
function th.get_default_executors()
  local place, names = {}, executors_that(function(row) return row.default > 0 end)
  for _, row in ipairs(th.executors()) do place[row.name] = row.default end
  table.sort(names, function(a, b) return place[a] < place[b] end)
  return names
end
function th.get_always_executors() return executors_that(function(row) return row.always end) end
function th.get_executor(name)
  for _, row in ipairs(th.executors()) do
    if row.name == name then return row end
  end
end
-- th.set_default_executors{ names }: which executors a compile asks that names none, from now on; without an argument the built-in ones.
function th.set_default_executors(names)
  core.set_default_executors(type(names) == "table" and table.concat(names, ",") or names or "")
end
th.unavailable_executors = described "unavailable_executors" -- { name, why } of those that can run nothing here
th.installation = described "installation" -- { name, state, text }: what works, is missing or fails here, and why; runs a kernel
-- th.load_plugin(path): a shared library whose executors the option "executors" of compile can name from now on.
th.load_plugin = core.load_plugin
th.compile_options = described "options"
th.logs = described "logs"

-- th.set_stance(name): what calls of compiled functions do from now on; the name of the stance before. "default",
-- "force_eager", "eager_on_recompile", "fail_on_recompile", "eager_then_compile".
function th.set_stance(name)
  if type(name) ~= "string" then core.refuse(("set_stance: a name was expected, got %s"):format(core.type_text(name))) end
  return core.set_stance(name)
end
