-- Gradients: on a tape, inside compiled functions, as a transform; eager and compiled agree.
local th = require "thunder"
local expect = require "support.expect"

local x, w = th.tensor { 1.0, 2.0, 3.0 }, th.tensor { 0.5, -1.0, 2.0 }
local function loss_of(a, b) return (a * a * b):sum() end

-- On a tape, in the structure of wrt.
local loss, grads = th.tape(function()
  local l = loss_of(x, w)
  return l, th.grad_of(l, { x = x, list = { w } })
end)
expect.values(loss, 0.5 - 4 + 18)
expect.values(grads.x, { 1, -4, 12 })
expect.values(grads.list[1], { 1, 4, 9 })

-- As a transform: it returns a function; compiled it gives the same.
local eager = th.value_and_grad(loss_of)
local compiled = th.compile(th.value_and_grad(loss_of))
for _, f in ipairs { eager, compiled } do
  local l, gx, gw = f(x, w)
  expect.values(l, 14.5)
  expect.values(gx, { 1, -4, 12 })
  expect.values(gw, { 1, 4, 9 })
end
local _, only = th.value_and_grad(function(a) return loss_of(a, w) end, { w = w })(x)
expect.values(only.w, { 1, 4, 9 })
expect.values(th.grad(function(a) return (a * a):sum() end)(x), { 2, 4, 6 })

-- One tensor in two places, or captured as well, has a gradient for each place.
local placed = th.grad(function(a, b) return (a * b.v[1] * b.v[1]):sum() end)
local function twice(a) return placed(a, { v = { a } }) end
for _, f in ipairs { twice, th.compile(twice) } do
  local first, second = f(x)
  expect.values(first, { 1, 4, 9 })
  expect.values(second.v[1], { 2, 8, 18 })
end
expect.values(th.grad(function(a) return (a * x):sum() end)(x), { 1, 2, 3 })

-- A compiled function on a tape is a program with a backward.
local program = th.compile(loss_of)
expect.values(th.tape(function() return th.grad_of(program(x, w), { x })[1] end), { 1, -4, 12 })
assert(tostring(th.last_backward_traces(program)[1]):find("backward(", 1, true))
assert(#th.last_traces(program) > 1 and th.stats(program).misses == 1)

-- The gradient of a gradient.
local second = th.grad(function(a) return (th.grad(function(b) return (b * b * b):sum() end)(a)):sum() end)
expect.values(second(x), { 6, 12, 18 })
expect.values(th.compile(second)(x), { 6, 12, 18 })

-- A wrt that the loss does not reach gives zeros; integers and detached values get none.
expect.values(th.tape(function() return th.grad_of((x * 2):sum(), w) end), { 0, 0, 0 })
expect.values(th.grad(function(a) return (a * a:detach()):sum() end)(x), { 1, 2, 3 })

-- Mistakes.
expect.error(function() th.grad(function(a) return a * 2 end)(x) end, "grad")
expect.error(function() th.value_and_grad(function() return 3 end)(x) end, "must return its loss")

-- A training step as one program: the parameter is written in place.
local p, lr = th.tensor { 4.0, -2.0 }, th.tensor(0.25)
local step = th.compile(function(target)
  local l = ((p - target) ^ 2):sum()
  p:sub_(th.grad_of(l, p) * lr)
  return l
end)
local target = th.tensor { 0.0, 0.0 }
expect.values(step(target), 20)
expect.values(p, { 2, -1 })
expect.values(step(target), 5)
lr:fill_(0.5)
step(target)
expect.values(p, { 0, 0 })
assert(th.stats(step).misses == 1, "a tensor's data is no part of the key")

-- Positions of arguments, which count from 1; what is no tensor has no gradient.
local two = function(a, b) return (a * a * b):sum() end
local p, q = th.tensor { 1.0, 2.0 }, th.tensor { 3.0, 4.0 }
for _, wrap in ipairs { function(f) return f end, th.compile } do
  expect.values(wrap(th.grad(two, 2))(p, q), { 1, 4 })
  local value, by_second, by_first = wrap(th.value_and_grad(two, { 2, 1 }))(p, q)
  assert(value:item() == 19)
  expect.values(by_second, { 1, 4 })
  expect.values(by_first, { 6, 16 })
end
expect.values(th.grad(function(t, n) return (t.w * t.w * n):sum() end, 1)({ w = p }, 2).w, { 4, 8 })
expect.error(function() th.grad(two, 3)(p, q) end, "grad: wrt names argument 3, there are 2: they count from 1")
expect.error(function() th.grad(two, 0)(p, q) end, "grad: wrt names argument 0")
expect.error(function() th.grad(two, 2)(p, 3) end, "grad: argument 2, which wrt names, has no float tensors")
expect.error(function() th.grad(two, { a = 1 })(p, q) end, "grad: '0.a' of wrt is no tensor")
expect.error(function() th.tape(function() return th.grad_of(two(p, q), { p, "q" }) end) end, "grad: '0.1' of wrt is no tensor")

-- What draws advances the random state, on tapes and in functions of gradients as well.
local ones = th.ones(64)
local function dropped(a) return th.dropout(a, 0.5, true):sum() end
th.seed(5)
local wanted = {}
for i = 1, 3 do wanted[i] = dropped(ones):item() end
for name, value in pairs {
  tape = function() return th.tape(function() return dropped(ones) end) end, value_and_grad = function() return (th.value_and_grad(dropped)(ones)) end,
  grad_and_value = function() return select(2, th.func.grad_and_value(dropped)(ones)) end, vjp = function() return (th.func.vjp(dropped, ones)) end,
  checkpoint = function() return (th.value_and_grad(th.checkpoint(dropped))(ones)) end,
  compiled = function() return (th.compile(th.value_and_grad(dropped))(ones)) end,
} do
  th.seed(5)
  for i = 1, 3 do assert(value():item() == wanted[i], name) end
  assert(th.random_state()[2]:item() == 3, name)
end
