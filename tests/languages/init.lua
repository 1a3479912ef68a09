-- Every function of nn.init with one seed, all elements in full: what init.py must print, too.
local th = require "thunder"
local calls = {
  { "uniform_", -2.0, 3.0 }, { "normal_", 1.0, 0.5 }, { "trunc_normal_" }, { "trunc_normal_", 0.0, 1.0, 4.0, 5.0 }, { "eye_" },
  { "orthogonal_", 2.0 }, { "xavier_uniform_" }, { "xavier_normal_" }, { "kaiming_uniform_", 0.5 }, { "kaiming_normal_", 0.0, "fan_out", "relu" },
  { "constant_", 2.5 }, { "ones_" }, { "zeros_" },
}
th.seed(7)
for _, call in ipairs(calls) do
  local w = th.nn.init[call[1]](th.zeros(3, 4), table.unpack(call, 2))
  local words = { call[1] }
  for _, row in ipairs(w:tolist()) do
    for _, value in ipairs(row) do words[#words + 1] = ("%.17g"):format(value) end
  end
  print(table.concat(words, " "))
end
