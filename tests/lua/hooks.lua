-- Hooks of a module's forward, buffers that are not saved, and what else of modules is found by path.
-- covers: bindings/lua/module_hooks.lua
local th = require "thunder"
local expect = require "support.expect"
local nn = th.nn

-- Hooks see arguments and output, in order, and replace them, alone and inside of others, eager and compiled.
local net = nn.Sequential(nn.Linear(2, 3), nn.Tanh())
local x, seen = th.ones(1, 2), {}
local plain = net(x):tolist()
local after = net[1]:register_forward_hook(function(module, args, y)
  seen[#seen + 1] = module == net[1] and args[1].shape[2] .. " " .. y.shape[2]
end)
local before = net[1]:register_forward_pre_hook(function(module, args) return args[1] * 0 end)
expect.values(net(x), nn.functional.tanh(net[1].bias:reshape(1, 3)):tolist(), 1e-6)
assert(seen[1] == "2 3")
before:remove()
expect.values(net(x), plain)
local double = net[1]:register_forward_hook(function(_, _, y) return y + 1 end, { prepend = true })
local f = th.compile(net)
expect.values(f(x), nn.functional.tanh(nn.functional.linear(x, net[1].weight, net[1].bias) + 1):tolist(), 1e-6)
double:remove()
expect.values(f(x), plain, 1e-6)
after:remove()

-- A module of one's own, whose forward gives several values and may fail.
local own = nn.Module {}
expect.error(function() own:register_forward_hook(print) end, "needs a forward")
function own:forward(a, fails)
  if fails then error "mine" end
  return a, a * 2
end
local calls = {}
own:register_forward_hook(function(_, _, out)
  calls[#calls + 1] = out and #out or "failed"
  return out and { out[2], out[1] }
end, { always_call = true })
local first, second = own(x)
assert(first[{ 1, 1 }]:item() == 2 and second[{ 1, 1 }]:item() == 1)
expect.error(function() own(x, true) end, "mine")
assert(calls[1] == 2 and calls[2] == "failed")
function own:forward(a) return a, a * 3 end
assert(own(x)[{ 1, 1 }]:item() == 3, "the hook stays around a new forward")
local copy = own:deepcopy()
assert(copy(x)[{ 1, 1 }]:item() == 3)
expect.error(function() own:register_forward_hook(3) end, "a hook must be a function, got an integer")

-- Gradients pass hooks, on tapes and in compiled functions.
local deep = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
local params = deep:parameters()
local function gradients() return th.grad_of(deep(x):sum(), params) end
local function values_of(list)
  local out = {}
  for path, g in pairs(list) do out[path] = g:tolist() end
  return out
end
local usual, passed = values_of(th.tape(gradients)), {}
local watch = deep[3]:register_full_backward_hook(function(module, inputs, outputs)
  passed[#passed + 1] = { module == deep[3], inputs[1] and inputs[1]:tolist(), outputs[1]:tolist() }
end)
deep[1]:register_full_backward_hook(function(_, inputs, outputs) passed[#passed + 1] = { #inputs, outputs[1].shape[2] } end)
th.tape(gradients)
assert(passed[1][1] and passed[1][3][1][1] == 1 and passed[2][1] == 0 and passed[2][2] == 3)
expect.values(th.tensor(passed[1][2]), deep[3].weight:tolist())
watch:remove()
for _, take in ipairs { function() return th.tape(gradients) end, th.compile(gradients) } do
  local twice = deep[3]:register_full_backward_pre_hook(function(_, outputs) return outputs[1] * 2 end)
  local stop = deep[3]:register_full_backward_hook(function(_, inputs) return inputs[1] * 0 end)
  local changed = values_of(take())
  expect.values(th.tensor(changed["2.bias"]), { usual["2.bias"][1] * 2 }, 1e-6)
  expect.values(th.tensor(changed["0.bias"]), { 0, 0, 0 })
  twice:remove()
  stop:remove()
  expect.values(th.tensor(values_of(take())["0.bias"]), usual["0.bias"], 1e-6)
end

-- Buffers that are not saved.
local rotary = nn.Module { fc = nn.Linear(2, 2), norm = nn.BatchNorm1d(2) }
rotary:register_buffer("inv_freq", th.ones(2), false)
rotary:register_buffer("seen", th.zeros(1))
local state = rotary:state_dict()
assert(state.seen and not state.inv_freq and rotary.inv_freq:numel() == 2)
local names = {}
for path in rotary:named_buffers() do names[#names + 1] = path end
assert(table.concat(names, " ") == "inv_freq seen norm.running_mean norm.running_var norm.num_batches_tracked", table.concat(names, " "))
rotary.inv_freq = th.zeros(2)
assert(not rotary:state_dict().inv_freq and not rotary:parameters().inv_freq)
state["norm.num_batches_tracked"] = nil
local missing, unexpected = rotary:load_state_dict(state)
assert(#missing == 0 and #unexpected == 0)
state.extra, state.seen = th.ones(1), nil
expect.error(function() rotary:load_state_dict(state) end, "extra", "seen")
missing, unexpected = rotary:load_state_dict(state, false)
assert(missing[1] == "seen" and unexpected[1] == "extra")

-- By path.
assert(rotary:get_submodule "fc" == rotary.fc and rotary:get_parameter "fc.weight":numel() == 4)
assert(rotary:get_buffer "inv_freq":numel() == 2 and #rotary:modules() == 3)
expect.error(function() rotary:get_buffer "inv_frek" end, "no buffer 'inv_frek'", "inv_freq")
expect.error(function() rotary:requires_grad_(false) end, "th.grad_of")

-- What dtypes are like.
assert(th.finfo(th.float16).max == 65504 and th.finfo().eps == 2.0 ^ -23 and th.finfo(th.bfloat16).bits == 16)
assert(th.iinfo(th.int8).min == -128 and th.iinfo(th.int64).max == math.maxinteger)
assert(th.promote_types(th.float16, th.bfloat16) == th.float32 and not th.can_cast(th.float32, th.int32))
assert(th.result_type(th.ones(2, { dtype = th.int32 }), 1.5) == th.float32)
expect.error(function() th.finfo(th.int32) end, "takes a real dtype, got int32")
expect.error(function() th.iinfo(th.float32) end, "takes a dtype of integers, got float32")
expect.error(function() th.promote_types(th.uint16, th.int32) end, "uint16, uint32 and uint64")
