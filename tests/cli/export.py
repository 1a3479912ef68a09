"""export.py THUNDER CC [VALGRIND]: programs that were exported as C and compiled by CC compute what the library does, are small, and
VALGRIND finds nothing in them."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

THUNDER, CC = sys.argv[1:3]
VALGRIND = sys.argv[3] if len(sys.argv) > 3 else ""
EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"

MLP = """local th = require "thunder"
local nn = th.nn
th.seed(1)
local net = nn.Sequential(nn.Flatten(), nn.Linear(64, 256), nn.ReLU(), nn.Dropout(0.2), nn.Linear(256, 10))
net:eval()
local f = th.compile(function(x) return net(x) end)
local x = th.rand(3, 8, 8)
show(x) show(f(x))
th.save_program(f, "digits.thunder")
"""

# A step reads one token at one position, and keeps its key and value.
GPT = f"""package.path = "{EXAMPLES}/?.lua;" .. package.path
local th = require "thunder"
th.seed(1)
local attend, model = require "text.attend", require "gpt2.model"
local config = {{ layers = 2, width = 64, heads = 4, context = 16, vocabulary = 96 }}
local net = model.make(config)
net:eval()
local cache = attend.cache(config, th.ones(1))
local step = th.compile(function(tokens, positions) return net(tokens, positions, cache):flatten() end, {{ dynamic = false }})
local function at(token, position) return step(th.tensor {{ {{ token }} }}, th.tensor {{ position }}) end
at(0, 0)
for _, part in ipairs {{ cache.keys, cache.values }} do
  for _, tensor in ipairs(part) do tensor:zero_() end
end
th.save_program(step, "gpt.thunder")
for i, token in ipairs {{ 5, 17, 95, 0, 42 }} do show(at(token, i - 1)) end
"""

# Kernels alone, which read, reduce and are refused; one of their results is an index.
KERNELS = """local th = require "thunder"
th.seed(1)
local table_ = th.randn(9, 40)
local f = th.compile(function(x, rows) return th.softmax(th.tanh(x) * 3, 1), table_:index_select(0, rows), x:argmax(1), x:sum(0), (x * 2):sum(), x[{ {}, { 2, 4 } }] end)
local x, rows = th.randn(5, 33), th.tensor { 8, 0 }
local y, z, best, columns, all, part = f(x, rows)
show(x) show(y) show(z) show(columns) show(all) show(part)
th.save_program(f, "kernels.thunder")
"""

# Convolutions, pools and attention, forward and backward.
CNN = """local th = require "thunder"
local nn = th.nn
th.seed(1)
local net = nn.Sequential(nn.Conv2d(2, 4, 3, { stride = 2, padding = 1 }), nn.ReLU(), nn.MaxPool2d(3, { stride = 2, padding = 1 }),
                          nn.Conv2d(4, 6, 3, { groups = 2, dilation = 2, padding = 2 }))
local parameters = net:parameters()
local f = th.compile(function(x)
  local y = net(x)
  local rows = y:flatten(2)
  local mixed = th.scaled_dot_product_attention(rows, rows, rows)
  local gradients = th.grad_of((mixed * mixed):sum(), { parameters["0.weight"], parameters["3.weight"], x })
  return y, mixed, gradients[1], gradients[2], gradients[3]
end)
local x = th.randn(3, 2, 13, 11)
show(x)
for _, made in ipairs { f(x) } do show(made) end
th.save_program(f, "cnn.thunder")
"""

# Each call draws other numbers, the same ones for the same seed.
RANDOM = """local th = require "thunder"
local f = th.compile(function(x) return th.dropout(x, 0.5, true), th.randn(3, 7), th.rand(5), th.randint(-3, 1000, { 9 }):to(th.float32) end)
local x = th.ones(4, 10)
f(x)
th.save_program(f, "random.thunder")
th.seed(42)
for _ = 1, 2 do
  for _, made in ipairs { f(x) } do show(made) end
end
"""

SHOW = """function show(x)
  local out = {}
  for _, number in ipairs(x:flatten():tolist()) do out[#out + 1] = ("%a"):format(number) end
  print(table.concat(out, " "))
end
"""


def run(*words, folder, code=0):
    done = subprocess.run([str(word) for word in words], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == code, done
    return done


def saved(folder, text):
    """What a script shows, a list of numbers a line, once it has saved its program."""
    (folder / "save.lua").write_text(SHOW + text, encoding="utf-8")
    return [[float.fromhex(word) for word in line.split()] for line in run(THUNDER, "run", "save.lua", folder=folder).stdout.splitlines()]


def exported(folder, name, main, *options, program=None, flags=()):
    """What a program prints that calls the exported function; main is its body."""
    run(THUNDER, "export", "--c", "made", *options, f"{program or name}.thunder", folder=folder)
    made = folder / "made"
    (made / "main.c").write_text(f"""#include <stdio.h>
#include "{name}.h"
static _Alignas(64) unsigned char workspace[{name.upper()}_WORKSPACE_BYTES];
static void show(const float *x, int count) {{ for (int i = 0; i < count; i++) printf("%a%c", (double)x[i], i + 1 < count ? ' ' : '\\n'); }}
int main(void)
{{
{main}
    return 0;
}}
""", encoding="utf-8")
    objects = sorted(file.name for file in made.iterdir() if file.name.startswith(f"{name}_kernel_") or file.suffix == ".S")
    run(CC, "-std=c11", "-O3", *flags, "-Wall", "-Wextra", "-Werror", "main.c", f"{name}.c", *objects, "-o", "app", "-lm", folder=made)
    libraries = run("ldd", "app", folder=made).stdout
    assert "thunder" not in libraries and "LLVM" not in libraries, libraries
    if VALGRIND and "native" not in options and not flags:
        run(VALGRIND, "-q", "--error-exitcode=9", "--leak-check=full", "./app", folder=made)
    return [[float.fromhex(word) for word in line.split()] for line in run("./app", folder=made).stdout.splitlines()], made / "app"


def array(name, numbers, kind="float"):
    return f"    static const {kind} {name}[] = {{ {', '.join(float.hex(n) if kind == 'float' else str(n) for n in numbers)} }};\n"


def near(ours, theirs, tolerance):
    assert len(ours) == len(theirs), (ours, theirs)
    worst = max(abs(a - b) / max(1, abs(b)) for a, b in zip(ours, theirs))
    assert worst <= tolerance, worst


def mlp(folder):
    """Of the digits: under 300 kB with its weights."""
    x, wanted = saved(folder, MLP)
    out, app = exported(folder, "digits", array("x", x) + """    float y[DIGITS_OUT0_ELEMENTS];
    if (digits(x, y, workspace)) return 1;
    show(y, DIGITS_OUT0_ELEMENTS);""")
    near(out[0], wanted, 1e-6)
    assert app.stat().st_size < 300_000, app.stat().st_size
    header = (folder / "made/digits.h").read_text(encoding="utf-8")
    assert "in0: argument 0, f32[3, 8, 8]" in header and "out0: result 0, f32[3, 10]" in header, header


def gpt(folder):
    """A decode step, whose cache is its own; a position that is out of range is refused, and a call after that goes on."""
    wanted = saved(folder, GPT)
    out, _ = exported(folder, "gpt", array("tokens", [5, 17, 95, 0, 42], "int64_t") + """    const int64_t far = 16;
    float y[GPT_OUT0_ELEMENTS];
    for (int64_t position = 0; position < 5; position++) {
        if (gpt(&tokens[position], &far, y, workspace) == 0) return 1;
        if (gpt(&tokens[position], &position, y, workspace)) return 2;
        show(y, GPT_OUT0_ELEMENTS);
    }""")
    assert len(out) == len(wanted) == 5
    for ours, theirs in zip(out, wanted):
        near(ours, theirs, 1e-5)


def kernels(folder):
    """The same machine code gives the same bits; that for another processor is as near as its functions are."""
    x, y, z, *sums = saved(folder, KERNELS)
    main = array("x", x) + """    const int64_t rows[] = { 8, 0 }, none[] = { 8, 9 };
    float y[KERNELS_OUT0_ELEMENTS], z[KERNELS_OUT1_ELEMENTS], columns[33], all, part[KERNELS_OUT5_ELEMENTS];
    int64_t best[KERNELS_OUT2_ELEMENTS];
    if (kernels(x, none, y, z, best, columns, &all, part, workspace) == 0) return 1;
    if (kernels(x, rows, y, z, best, columns, &all, part, workspace)) return 2;
    show(y, KERNELS_OUT0_ELEMENTS);
    show(z, KERNELS_OUT1_ELEMENTS);
    show(columns, 33);
    show(&all, 1);
    show(part, KERNELS_OUT5_ELEMENTS);
    for (int row = 0; row < 5; row++)
        for (int i = 0; i < 33; i++)
            if (x[33 * row + i] > x[33 * row + best[row]]) return 3;"""
    out, _ = exported(folder, "kernels", main, "--cpu", "native")
    assert out == [y, z, *sums]
    out, _ = exported(folder, "kernels", main)
    near(out[0], y, 1e-6)
    assert out[1] == z
    for ours, theirs in zip(out[2:], sums):
        near(ours, theirs, 1e-6)


def cnn(folder):
    """With threads and without, to the same bits."""
    x, *wanted = saved(folder, CNN)
    counts = [f"CNN_OUT{i}_ELEMENTS" for i in range(5)]
    main = array("x", x) + "".join(f"    static float y{i}[{count}];\n" for i, count in enumerate(counts))
    main += "    if (cnn(x, y0, y1, y2, y3, y4, workspace)) return 1;\n"
    main += "".join(f"    show(y{i}, {count});\n" for i, count in enumerate(counts))
    out, _ = exported(folder, "cnn", main)
    assert len(out) == len(wanted) == 5
    for ours, theirs in zip(out, wanted):
        near(ours, theirs, 2e-5)
    if openmp(folder):
        assert exported(folder, "cnn", main, flags=["-fopenmp"])[0] == out


def openmp(folder):
    (folder / "omp.c").write_text("#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }\n", encoding="utf-8")
    return subprocess.run([CC, "-fopenmp", "omp.c", "-o", "omp"], cwd=folder, capture_output=True, check=False).returncode == 0


def random(folder):
    wanted = saved(folder, RANDOM)
    main = array("x", [1.0] * 40) + """    float dropped[40], normal[21], uniform[5], whole[9];
    drawn_seed(42);
    for (int call = 0; call < 2; call++) {
        if (drawn(x, dropped, normal, uniform, whole, workspace)) return 1;
        show(dropped, 40);
        show(normal, 21);
        show(uniform, 5);
        show(whole, 9);
    }"""
    out, _ = exported(folder, "drawn", main, "--name", "drawn", program="random")
    assert len(out) == len(wanted) == 8
    for ours, theirs in zip(out, wanted):
        near(ours, theirs, 1e-6)
    assert out[0] != out[4] and out[1] != out[5]


def refusals(folder):
    """What cannot be written is named by its op and line."""
    text = """local th = require "thunder"
local f = th.compile(function(x) return x:sort() end)
f(th.rand(8, 8))
th.save_program(f, "sort.thunder")
f(th.rand(9, 9))
th.save_program(f, "two.thunder")
"""
    saved(folder, text)
    failed = run(THUNDER, "export", "--c", "none", "sort.thunder", folder=folder, code=1).stderr
    assert re.search(r"export: [\w.]*sort\w* cannot be written as C: .* \[at save.lua:\d+", failed), failed
    assert not (folder / "none").exists()
    assert re.search(r"'two.thunder' holds 2 programs|sizes that vary", run(THUNDER, "export", "--c", "none", "two.thunder", folder=folder, code=1).stderr)
    for words, code, says in ((["sort.thunder"], 2, "export needs --c FOLDER"), (["--c"], 2, "--c needs a value, FOLDER"),
                              (["--c", "d", "--nam", "x", "sort.thunder"], 2, "did you mean '--name'?"),
                              (["--c", "d", "--name", "a-b", "sort.thunder"], 1, "'a-b' is no name of a function in C"),
                              (["--c", "d", "--program", "7", "sort.thunder"], 1, "there is no program 7"),
                              (["--c", "d", "no.thunder"], 1, "no.thunder"), (["--c", "save.lua/d", "digits.thunder"], 1, "save.lua/d")):
        failed = run(THUNDER, "export", *words, folder=folder, code=code).stderr
        assert says in failed, failed


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for part in (mlp, gpt, kernels, cnn, random, refusals):
            part(folder)


if __name__ == "__main__":
    os.environ.pop("LD_PRELOAD", None)
    main()
