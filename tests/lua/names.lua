-- Unknown names: the nearest one where one is near, all where they are few, and never what has nothing in common.
local th = require "thunder"
local expect = require "support.expect"
local nn, optim = th.nn, th.optim

local function message(f) return tostring(select(2, pcall(f))):match("^[^\n]*") end

expect.error(function() return th.sotfmax end, "no op or function 'sotfmax' (did you mean 'softmax'?)")
expect.error(function() return nn.Lnear end, "'Lnear' (did you mean 'Linear'?)")
expect.error(function() return nn.functional.rleu end, "nn.functional has no function 'rleu' (did you mean 'relu'?)")
expect.error(function() return optim.SparseAdam end, "'SparseAdam'", "not in libthunder")
expect.error(function() return optim.lr_scheduler.StepLr end, "optim.lr_scheduler", "(did you mean 'StepLR'?)")
expect.error(function() return th.ones(2).shpae end, "'shpae' (did you mean 'shape'?)")
expect.error(function() nn.Linear(2, 3).wieght = nil; return nn.Linear(2, 3).wieght end, "this Linear has no member 'wieght' (did you mean 'weight'?)")
expect.error(function() optim.SGD(nn.Linear(2, 3), { learning_rate = 1 }) end, "SGD: unknown option 'learning_rate'")
for _, f in ipairs {
  function() return th.ones(2).foo end,
  function() return th.xyz end,
  function() return nn.Linear(2, 3).foo end,
} do
  assert(not message(f):find("did you mean"), message(f))
end

-- What PyTorch has and libthunder has not is said, with what to use where there is something.
expect.error(function() return th.polar end, "PyTorch's 'polar' is not in libthunder")
expect.error(function() return th.frobenius_norm end, "PyTorch's 'frobenius_norm' is not in libthunder; instead: norm")
expect.error(function() return nn.RNNBase end, "PyTorch's 'RNNBase' is not in libthunder; instead: RNN, LSTM and GRU")
expect.error(function() return optim.SparseAdam end, "PyTorch's 'SparseAdam' is not in libthunder; instead: Adam")
expect.error(function() th.ones(1):backward() end, "PyTorch's 'backward'", "instead: grad_of(loss, parameters)")
expect.error(function() th.tensor({ 1 }, "complex64") end, "PyTorch's 'complex64' is not in libthunder")
assert(tostring(nn.ReLU { inplace = true }) == "ReLU(inplace=True)")

-- NumPy's names for dim and keepdim, as PyTorch takes them; lists too.
local x = th.tensor { { 1.0, 2.0 }, { 3.0, 4.0 } }
expect.values(x:sum { axis = 0 }, { 4, 6 })
expect.values(x:sum { axis = { 0, 1 }, keepdims = true }, { { 10 } })
expect.values(th.softmax(th.zeros(2), { axis = 0 }), { 0.5, 0.5 })
expect.error(function() x:sum { dim = 0, axis = 0 } end, "argument 'dim' is given twice")
expect.error(function() x:sum { axes = { 0, 1 } } end, "sum: unknown argument 'axes'")
