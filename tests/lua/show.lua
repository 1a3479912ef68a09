-- What people see of values, and help.
local th = require "thunder"
local expect = require "support.expect"
local nn, optim = th.nn, th.optim

-- Modules with their options, optimisers with their groups, schedules with where they are.
local net = nn.Sequential(nn.Linear(2, 3), nn.Dropout(0.25))
assert(tostring(net) == "Sequential(\n  (0): Linear(in_features=2, out_features=3, bias=True)\n  (1): Dropout(p=0.25)\n)")
local opt = optim.SGD(net, 0.5)
assert(tostring(opt):find("SGD %(\nParameter Group 0\n    lr: 0.5\n    momentum: 0.0\n"))
assert(tostring(optim.StepLR(opt, 3)) == "StepLR: step 0, lr 0.5")

-- Compiled functions tell where they come from and what they did.
local f = th.compile(function(x) return x + 1 end)
f(th.ones(2))
f(th.ones(2))
assert(tostring(f):match("^compiled function .*show.lua:14: 2 calls, 1 programs$"), tostring(f))

-- Lists of ops, one op, the tables that hold others.
assert(#th.ops("LOG_SOFTM") == 1 and #th.ops() > 80)
assert(tostring(th.ops("soft")):find("\nsoftmax(tensor input, int dim", 1, true))
assert(tostring(th.ops("log_soft")[1]):find("^log_softmax"))
assert(tostring(th):find("^libthunder") and tostring(nn):find("Linear") and tostring(optim):find("AdamW"))
assert(th.repr(th.softmax):find("^softmax%(tensor input") and th.repr(nn.Linear):find("^nn.Linear%(int in_features"))
assert(th.repr(optim.AdamW):find("^optim.AdamW%(lr=0.001"))

-- Tables as they would be written; long ones on lines of their own, what holds itself and what is deep cut short.
assert(th.repr { 1, 2.5, "x", a = { b = true }, ["c d"] = 1 } == '{1, 2.5, "x", a = {b = true}, ["c d"] = 1}')
assert(th.repr "text" == "text" and th.repr(nil) == "nil" and th.repr {} == "{}")
local loop = {}
loop[1] = loop
assert(th.repr(loop) == "{{...}}")
local long = {}
for i = 1, 200 do long[i] = i end
assert(th.repr(long):find("... 140 more", 1, true))
assert(th.repr { w = th.ones(2) } == "{w = tensor([1., 1.])}")
assert(th.repr { th.eye(2) } == "{\n  tensor([[1., 0.],\n          [0., 1.]])\n}")

-- Help by value, by name in any case, and about nothing in particular.
assert(th.help():find("th.compile", 1, true))
assert(th.help(th.relu):find("^relu%(tensor input%)"))
local about = th.help "LINEAR"
for _, piece in ipairs { "\nlinear(tensor", "nn.Linear(", "optim.LinearLR(start_factor" } do assert(("\n" .. about):find(piece, 1, true)) end
assert(th.help("nn.Conv2d"):find("nn.Conv2d(int in_channels", 1, true))
assert(th.help("freezing"):find("^option of th.compile: freezing = false"))
expect.error(function() th.help "softmaks" end, "show.lua:", "nothing has 'softmaks' in its name (did you mean 'softmax'?)")

-- A traceback for xpcall: the script's lines alone, and once.
local ok, message = xpcall(function() return th.ones(2).foo end, th.traceback)
assert(not ok and message:find("no member 'foo'") and not message:find("thunder.tensor", 1, true), message)
assert(select(2, message:gsub("stack traceback:", "")) == 1)
local object = {}
assert(select(2, xpcall(error, th.traceback, object)) == object)

-- Of a high stack both ends are shown, soon.
local function deeper(n) return 1 + deeper(n + 1) end
local started = os.clock()
local _, overflow = xpcall(deeper, th.traceback, 0)
assert(overflow:find("stack overflow") and overflow:find("\n\t...\n", 1, true) and overflow:find("in main chunk"), overflow)
assert(select(2, overflow:gsub("\n", "")) < 40 and os.clock() - started < 10)
