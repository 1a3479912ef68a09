-- th.func: transforms of Lua functions, eager, compiled and composed; checkpoints.
-- covers: bindings/lua/transform.c
local th = require "thunder"
local expect = require "support.expect"
local func = th.func

local x, y = th.tensor { { 1.0, 2.0 }, { 3.0, 4.0 }, { 5.0, 6.0 } }, th.tensor { 10.0, 20.0 }


-- vmap is a loop over the batch, of one argument or all, and puts the dim where it is asked to.
expect.values(func.vmap(function(v) return v:sum() end)(x), { 3, 7, 11 })
expect.values(func.vmap(function(v, w) return v * w end, { 0, false })(x, y), { { 10, 40 }, { 30, 80 }, { 50, 120 } })
expect.values(func.vmap(function(v) return v end, 1, 1)(x), x:tolist())
expect.values(th.compile(function(a, b) return func.vmap(function(v) return (v * b):sum() end)(a) end)(x, y), { 50, 110, 170 })
local both = func.vmap(function(t) return t.a + t.b[1] end)({ a = x, b = { x } })
expect.values(both, { { 2, 4 }, { 6, 8 }, { 10, 12 } })

-- Gradients of each example, and the gradient of a batch.
local function loss(w, v) return (w * v * v):sum() end
expect.values(func.vmap(function(w, v) return (func.grad(loss)(w, v)) end, { false, 0 })(y, x), { { 1, 4 }, { 9, 16 }, { 25, 36 } })
expect.values(func.grad(function(a) return func.vmap(function(v) return (v * v):sum() end)(a):sum() end)(x), { { 2, 4 }, { 6, 8 }, { 10, 12 } })

-- Forwards and backwards.
local v, dv = func.jvp(function(a) return a * a end, { y }, { th.tensor { 1.0, 0.5 } })
expect.values(v, { 100, 400 })
expect.values(dv, { 20, 20 })
local out, pull = func.vjp(function(a, b) return a * b end, y, y)
expect.values(out, { 100, 400 })
local da, db = pull(th.tensor { 1.0, 2.0 })
expect.values(da, { 10, 40 })
expect.values(db, { 10, 40 })

-- In a compiled function, too; by the arguments of the function alone. The numbers that it draws are drawn once.
local compiled = th.compile(function(a, b) return select(2, func.vjp(function(c) return c * b * a end, a))(th.ones(2)) end)
expect.values(compiled(y, y), { 100, 400 })
local function dropped(a)
  local out, pull = func.vjp(function(c) return th.dropout(c, 0.5, true) * 2 end, a)
  return out, pull(th.ones(64)), th.rand(1)
end
local drawn = {}
for _, f in ipairs { dropped, th.compile(dropped) } do
  th.seed(3)
  local out, grad, after = f(th.ones(64))
  assert(out:sum():item() > 0 and out:sum():item() < 256 and (out - grad):abs():sum():item() == 0)
  drawn[#drawn + 1] = after:item()
end
assert(drawn[1] == drawn[2])
expect.error(function() th.compile(function(a) return select(2, func.vjp(function(c) return c end, a))(th.ones(3)) end)(y) end, "cotangent 1 must be")
expect.error(function() th.compile(function(a) return select(2, func.vjp(function(c) return c end, a))() end)(y) end, "1 cotangents are needed, 0")

-- Jacobians by one argument, and by several.
for _, jacobian in ipairs { func.jacrev, func.jacfwd } do
  expect.values(jacobian(function(a) return a * a end)(y), { { 20, 0 }, { 0, 40 } })
  local blocks = jacobian(function(a, b) return a * b end, { 1, 2 })(y, y)
  expect.values(blocks[2], { { 10, 0 }, { 0, 20 } })
end
expect.values(func.hessian(function(a) return (a * a * a):sum() end)(y), { { 60, 0 }, { 0, 120 } })
expect.values(th.compile(func.hessian(function(a) return (a * a * a):sum() end))(y), { { 60, 0 }, { 0, 120 } })
local g, value = func.grad_and_value(function(a) return (a * a):sum() end)(y)
expect.values(g, { 20, 40 })
expect.values(value, 500)

-- A checkpoint changes no value and no gradient, and shows in the trace as one line.
local function block(a) return (a:tanh() * a):tanh() end
local function with(f) return th.compile(th.value_and_grad(function(a) return f(a):sum() end)) end
local l1, g1 = with(block)(y)
local again = with(th.checkpoint(block))
local l2, g2 = again(y)
expect.same(l1, l2)
expect.values(g2, g1:tolist(), 1e-7)
assert(tostring(th.last_traces(again)[1]):find "checkpoint")
expect.values(th.checkpoint(block)(y), block(y):tolist())

-- Mistakes.
expect.error(function() func.vmap(function(a) return a end)(th.ones { 3 }, th.ones { 4 }) end, "4 examples", "3")
expect.error(function() func.vmap(function(a) return a + th.rand { 2 } end)(x) end, "randomness")
expect.error(function() func.jvp(function(a) return a end, { y }, { x }) end, "tangents 0 must be f32[2]")
expect.error(function() func.vmap(3)(x) end, "a function was expected")
