-- A program that is run with each backend, for tools/sitegen/lists.py.

-- default
local f = th.compile(function(x) return (x * 2):exp() end, { backend = NAME })
local ran, wrong = pcall(f, th.ones(3))
print(ran and th.last_traces(f)[#th.last_traces(f)] or wrong)
