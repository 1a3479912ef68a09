-- Ops, executors and passes written in Lua.
local th = require "thunder"
local expect = require "support.expect"

local function last_text(f) local traces = th.last_traces(f); return traces[#traces].text end
local function stage(f, name)
  for _, trace in ipairs(th.last_traces(f)) do
    if trace.name == name then return trace.text end
  end
end

-- ---- ops ----

-- By a decomposition: types, gradient and what runs follow from it.
th.op {
  schema = "square_plus(tensor x, float c=1.0) -> tensor",
  doc = "x * x + c.",
  decompose = function(x, c) return x * x + c end,
  inplace = true,
}
local x = th.tensor { 1.0, 2.0, 3.0 }
expect.values(th.square_plus(x, 2), { 3, 6, 11 })
expect.values(x:square_plus { c = 0.5 }, { 1.5, 4.5, 9.5 })
local f = th.compile(function(a) return th.square_plus(a, 3) end)
expect.values(f(x), { 4, 7, 12 })
assert(th.last_traces(f)[1].text:find("square_plus(i[1], 0x1.8p+1)", 1, true))
local g = th.compile(th.grad(function(a) return th.square_plus(a, 3):sum() end))
expect.values(g(x), { 2, 4, 6 })
local y = x:clone()
th.square_plus_(y)
expect.values(y, { 2, 5, 10 })
local found
for _, op in ipairs(th.ops()) do found = found or op.name == "square_plus" end
assert(found)

-- By a meta function and a kernel, with a gradient; several results; a name with a part in front.
local runs = 0
th.op {
  schema = "mine.min_max(tensor x, int dim) -> (tensor, tensor)",
  doc = "The least and the greatest along dim.",
  meta = function(op)
    local shape = op.inputs[1].shape
    table.remove(shape, op.args.dim + 1)
    local type = { dtype = op.inputs[1].dtype, shape = shape }
    return type, type
  end,
  host = function(t, dim)
    runs = runs + 1
    return t:amin(dim), t:amax(dim)
  end,
  vjp = function(ctx, least, greatest)
    assert(ctx.needs_input_grad[1] and #ctx.results == 2 and ctx.args[2] == 1)
    local t = ctx.args[1]
    local function share(value, cotangent) return (t:eq(value:unsqueeze(1))):to(t.dtype) * cotangent:unsqueeze(1) end
    return share(ctx.results[1], least) + share(ctx.results[2], greatest)
  end,
}
local op = th.mine.min_max
assert(op == th["mine.min_max"])
expect.error(function() return th.mine.min_mux end, "there is no op 'mine.min_mux' (did you mean 'min_max'?)")
local m = th.tensor { { 1.0, 5.0, 3.0 }, { 4.0, -2.0, 0.0 } }
local least, greatest = op(m, 1)
expect.values(least, { 1, -2 })
expect.values(greatest, { 5, 4 })
local h = th.compile(function(a)
  local lo, hi = op(a * 1, 1)
  local loss = (lo * 10 + hi):sum()
  return loss, th.grad_of(loss, a)
end, { verify = true })
local before = runs
local loss, gradient = h(m)
assert(loss:item() == -1 * 10 + 9 and runs == before + 1)
expect.values(gradient, { { 10, 1, 0 }, { 1, 10, 0 } })
-- A trace that holds it is read back and runs.
local again = table.pack(th.run_trace(th.last_traces(h)[1], {}, {}, { m }))
expect.same(again[2], gradient)

-- A meta that lies, and other mistakes.
th.op { schema = "liar(tensor x) -> tensor", meta = function(o) return o.inputs[1] end, host = function(t) return t:sum() end }
expect.error(function() th.liar(x) end, "liar: result 1 of its kernel is float32[], the op's meta says float32[3]")
expect.error(function() th.compile(th.liar)(x) end, "liar: result 1 of its kernel is float32[], the op's meta says float32[3]")
th.op { schema = "nobody(tensor x) -> tensor", meta = function(o) return o.inputs[1] end }
expect.error(function() th.nobody(x) end, "nobody: it has no kernel for the CPU")
expect.error(function() th.compile(th.nobody)(x) end, "nobody: no executor takes it", "host")
for _, stops in ipairs { false, true } do
  local name = stops and "mine_stops" or "mine_opaque"
  th.op { schema = name .. "(tensor x) -> tensor", meta = function(o) return o.inputs[1] end, host = function(t) return t * 2 end, not_differentiable = stops }
  local function loss(a) return (th[name](a) * a):sum() end
  for _, way in ipairs { th.grad(loss), th.compile(th.grad(loss)) } do
    if stops then expect.values(way(x), { 2, 4, 6 }) else expect.error(function() way(x) end, "mine_opaque: a gradient passes through this op, which has no vjp") end
  end
end
th.op { schema = "broken(tensor x) -> tensor", decompose = function(t) return t + nil end }
expect.error(function() th.broken(x) end, "extend.lua:", "add: argument 'other' is missing")
th.op { schema = "many(tensor x) -> tensor", decompose = function(t) return t, t end }
expect.error(function() th.many(x) end, "many: its decomposition gives 2 results, its schema 1")
th.op { schema = "captures(tensor x) -> tensor", decompose = function(t) return t + x end }
expect.error(function() th.captures(x) end, "uses a tensor that it was not given; make it an argument")
expect.error(function() th.op { schema = "liar(tensor x) -> tensor", decompose = function(t) return t end } end, "op 'liar' is already registered")
expect.error(function() th.op { decompose = print } end, "op: 'schema' is missing")
expect.error(function() th.op { schema = "f(tensor x) -> tensor", decomposes = print } end, "op has no field 'decomposes' (did you mean 'decompose'?)")
expect.error(function() th.op { schema = "f(tensor x) -> tensor", host = 3 } end, "op 'f': 'host' must be a function, got an integer")
expect.error(function() th.op { schema = "f(tensr x) -> tensor", meta = print } end, "unknown kind 'tensr'")

-- ---- executors ----

local calls = {}
th.executor {
  name = "mine",
  ops = {
    gelu = function(t, approximate)
      calls[#calls + 1] = approximate
      return t * 100
    end,
    softmax = {
      checker = function(o) return o.inputs[1].shape[1] == 2 and o.args.dim == -1 end,
      prepare = function(o)
        local size = o.inputs[1].shape[2]
        return function(t) return th.full({ 2, size }, 1 / size) end
      end,
    },
  },
}
local k = th.compile(function(a) return th.gelu(a, "tanh") end, { executors = { "mine" } })
expect.values(k(x), { 100, 200, 300 })
assert(calls[1] == "tanh" and last_text(k):find "by mine")
-- A checker that says no: the next one takes it, or its decomposition.
local s = th.compile(function(a) return th.softmax(a, -1) end, { executors = "mine" })
expect.values(s(th.tensor { { 1.0, 7.0 }, { 2.0, 2.0 } }), { { 0.5, 0.5 }, { 0.5, 0.5 } })
assert(last_text(s):find("by mine", 1, true))
expect.values(s(th.tensor { { 3.0, 3.0 } }), { { 0.5, 0.5 } })
assert(not last_text(s):find("by mine", 1, true))

-- For one compile only, and asked first; one op in a line.
local adhoc = th.executor { name = "adhoc", register = false, ops = { relu = function(t) return t * 7 end } }
local r = th.compile(th.relu, { executors = { adhoc, "fusion" } })
expect.values(r(x), { 7, 14, 21 })
expect.error(function() th.compile(th.relu, { executors = "adhoc" }) end, "unknown executor 'adhoc'")
th.single_op_executor("one", "relu", function(t) return t * 9 end, function(o) return #o.inputs[1].shape == 1 end)
expect.values(th.compile(th.relu, { executors = "one" })(x), { 9, 18, 27 })

-- Built-in ones that can run nothing here say why, and cannot be asked for.
for _, row in ipairs(th.unavailable_executors()) do
  assert(#row.why > 0)
  if not row.name:match "^fusion" then -- it is looked for when it is needed, and then declines
    expect.error(function() th.compile(th.relu, { executors = row.name })(x) end, row.name .. " is not available here")
  end
end

-- A number in the place of a tensor is an argument of the line.
local adds = th.executor { name = "adds", register = false, ops = { add = function(t, other) return t * other end } }
expect.values(th.compile(function(a) return th.add(a, 2.0) end, { executors = { adds } })(x), { 2, 4, 6 })

-- Its own op in place of a line, before gradients are taken: forward and backward are a pair.
th.op {
  schema = "mine.tanh(tensor x) -> tensor",
  meta = function(o) return o.inputs[1] end,
  host = function(t) return t:tanh() end,
  vjp = function(ctx, g) return th.mine.tanh_backward(ctx.results[1], g) end,
}
th.op {
  schema = "mine.tanh_backward(tensor y, tensor g) -> tensor",
  meta = function(o) return o.inputs[1] end,
  host = function(result, cotangent) return cotangent * 1000 end,
}
local pair = th.executor {
  name = "pair", register = false,
  ops = { tanh = { checker = function(o) return o.inputs[1].dtype == th.float32 end,
    execution_transform = function(o, t) return th.mine.tanh(t) end, run = function(t) return t end } },
}
local tanh_gradient = th.compile(th.grad(function(a) return a:tanh():sum() end), { executors = { pair } })
expect.values(tanh_gradient(x), { 1000, 1000, 1000 })
assert(last_text(tanh_gradient):find("mine.tanh_backward", 1, true) and stage(tanh_gradient, "transform"))

-- A fusion executor gets the lines that it claims, and gives regions.
local regions = 0
local fusing = th.executor {
  name = "fusing", register = false,
  claim = function(o) return o.op == "prims.add" or o.op == "prims.mul" end,
  claim_region = function(lines)
    local taken = {}
    for i, line in ipairs(lines) do
      if #line.outputs[1].shape == 1 then taken[#taken + 1] = i end
    end
    return taken
  end,
  prepare = function(region)
    if region.op ~= "region" then return nil end -- alone: the next executor has it
    regions = regions + 1
    return function(...)
      local values = {}
      for i, value in ipairs(region.input_values) do values[value] = (select(i, ...)) end
      for _, line in ipairs(region.lines) do
        local a, b = values[line.input_values[1]], values[line.input_values[2]]
        values[line.output_values[1]] = line.op == "prims.add" and a + b or a * b
      end
      local results = {}
      for i, value in ipairs(region.output_values) do results[i] = values[value] end
      return table.unpack(results)
    end
  end,
}
local fused = th.compile(function(a, b) return (a + b) * b + a end, { executors = { fusing, "host" } })
expect.values(fused(x, x), { 3, 10, 21 })
assert(regions == 1 and last_text(fused):find("region t%[%d+%] by fusing"))

-- Refusal, failure when compiling, failure when running.
local refuses = th.executor { name = "refuses", register = false, ops = { exp = { prepare = function() return nil end } } }
expect.values(th.compile(th.exp, { executors = { refuses } })(th.zeros(2)), { 1, 1 }, 1e-6)
local function with_executor(spec)
  spec.name, spec.register = "fails", false
  return function() return th.compile(function(a) return th.exp(a) * 2 end, { executors = { th.executor(spec) } })(x) end
end
local function always() return true end
for message, spec in pairs {
  ["extend.lua:%d+: no licence"] = { ops = { exp = { prepare = function() error "no licence" end } } },
  ["executor 'fails': its prepare gives an integer for exp, not a function"] = { ops = { exp = { prepare = function() return 3 end } } },
  ["extend.lua:%d+: attempt to index a nil value %(field 'nothing'%)"] = { ops = { exp = { checker = function(o) return o.nothing.there end, run = th.exp } } },
  ["extend.lua:%d+: not this region"] = { claim = always, claim_region = function() error "not this region" end, prepare = print },
  ["executor 'fails': its claim_region gives '7'; it must be positions from 1 to 2, as a list"] = { claim = always, claim_region = function() return { 7 } end, prepare = print },
  ["executor 'fails': its claim_region gives 'one';"] = { claim = always, claim_region = function() return { "one" } end, prepare = print },
  ["executor 'fails': its claim_region gives 'true';"] = { claim = always, claim_region = always, prepare = print },
  ["extend.lua:%d+: no other"] = { ops = { exp = { execution_transform = function() error "no other" end, run = th.exp } } },
  ["extend.lua:%d+: the execution transform of executor 'fails' for exp: result 1 is f32%[%], the op's is f32%[3%]"] = { ops = { exp = { execution_transform = function(_, t) return t:sum() end } } },
  ["extend.lua:%d+: out of order"] = { ops = { exp = function() error "out of order" end } },
  ["exp: its kernel gives 2 results, the op has 1"] = { ops = { exp = function(t) return t, t end } },
  ["exp: result 1 of its kernel must be a tensor, got a string"] = { ops = { exp = tostring } },
} do
  local ok, said = pcall(with_executor(spec))
  assert(not ok and said:find(message), said)
end
local throws = th.executor { name = "throws", register = false, ops = { exp = function() error { code = 7 } end } }
local ok, raised = pcall(th.compile(th.exp, { executors = { throws } }), x)
assert(not ok and raised.code == 7) -- the script's own error object
local misshapes = th.executor { name = "misshapes", register = false, ops = { exp = function(t) return t:sum() end } }
expect.error(function() th.compile(th.exp, { executors = { misshapes } })(x) end, "exp: result 1 of its kernel is float32[]", "float32[3]")
expect.error(function() th.executor { name = "e", ops = { gelo = print } } end, "executor 'e': unknown op 'gelo' (did you mean 'gelu'?)")
expect.error(function() th.executor { name = "mine", ops = { gelu = print } } end, "executor 'mine' is already registered")
expect.error(function() th.executor { name = "e" } end, "'e' has neither ops nor claim")
expect.error(function() th.executor { name = "e", ops = { gelu = { runs = print } } } end, "has no field 'runs' (did you mean 'run'?)")

-- ---- passes ----

local faster = th.pass { name = "faster_rsqrt", register = false, after = "grad", rules = { "div(a, sqrt(b)) -> mul(a, rsqrt(b)) if b.rank > 0" } }
local function ratio(a) return a / th.sqrt(a + 1) end
local q = th.compile(ratio, { passes = { faster } })
expect.values(q(th.tensor { 3.0, 8.0 }), { 1.5, 8 / 3 }, 1e-6)
assert(stage(q, "faster_rsqrt"):find("rsqrt", 1, true))
q(th.tensor(3.0))
assert(not stage(q, "faster_rsqrt"))

-- A function over the trace: replace, insert before and after, delete.
local seen = {}
local edit = th.pass {
  name = "edit", register = false, before = "grad",
  run = function(trace)
    for _, line in ipairs(trace) do
      seen[#seen + 1] = line.op
      if line.op == "sqrt" then
        line:replace(function(a) return a:rsqrt() * a end)
      elseif line.op == "exp" then
        line:insert_before(function(a) return a * 2 end)
        local logarithm = line:insert_after(function(e) return e:log() end)
        assert(th.is_tensor(logarithm) and line.where:find "extend.lua")
      end
    end
  end,
}
local e = th.compile(function(a) return th.sqrt(a) + th.exp(a) end, { passes = { edit }, verify = true })
expect.values(e(th.tensor { 4.0 }), { 2 + math.exp(4) }, 1e-4)
assert(table.concat(seen, " ") == "sqrt exp add" and stage(e, "edit"):find("rsqrt", 1, true))
assert(not stage(e, "edit"):find("log(", 1, true)) -- nothing reads it

local function with(run) return function() return th.compile(function(a) return th.exp(a) * 2 end, { passes = { th.pass { name = "wrong", register = false, run = run } } })(x) end end
expect.error(with(function(t) t[1]:delete() end), "pass 'wrong': line 0, t[1] = exp(i[1]), is removed, but mul reads its result")
expect.error(with(function(t) t[1]:replace(function(a) return a:sum() end) end), "f32[3]", "f32[]")
expect.error(with(function(t) t[1]:insert_before(function() return select(2, pcall(t[1].delete, t[1])), t[1]:replace(function(a) return a end) end) end), "is replaced twice")
expect.error(with(function() error "on purpose" end), "on purpose")
expect.error(with(function(t) t[1]:replac() end), "a line has no member 'replac' (did you mean 'replace'?)")
local kept
with(function(t) kept = t[1] end)()
expect.error(function() kept:delete() end, "a trace being edited was used after it had been closed")
expect.error(function() th.pass { name = "p", rules = { "exp(a) -> b" } } end, "pass 'p', rule \"exp(a) -> b\"", "'b' does not occur on the left")
expect.error(function() th.pass { name = "p", after = "nowhere", rules = { "exp(a) -> exp(a)" } } end, "unknown pass 'nowhere'")

-- A registered one is part of every compile, listed, and can be left out.
-- A rule does not see what it made itself.
th.pass { name = "halve_exp", rules = { "exp(a) -> exp(mul(a, 0.5))" }, after = "transform" }
expect.values(th.compile(th.exp)(th.tensor { 0.0, 2.0 }), { 1, math.exp(1) }, 1e-6)
expect.values(th.compile(th.exp, { disable_passes = { "halve_exp" } })(th.tensor { 0.0, 2.0 }), { 1, math.exp(2) }, 1e-6)
local undone = th.pass { name = "undone", register = false, rules = { "neg(neg(x)) -> x", "exp(a) -> exp(add(a, a))" } }
expect.values(th.compile(function(x) return th.neg(th.neg(th.exp(x))) end, { passes = { undone }, disable_passes = { "halve_exp" } })(th.tensor { 1.0 }), { math.exp(2) }, 1e-5)
local names = {}
for i, pass in ipairs(th.passes()) do names[pass.name] = i end
assert(names.halve_exp and names.grad and names.claim)
