"""tool.py THUNDER MAN [HIDE]: what the thunder tool answers, and that its manual page knows the same commands; seen through HIDE
(tests/support/hide_libraries.c) the machine lacks libraries."""
# covers: cli/main.cpp cli/commands.cpp cli/help.cpp cli/inspect.cpp cli/convert.cpp cli/models.cpp cli/output.cpp
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile


def run(*arguments, lines="", **environment):
    return subprocess.run([sys.argv[1], *arguments], input=lines, capture_output=True, text=True, check=False, env={**os.environ, **environment})


def expect(result, code, out="", err=""):
    assert result.returncode == code and out in result.stdout and err in result.stderr, result
    assert bool(result.stdout) == bool(out) and bool(result.stderr) == bool(err), result


def script(text, *arguments):
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as file:
        file.write(text)
        file.flush()
        return run("run", file.name, *arguments)


def version():
    """It names the commit and its date, unless the sources came without git."""
    revision = r" \([0-9a-f]{7,}, \d{4}-\d\d-\d\d\)" if (pathlib.Path(__file__).resolve().parents[2] / ".git").exists() else ""
    for words in (("--version",), ("version",)):
        assert re.fullmatch(rf"thunder \d+\.\d+\.\d+{revision}\n", run(*words).stdout), run(*words)


def doctor():
    """What the doctor says; a row for each thing."""
    found = run("doctor")
    assert (found.returncode, found.stderr) == (0, ""), found
    rows = dict(re.findall(r"^(\w+) +(.+)$", found.stdout, re.MULTILINE))
    assert {"thunder", "processor", "instructions", "threads", "LLVM", "oneDNN", "cache", "executors", "kernel", "caches", "speed"} <= set(rows), rows
    assert "exp(a * b) + a gives the right values" in rows["kernel"], rows
    for folder, says in (("off", "missing: none: THUNDER_CACHE_DIR says so"), ("/proc/none", "missing: /proc/none: it cannot be opened (No such")):
        assert says in run("doctor", THUNDER_CACHE_DIR=folder).stdout, folder
    for words in (("--bogus",), ("--json", "--bogus")):
        expect(run("doctor", *words), 2, err="doctor has no option '--bogus'; there are --engine, --json")
    if len(sys.argv) > 3:
        lacking = run("doctor", LD_AUDIT=sys.argv[3], HIDE_LIBRARIES="libLLVM:libdnnl").stdout
        for says in (r"LLVM +missing: .*libLLVM", r"oneDNN +missing: .*none of libdnnl.so.2, libdnnl.so.3 can be opened", r"fusion +missing: ",
                     r"kernel +missing: .*gives the right values, line by line, by host"):
            assert re.search(says, lacking), (says, lacking)
        assert "fusion" not in re.search("executors +(.*)", lacking)[1], lacking


def ahead(folder):
    """A program with its kernels gives the same bits without LLVM."""
    saved = script(f"""local th = require "thunder"
local f = th.compile(function(x) return th.softmax(th.tanh(x), 0) end)
local x = th.linspace(-1, 1, 100)
th.data.save_npy(x, "{folder}/y.npy")
for _, number in ipairs(f(x):tolist()) do print(("%a"):format(number)) end
th.compile_ahead(f, "{folder}/g.thunder")""")
    assert saved.returncode == 0, saved
    loads = f"""local th = require "thunder"
local f = th.load_program("{folder}/g.thunder", {{ run_saved_kernels = true }})
for _, number in ipairs(f(th.data.npy "{folder}/y.npy"):tolist()) do print(("%a"):format(number)) end
assert(tostring(th.last_traces(f)[#th.last_traces(f)]):find "by fusion")"""
    with open(f"{folder}/load.lua", "w", encoding="utf-8") as file:
        file.write(loads)
    without = {"LD_AUDIT": sys.argv[3], "HIDE_LIBRARIES": "libLLVM", "THUNDER_CACHE_DIR": "off"}
    loaded = run("run", f"{folder}/load.lua", **without)
    assert (loaded.returncode, loaded.stdout, loaded.stderr) == (0, saved.stdout, ""), (loaded, saved)
    plain, kernels = (run("run", *flag, f"{folder}/g.thunder", f"{folder}/y.npy", **without) for flag in ([], ["--run-saved-kernels"]))
    assert "set the option run_saved_kernels if you trust the file" in plain.stderr and plain.returncode == 0, plain
    assert kernels.stdout.startswith("tensor(") and not kernels.stderr, kernels


def seeing():
    """What examine, profile, trace, repro and completion print of a script."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "f.lua")
        path.write_text("""local th = require "thunder"
local f = th.compile(function(x) return (x:matmul(x)):exp():sum() end)
f(th.ones(4, 4))
""", encoding="utf-8")
        examined = run("examine", str(path), "--html", f"{folder}/r.html")
        assert examined.returncode == 0 and ": sound\n" in examined.stdout and "matmul  1  " in examined.stdout, examined
        assert pathlib.Path(folder, "r.html").read_text(encoding="utf-8").startswith("<!doctype html>")
        profiled = run("profile", str(path), "--chrome", f"{folder}/t.json")
        assert profiled.returncode == 0 and "GFLOP/s" in profiled.stdout and "f.lua:2" in profiled.stdout, profiled
        assert '"traceEvents"' in pathlib.Path(folder, "t.json").read_text(encoding="utf-8")
        traced = run("trace", str(path), "stages")
        assert traced.returncode == 0 and traced.stdout.startswith("transform: "), traced
        assert "return function(p, c, i)" in run("trace", str(path)).stdout
        repro = run("repro", str(path), "--step", "1", "--output", f"{folder}/repro.lua")
        assert repro.returncode == 0, repro
        again = run("run", f"{folder}/repro.lua")
        assert again.returncode == 0 and again.stdout.startswith("result 1: off by "), again
        wrong = run("repro", str(path), "--step", "99")
        assert wrong.returncode == 1 and "there is no step 99" in wrong.stderr, wrong
        path.write_text("""local th = require "thunder"
th.compile(function(x) return (x - 5):log() end)(th.ones(4))
""", encoding="utf-8")
        nan = run("examine", str(path))
        assert nan.returncode == 1 and "nan: log at " in nan.stdout and "f.lua:2" in nan.stdout, nan
        path.write_text("print 'nothing'", encoding="utf-8")
        none = run("profile", str(path))
        assert none.returncode == 1 and "calls no compiled function" in none.stderr, none


def files_tell_what_they_are(folder, model):
    """Without an ending of its name that says so."""
    for source, name in ((model, "model"), (f"{folder}/m.thunder", "program")):
        shutil.copy(source, f"{folder}/{name}")
    pathlib.Path(folder, "script").write_text("print(#arg, ...)", encoding="utf-8")
    for words in ((f"{folder}/model", "--dim", "n=3"), ("--dim", "n=3", f"{folder}/model")):
        ran = run("run", *words)
        assert ran.returncode == 0 and "x: made, f32 [3, 3]" in ran.stdout, ran
    data = script(f'local th = require "thunder"\nth.data.save_npy(th.ones(4, 3), "{folder}/ones.npy")')
    assert data.returncode == 0, data
    for words in (("run", f"{folder}/program", f"{folder}/ones.npy"), ("convert", f"{folder}/model", f"{folder}/again"),
                  ("run", f"{folder}/again", f"{folder}/ones.npy"), ("convert", f"{folder}/again", f"{folder}/model"),
                  ("run", f"{folder}/model"), ("examine", f"{folder}/again")):
        ran = run(*words)
        assert ran.returncode == 0, (words, ran)
    expect(run("run", f"{folder}/script", f"{folder}/model"), 0, out=f"1\t{folder}/model")
    expect(run("run", "/dev/stdin", "a", lines="print(#arg, ...)"), 0, out="1\ta")


def models():
    """An ONNX model runs, is compared with another backend and says what it is."""
    page = (pathlib.Path(sys.argv[2]).parents[2] / "tests/lua/onnx.lua").read_text(encoding="utf-8")
    model = bytes.fromhex("".join(re.findall('"([0-9a-f]{20,})"', page)))
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/m.onnx"
        pathlib.Path(path).write_bytes(model)
        ran = run("run", path, "--dim", "n=3", "--check", "eager", "--save", folder)
        assert ran.returncode == 0 and "x: made, f32 [3, 3]" in ran.stdout and "y: largest error" in ran.stdout, ran
        again = run("run", path, "--input", f"x={folder}/y.npy")
        assert again.returncode == 1 and "the model takes 3 in dim 1" in again.stderr, again
        unknown = run("run", path, "--input", f"z={folder}/y.npy")
        assert unknown.returncode == 1 and "the model has no input 'z'; it has x" in unknown.stderr, unknown
        unknown = run("run", path, "--dim", "m=3")
        assert unknown.returncode == 1 and "the model has no dim 'm'; it has n" in unknown.stderr, unknown
        for engine in ("onnxrt", "openxla", "tvm"):  # each computes, or says where it was looked for
            ran = run("run", path, "--check", engine)
            assert (ran.returncode == 0 and f"y: largest error" in ran.stdout) or f"{engine} is not available here: none of " in ran.stderr, ran
        saved = run("convert", path, f"{folder}/m.thunder")
        assert saved.returncode == 0, saved
        alike = script(f"""local th = require "thunder"
local f = th.load_program "{folder}/m.thunder"
for n = 2, 5 do assert(f(th.ones(n, 3)).shape[1] == n) end
local g = th.load_program "{path}"
assert((f(th.ones(4, 3)) - g(th.ones(4, 3))):abs():max():item() == 0)
print "alike" """)  # a program of any size, without the model
        assert alike.stdout == "alike\n", alike
        back = run("convert", f"{folder}/m.thunder", f"{folder}/back.onnx")
        assert back.returncode == 0 and run("run", f"{folder}/back.onnx").returncode == 0, back
        # Names of dims stay, from the model to the program and back.
        for file, words in (("m.thunder", "  0 f32 [n, 3]"), ("back.onnx", " f32 [n, 3]")):
            told = run("inspect", f"{folder}/{file}")
            assert words in told.stdout, told
        files_tell_what_they_are(folder, path)
        wrong = run("convert", path)
        assert wrong.returncode == 2 and "usage: thunder convert FROM TO" in wrong.stderr, wrong
        told = run("inspect", path)
        assert told.returncode == 0 and "  x f32 [n, 3]" in told.stdout and "weights: 2 tensors, 32 bytes" in told.stdout, told


def programs():
    """A program that a script saved runs without the script."""
    with tempfile.TemporaryDirectory() as folder:
        saved = script(f"""local th = require "thunder"
local w = th.tensor {{ 2.0, 3.0 }}
local f = th.compile(function(x, n) return x * w + n, "said" end)
local x = th.tensor {{ 1.0, 2.0 }}
th.data.save_npy(x, "{folder}/x.npy")
f(x, 10)
th.save_program(f, "{folder}/f.thunder")""")
        assert saved.returncode == 0, saved
        expect(run("run", f"{folder}/f.thunder", f"{folder}/x.npy", "10"), 0, out="tensor([12., 16.])\tsaid")
        expect(run("run", f"{folder}/f.thunder", f"{folder}/x.npy", "11"), 1, err="input 1 is 11, it was made for 10")
        expect(run("run", f"{folder}/x.thunder"), 1, err="x.thunder")
        expect(run("run", "--run-saved-kernels", f"{folder}/f.thunder", f"{folder}/x.npy", "10"), 1, err="holds no compiled kernels")
        expect(run("run", "--run-saved-kernels", f"{folder}/f.lua"), 2, err="--run-saved-kernels is not for scripts")
        if len(sys.argv) > 3:
            ahead(folder)


# The warning is for whoever runs the script, once.
LIMIT = """local th = require "thunder"
local f = th.compile(function(x) return x + 1 end, { recompile_limit = 2, dynamic = false })
for size = 1, 4 do f(th.ones(size)) end
"""


# Without a seed each process draws other numbers, and says after which seed they come again.
DRAWN = """local th = require "thunder"
if arg[1] then th.seed(math.tointeger(arg[1])) end
print(table.concat(th.rand(8):tolist(), " "), th.initial_seed())
"""


def seeds():
    (first, seed), (second, other) = (script(DRAWN).stdout.strip().split("\t") for _ in range(2))
    assert first != second and seed != other, (first, seed, second, other)
    assert script(DRAWN, "7").stdout == script(DRAWN, "7").stdout != ""
    assert script(DRAWN, seed).stdout == f"{first}\t{seed}\n"


def edges():
    """What a trace keeps that no call checks is said once a function, unless the option says what is done of it; printing is no news."""
    text = """local th = require "thunder"
local function noisy(x) io.write("traced;") return x * math.random() + os.clock() end
local x, options = th.ones(2), ...
local f, g = th.compile(noisy, options and { sharp_edges = options }), th.compile(noisy, options and { sharp_edges = options })
f(x) f(x) f(th.ones(3)) g(x)
th.compile(function(y) io.write(#"1") return y end)(x)"""
    said = script(text)
    assert (said.returncode, said.stdout) == (0, "traced;traced;traced;1"), said
    line = re.escape("sharp_edges: math.random() is called once, while the function is traced [at ") + r"\S+:2\]; give it as an argument, or compile " \
        + 'with sharp_edges = "allow"'
    assert re.fullmatch(f"Lua warning: {line}\nLua warning: {line}\n", said.stderr), said.stderr
    expect(script(text, "allow"), 0, out="traced;traced;traced;1")


def main():
    doctor()
    seeds()
    edges()
    warned = script(LIMIT).stderr
    assert re.fullmatch(r"thunder: warning: .*:2: compiled 2 times, which is the recompile_limit; last miss: input '0': shape is \[3\], was \[2\];.*\n",
                        warned), warned
    expect(run("--help"), 0, out="usage: thunder [COMMAND")
    expect(run(lines="1 + 1\nx = th.ones{2}\nx"), 0, out="2\ntensor([1., 1.])\n")
    expect(run(lines="for i = 1, 2 do\nprint(i)\nend\n"), 0, out="1\n2\n")
    # The prompt explains, and ends when it is told to.
    expect(run(lines="help\n"), 0, out="th.compile(function(x)")
    for line in ("help softmax", "? softmax", "help(th.softmax)", 'help "softmax"', "th.softmax"):
        expect(run(lines=line + "\n"), 0, out="softmax(tensor input, int dim")
    for line in ("exit", "quit", "exit()", "exit(0)"):
        assert (run(lines=line + "\nprint 'after'\n").stdout, run(lines=line + "\n").returncode) == ("", 0), line
    expect(run(lines="help = 3\nhelp + 1\n"), 0, out="4\n")
    expect(run(lines="{1, 'two', x = {true}}\n"), 0, out='{1, "two", x = {true}}\n')
    expect(run(lines="th.nn.Linear(2, 3)\n"), 0, out="Linear(in_features=2, out_features=3, bias=True)\n")
    broken = run(lines="error 'on purpose'\n(\n'after'\n")
    assert broken.returncode == 1 and "on purpose" in broken.stderr and "near" in broken.stderr, broken
    # What is wrong wherever it ends is not read on; and the tool's own lines are nobody's place.
    broken = run(lines="end\n'after'\n")
    assert (broken.stdout, broken.stderr) == ("after\n", "input:1: <eof> expected near 'end'\n"), broken
    broken = run(lines="th.tensor{{1}, {2, 3}}\n")
    assert re.fullmatch("tensor: the lists are not those of one shape.*\n", broken.stderr), broken
    expect(run("rnu"), 2, err="there is no command 'rnu'")
    expect(run("run"), 2, err="usage: thunder run FILE")
    version()
    expect(run("ops", "softma"), 0, out="softmax(tensor input, int dim")
    assert run("ops", "softmaks").stderr == "thunder: nothing has 'softmaks' in its name (did you mean 'softmax'?)\n"
    # Layers, optimisers, schedules and options too, in any case.
    for words, says in (("linear", "nn.Linear(int in_features"), ("LINEAR", "\nlinear(tensor input"), ("adamw", "optim.AdamW(lr=0.001, betas=0.9, 0.999"),
                        ("annealing", "optim.CosineAnnealingLR(T_max, eta_min=0)"), ("freezing", "option of th.compile: freezing = false (bool)")):
        assert says in "\n" + run("ops", words).stdout, words
    for command in ("run", "export", "convert", "ops", "doctor"):
        expect(run(command, "--help"), 0, out=f"usage: thunder {command}")
    expect(run("ops", "softmaks"), 1, err="softmaks")
    expect(run("run", "no/such.lua"), 1, err="thunder: cannot open no/such.lua: No such file or directory\n")
    expect(script("print(arg[1], ...)", "a b"), 0, out="a b\ta b")
    expect(script("\nerror 'on purpose'"), 1, err=":2: on purpose\nstack traceback:")
    # One traceback, of the script's lines: none of the library's, and an error in a traced function has no second one.
    traced = script('local th = require "thunder"\nlocal f = th.compile(function(x) return x.foo end)\nf(th.ones(2))\n').stderr
    assert traced.count("stack traceback:") == 1 and "thunder.tensor" not in traced and "refuse" not in traced, traced
    assert re.search(r":2: in function <.*:2>\n\t\[C\]: in local 'f'\n\t.*:3: in main chunk\n$", traced), traced
    told = script("error(setmetatable({}, { __tostring = function() return 'for the user alone' end }))")
    assert (told.returncode, told.stderr) == (1, "thunder: for the user alone\n"), told

    with tempfile.TemporaryDirectory() as folder:
        save = f'f(th.ones(2)); th.save_program(f, "{folder}/f.thunder")'
        expect(script(f'local th = require "thunder"\nlocal f = th.compile(function(x) return x:exp() end)\n{save}'), 0)
        expect(run("convert", f"{folder}/f.thunder", f"{folder}/f.onnx", "--opset", "20"), 0)
        assert b"libthunder" in pathlib.Path(folder, "f.onnx").read_bytes()
        expect(run("convert", f"{folder}/f.thunder", f"{folder}/g.onnx", "--opset", "5"), 1, err="opset must be 17 to 25, got 5")
        expect(run("convert", f"{folder}/f.thunder", f"{folder}/./f.thunder"), 1, err="are the same file, which would be lost")
        expect(run("convert", f"{folder}/f.onnx", f"{folder}/f.onnx"), 1, err="are the same file, which would be lost")
        expect(run("examine", f"{folder}/f.thunder", "nope.npy"), 2, err="it takes no 'nope.npy'")
        expect(run("convert", f"{folder}/f.thunder"), 2, err="usage: thunder convert")

    digits = pathlib.Path(sys.argv[2]).parents[2] / "examples/digits/digits.lua"
    for words, says in ((["no/such.csv"], "cannot open 'no/such.csv': No such file or directory\nusage: digits.lua"),
                        ([str(digits)], "digits.lua' line 2, column 1: expected"), (["--epochs", "-3"], "--epochs needs a whole number, 1 or more")):
        wrong = run("run", str(digits), *words)
        assert wrong.returncode == 1 and "traceback" not in wrong.stderr and says in wrong.stderr, wrong

    # Few epochs are no failure: what they give is said.
    few = run("run", str(digits), "--epochs", "3")
    assert few.returncode == 0 and "that is what so few epochs give; 40 reach 97 %" in few.stdout and "traceback" not in few.stderr, few

    programs()
    seeing()
    models()

    help_text = run("--help").stdout
    # The script that the help shows is one that runs.
    example = help_text.split("FILE.lua:\n\n")[1]
    expect(script(example), 0, out="14.0")
    commands = re.findall(r"^  (\w+)(?: |$)", help_text.split("Commands:")[1].split("A first")[0], re.MULTILINE)
    manual = re.findall(r"^\.BI? (\w+)", pathlib.Path(sys.argv[2]).read_text(encoding="utf-8").split(".SH COMMANDS")[1], re.MULTILINE)
    assert commands == [name for name in manual if name != "R"] and "run" in commands, (commands, manual)


if __name__ == "__main__":
    main()
