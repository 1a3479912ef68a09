-- Ops, executors and passes of the script's own; one that a script registers is the context's from then on.
local th, core = ...

local function need(spec, who, kind, name, wanted)
  local value = spec[name]
  if wanted and value == nil then core.refuse(("%s: '%s' is missing: %s"):format(who, name, wanted)) end
  if value ~= nil and type(value) ~= kind then
    core.refuse(("%s: '%s' must be a %s, got %s"):format(who, name, kind, core.type_text(value)))
  end
  return value
end

local function check_names(spec, who, known)
  if type(spec) ~= "table" then core.refuse(("%s takes a table, got %s"):format(who, core.type_text(spec))) end
  for name in pairs(spec) do
    if not known[name] then core.refuse(("%s has no field '%s'%s"):format(who, tostring(name), core.suggest(tostring(name), known))) end
  end
end

local function set(...)
  local names = {}
  for _, name in ipairs { ... } do names[name] = true end
  return names
end

-- What a kernel function gets: the op's arguments in order, of which the tensors come from the call.
-- A slot is 1 for a tensor, -1 - n for a list of n tensors, { value } for anything else, a number in place of a tensor too.
local function slots(row, node, plan)
  local names, kinds = core.described_parameters(row)
  local singles, lists = 0, 0
  for _, kind in ipairs(kinds) do
    if kind == "tensor" then singles = singles + 1 end
    if kind == "tensor[]" then lists = lists + 1 end
  end
  for i, kind in ipairs(kinds) do
    if kind == "tensor" then
      plan[i] = node and node.args[names[i]] ~= nil and { node.args[names[i]] } or 1
    elseif kind == "tensor[]" then
      if lists > 1 then return nil end
      plan[i] = -1 - (#node.inputs - singles)
    else
      plan[i] = { node and node.args[names[i]] }
    end
  end
  return plan
end

local op_fields = set("schema", "doc", "meta", "decompose", "vjp", "host", "cuda", "library", "symbol", "inplace", "elementwise", "effects",
  "not_differentiable")

-- th.op{ schema = "f(tensor x, float c=1.0) -> tensor", doc = , decompose = function(x, c) ... end }: a new op th.f.
-- Or meta = function(op) return op.inputs[1] end, its results' types: a tensor like it, or { dtype = , shape = }; then
-- host = function(x, c) ... end computes it, and cuda = { source = , symbol = , grid = ... } on CUDA devices.
-- vjp = function(ctx, cotangent ...) gives the gradient for each argument;
-- ctx.args, ctx.results, ctx.needs_input_grad.
function th.op(spec)
  check_names(spec, "op", op_fields)
  local schema = need(spec, "op", "string", "schema", "a text such as 'f(tensor x) -> tensor'")
  local name = schema:match "^%s*([%w_.]+)" or "?"
  local who = ("op '%s'"):format(name)
  for _, field in ipairs { "meta", "decompose", "vjp", "host" } do need(spec, who, "function", field) end
  local vjp = spec.vjp
  local kept = { meta = spec.meta, decompose = spec.decompose }
  if vjp then
    kept.vjp = function(args, results, cotangents, wanted)
      return vjp({ args = args, results = results, needs_input_grad = wanted }, table.unpack(cotangents))
    end
  end
  if spec.host and schema:match("^[^>]*"):find("tensor[]", 1, true) then
    core.refuse(who .. ": a kernel of an op that takes a list of tensors is an executor's: see th.executor")
  end
  local cuda = spec.cuda ~= nil and core.cuda_kernel(who, spec.cuda)
  local flags = (spec.inplace and 1 or 0) + (spec.elementwise and 2 or 0) + (spec.effects and 4 or 0)
    + (spec.not_differentiable and 8 or 0)
  core.add_op(schema, spec.doc or schema, flags, kept)
  core.refresh_ops()
  if spec.host then core.add_kernel(name, { kernel = slots(core.op_row(name), nil, { fn = spec.host, name = name }) }) end
  if cuda then core.add_cuda_kernel(name, cuda) end
  if spec.library then core.add_kernel(name, need(spec, who, "string", "library"), need(spec, who, "string", "symbol", "a name")) end
  return core.op_function(name)
end

-- ---- executors ----

local executor_fields = set("name", "ops", "claim", "claim_region", "prepare", "register")
local entry_fields = set("checker", "run", "prepare", "execution_transform", "cuda")

local function entry_of(who, op, given)
  if type(given) == "function" then given = { run = given } end
  local what = ("%s, op '%s'"):format(who, op)
  check_names(given, what, entry_fields)
  for field in pairs(entry_fields) do
    if field ~= "cuda" then need(given, what, "function", field) end
  end
  if not (given.run or given.prepare or given.execution_transform or given.cuda) then
    core.refuse(what .. " has neither run, prepare, cuda nor execution_transform")
  end
  if not core.op_row(op) then core.refuse(("%s: unknown op '%s'%s"):format(who, op, core.suggest(op, core.all_op_names()))) end
  return given
end

-- The plan for one line: the entry's function with the arguments that it does not get from the call.
local function prepared(who, node, entry)
  if entry.prepare then
    local fn = entry.prepare(node)
    if not fn then return nil end
    if type(fn) ~= "function" then core.refuse(("%s: its prepare gives %s for %s, not a function"):format(who, core.type_text(fn), node.op)) end
    local plan = { fn = fn, name = node.op }
    for i = 1, #node.inputs do plan[i] = 1 end
    return plan
  end
  return entry.run and slots(core.op_row(node.op), node, { fn = entry.run, name = node.op })
end

-- th.executor{ name = "mine", ops = { gelu = function(x) ... end } }: kernels in Lua, which get an op's arguments and
-- give its results. Instead of a function: { checker = function(op) -> boolean, run = | prepare = function(op) ->
-- function of the inputs, execution_transform = function(op, arguments ...) -> results, cuda = a kernel for CUDA devices }.
-- A fusion executor: claim = function(op), claim_region = function(ops) -> positions, prepare = function(op) where a
-- region has op.lines. Gives its name, for the option "executors" of th.compile; with register = false itself, for that
-- option too, and then the context does not know it.
function th.executor(spec)
  local register = type(spec) ~= "table" or spec.register ~= false
  local made, name = core.make_executor(spec, register)
  if not register then return made end
  core.add_executor(made)
  return name
end

-- The executor of such a table, and its name; registered: for as long as the context.
function core.make_executor(spec, registered)
  check_names(spec, "executor", executor_fields)
  local name = need(spec, "executor", "string", "name", "what traces and options call it")
  local who = ("executor '%s'"):format(name)
  local entries, ops, kernels, checked, transforms = {}, {}, {}, false, false
  for op, given in pairs(need(spec, who, "table", "ops") or {}) do
    entries[op] = entry_of(who, op, given)
    if entries[op].cuda then kernels[#kernels + 1] = { op, core.cuda_kernel(("%s, op '%s'"):format(who, op), entries[op].cuda) } end
    if entries[op].run or entries[op].prepare or entries[op].execution_transform then ops[#ops + 1] = op end
    checked = checked or entries[op].checker
    transforms = transforms or entries[op].execution_transform
  end
  table.sort(ops)
  for _, field in ipairs { "claim", "claim_region", "prepare" } do need(spec, who, "function", field) end
  local kept = {
    who = who,
    claim_region = spec.claim_region,
    prepare = function(node)
      local entry = entries[node.op]
      if entry then return prepared(who, node, entry) end
      return spec.prepare and prepared(who, node, { prepare = spec.prepare })
    end,
  }
  if spec.claim or checked then
    kept.claim = function(node)
      local entry = entries[node.op]
      if entry then return not entry.checker or entry.checker(node) end
      return spec.claim and spec.claim(node)
    end
  end
  if transforms then
    kept.transform = function(node, ...)
      local entry = entries[node.op]
      if entry and entry.execution_transform then return entry.execution_transform(node, ...) end
    end
  end
  return core.executor(name, spec.claim and {} or ops, kept, registered, kernels), name
end

-- th.single_op_executor("mine", "gelu", function(x) ... end, checker): one op in a line.
function th.single_op_executor(name, op, run, checker)
  return th.executor { name = name, ops = { [op] = { run = run, checker = checker } } }
end

-- ---- passes ----

local Line = {}
local line_methods = {}
Line.__index = function(line, name)
  if line_methods[name] then return line_methods[name] end
  core.refuse(("a line has no member '%s'%s"):format(tostring(name), core.suggest(tostring(name), line_methods)))
end
Line.__name = "thunder.line"

local function place(line) return rawget(line, "editor"), rawget(line, "index") end

-- line:replace(f): the results of f, called with the line's arguments, stand for those of the line.
function line_methods.replace(line, f)
  local editor, index = place(line)
  core.editor_replace(editor, index, core.editor_before(editor, index, f, core.editor_arguments(editor, index)))
end

-- The line's arguments, to compute with in insertions before later lines.
function line_methods.arguments(line) return core.editor_arguments(place(line)) end

-- line:insert_before(f), line:insert_after(f): what f(arguments ...) or f(results ...) computes; gives its results.
function line_methods.insert_before(line, f)
  local editor, index = place(line)
  return core.editor_before(editor, index, f, core.editor_arguments(editor, index))
end
function line_methods.insert_after(line, f)
  local editor, index = place(line)
  return core.editor_before(editor, index + 1, f, core.editor_values(editor, index))
end

function line_methods.delete(line) core.editor_delete(place(line)) end

local pass_fields = set("name", "before", "after", "rules", "run", "register")

-- th.pass{ name = , after = "grad", rules = { "div(a, sqrt(b)) -> mul(a, rsqrt(b)) if b.rank > 0" } }, or
-- run = function(trace) over the list of its lines, which are edited through their methods. Registered passes are part of
-- every compile; with register = false the option "passes" of th.compile takes what this returns.
function th.pass(spec)
  check_names(spec, "pass", pass_fields)
  local who = ("pass '%s'"):format(need(spec, "pass", "string", "name", "what traces and options call it"))
  need(spec, who, "table", "rules")
  need(spec, who, "string", "before")
  need(spec, who, "string", "after")
  local run = need(spec, who, "function", "run")
  local kept = { name = spec.name, before = spec.before, after = spec.after, rules = spec.rules }
  if run then
    kept.run = function(editor)
      local trace = {}
      for i = 1, core.editor_count(editor) do
        local line = core.editor_line(editor, i)
        line.editor, line.index = editor, i
        trace[i] = setmetatable(line, Line)
      end
      run(trace)
    end
  end
  local register = spec.register ~= false
  local made = core.pass(kept, register)
  if not register then return made end
  core.add_pass(made)
  return spec.name
end

-- The passes of a compile, in order: { name, doc, required }, and those of the context.
function th.passes() return core.json(core.describe "passes") end
