"""words.py THUNDER MAN: how the tool reads its words, what it says of wrong ones, and what it does where its output fails."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TWO = """local th = require "thunder"
print "the script's own"
io.write "too\\n" io.flush()
os.execute "echo of a child"
local f = th.compile(function(x) return (x:matmul(x)):exp():sum() end)
f(th.ones(4, 4))
local g = th.compile(function(x) return x + 1 end)
g(th.ones(3))
g(th.ones(2, 5))
th.save_program(g, arg[1])
"""
PRINTED = "the script's own\ntoo\nof a child\n"


def run(*words, out=subprocess.PIPE, lines=""):
    return subprocess.run([sys.argv[1], *words], input=lines, stdout=out, stderr=subprocess.PIPE, text=True, check=False)


def refused(words, *says):
    """Exit status 2, nothing printed, two lines."""
    told = run(*words)
    assert told.returncode == 2 and not told.stdout and told.stderr.count("\n") == 2, (words, told)
    assert all(text in told.stderr for text in says), (words, told.stderr)


def wrong_words(folder):
    refused(["rnu"], "no command 'rnu' (did you mean 'run'?)", "thunder help")
    refused(["help", "profle"], "did you mean 'profile'?")
    refused(["run"], "run needs FILE", "usage: thunder run FILE")
    refused(["run", "--bckend", "x", "y"], "no option '--bckend' (did you mean '--backend'?)", "thunder help run")
    refused(["run", "--backend"], "--backend needs a value, BACKEND")
    refused(["inspect", "--json=1", "x"], "--json takes no value")
    refused(["ops", "a", "b"], "takes no 'b'", "usage: thunder ops [TEXT]")
    refused(["run", "--dim", "n=1", f"{folder}/two.lua"], "--dim is not for scripts")
    refused(["export", f"{folder}/g.thunder"], "needs --c FOLDER")
    refused(["export", "--c", folder, "--program", "x", f"{folder}/g.thunder"], "--program takes a number, got 'x'")
    refused(["convert", f"{folder}/g.thunder", "x.onnx", "--dim", "n=1"], "--dim is for ONNX models that are read")
    refused(["completion", "csh"], "takes bash, zsh or fish, got 'csh'")
    refused(["-e"], "-e needs a value")
    # Behind a script's name all words are the script's, and behind "--" all are the file's.
    echo = "print(...)"
    assert run("run", "-", "--json", "--", "a", lines=echo).stdout == "--json\t--\ta\n"


def words_of_help(man):
    """Each command explains itself, and the manual page has each with all of its options."""
    listed = re.findall(r"^  (\w+) +\w", run("help").stdout.split("Commands:")[1].split("\n`")[0], re.MULTILINE)
    manual = pathlib.Path(man).read_text(encoding="utf-8").split(".SH COMMANDS")[1].replace("\\-", "-")
    for command in listed:
        told = run("help", command)
        assert told.stdout == run(command, "--help").stdout and "Example:" in told.stdout, command
        section = re.search(rf"^\.BI? {command}\b.*?(?=^\.TP|^\.SH)", manual, re.MULTILINE | re.DOTALL)
        assert section, f"the manual page lacks {command}"
        for option in re.findall(r"^  (--[\w-]+)", told.stdout, re.MULTILINE):
            assert option in section[0], f"{command} {option} is not in the manual page"
    if shutil.which("mandoc"):
        told = subprocess.run(["mandoc", "-Tlint", "-W", "warning", man], capture_output=True, text=True, check=False)
        assert told.stdout == "", told.stdout
    version = run("version").stdout
    assert len(listed) > 12 and version == run("--version").stdout, listed
    assert re.fullmatch(r"thunder \d+\.\d+\.\d+( \([0-9a-f]{7,}, \d{4}-\d\d-\d\d\))?\n", version), version
    code = run("-e", "1 + 1, arg[1]", "a")
    assert (code.stdout, code.stderr) == ("2\ta\n", ""), code
    failed = run("-e", "error 'on purpose'")
    assert failed.returncode == 1 and "on purpose" in failed.stderr, failed


def documents(folder):
    """--json prints one document, whatever a script prints."""
    for words, command in ((["examine", f"{folder}/two.lua", "--json", f"{folder}/h.thunder"], "examine"),
                           (["profile", "--json", f"{folder}/two.lua", f"{folder}/h.thunder"], "profile")):
        told = run(*words)
        document = json.loads(told.stdout)
        assert (told.returncode, told.stderr) == (0, PRINTED), told
        assert (document["command"], document["schema"], document["file"]) == (command, 1, f"{folder}/two.lua"), document
        assert [f["function"].rsplit(":", 1)[1] for f in document["functions"]] == ["5", "7"], document
    doctor = json.loads(run("doctor", "--json").stdout)
    assert doctor["schema"] == 1 and {"speed", "kernel"} <= {row["name"] for row in doctor["installation"]}, doctor
    programs = json.loads(run("inspect", f"{folder}/g.thunder", "--json").stdout)
    assert [p["inputs"] for p in programs["programs"]] == [[{"name": "0", "dtype": "f32", "dims": dims}] for dims in ([3], [2, 5])], programs
    assert programs["programs"][1]["operators"] == [{"op": "add", "count": 1}], programs


def full_and_closed(folder):
    """Output that cannot be written is exit status 1 and one line, in each command and file."""
    script, program = f"{folder}/two.lua", f"{folder}/g.thunder"
    for words in (["help"], ["version"], ["ops"], ["doctor"], ["doctor", "--json"], ["completion", "bash"], ["-e", "1"], ["inspect", program],
                  ["trace", program], ["explain", program], ["profile", program], ["examine", program], ["repro", program],
                  ["run", "-", "a"], ["help", "run"]):
        with open("/dev/full", "w", encoding="utf-8") as full:
            told = run(*words, out=full, lines="print 'x'")
        assert told.returncode == 1 and re.fullmatch("thunder: cannot write to standard output: .*\n", told.stderr), (words, told)
        reader, writer = os.pipe()
        os.close(reader)
        with os.fdopen(writer, "w") as closed:
            told = run(*words, out=closed, lines="print 'x'")
        assert (told.returncode, told.stderr) == (1, "thunder: cannot write to standard output: Broken pipe\n"), (words, told)
    for words in (["profile", program, "--chrome"], ["repro", program, "--output"], ["examine", program, "--html"],
                  ["convert", "--program", "1", program]):
        told = run(*words, "/dev/full")
        assert told.returncode == 1 and "/dev/full" in told.stderr, (words, told)
    # A script that does not end is ended, and one whose other pipes break is not.
    endless = subprocess.run(f"'{sys.argv[1]}' -e 'while true do print(1) end' | head -n 1", shell=True, capture_output=True, text=True, timeout=60, check=False)
    assert endless.stdout == "1\n" and endless.stderr.endswith("Broken pipe\n"), endless
    lives = run("-e", "local p = io.popen('true', 'w') os.execute 'sleep 0.2' p:write(('x'):rep(1e6)) p:flush() print 'lives'")
    assert (lives.returncode, lives.stdout) == (0, "lives\n"), lives
    assert os.path.exists(script)


def several(folder):
    """Files of several programs, and several functions of one script."""
    program = f"{folder}/g.thunder"
    shown = run("inspect", program).stdout
    assert "2 saved programs of " in shown and "program 2:\n  inputs:\n    0 f32 [2, 5]" in shown, shown
    wants = run("run", program)
    assert wants.returncode == 2 and "program 2 takes 0: f32 [2, 5]" in wants.stderr and f"thunder run {program} 0.npy" in wants.stderr, wants
    assert run("-e", f"th.data.save_npy(th.zeros(2, 5), '{folder}/x.npy')").returncode == 0
    assert run("run", program, f"{folder}/x.npy").stdout.startswith("tensor([[1.")
    wrong = run("run", "--program", "1", program, f"{folder}/x.npy")
    assert wrong.returncode == 1 and "input" in wrong.stderr, wrong
    none = run("run", "--program", "9", program, f"{folder}/x.npy")
    assert none.returncode == 1 and "there is no program 9" in none.stderr and "which holds 2" in none.stderr, none
    pages = run("examine", f"{folder}/two.lua", "--html", f"{folder}/page.html", f"{folder}/h.thunder")
    index = pathlib.Path(folder, "page.html").read_text(encoding="utf-8")
    for page in re.findall('href="(.*?)"', index):
        assert f"thunder: wrote {folder}/{page}\n" in pages.stderr and pathlib.Path(folder, page).exists(), pages
    assert index.count("href=") == 2, index


def other_files(folder):
    """What a file is, by its first bytes."""
    made = run("-e", f"th.save({{ a = th.ones(2, 3), b = th.ones(4):to(th.int64) }}, '{folder}/t')")
    assert made.returncode == 0, made
    assert "a f32 [2, 3]\n  b i64 [4]" in run("inspect", f"{folder}/t").stdout
    shutil.copy(f"{folder}/x.npy", f"{folder}/x")
    assert "f32 [2, 5]" in run("inspect", f"{folder}/x").stdout
    for first, says in ((b"PK\3\4rest of it", "a zip archive"), (b"GGUF....", "GGUF"), (b"\x80\2}q", "a pickle"), (b"\x7fELF....", "an executable"),
                        (b"some words\n", "text"), (b"", "empty"), (b"\0\1\2\xff", "of no form that is known")):
        pathlib.Path(folder, "other").write_bytes(first)
        told = run("inspect", f"{folder}/other")
        assert told.returncode == 1 and f"is {says}" in told.stderr or says in told.stderr, (says, told)
    told = run("run", f"{folder}/t")
    assert told.returncode == 1 and "a file of tensors (safetensors)" in told.stderr, told


def models(folder, man):
    """--dim of convert fixes a dim, so that C can be written of it; --save makes its folder."""
    page = (pathlib.Path(man).parents[2] / "tests/lua/onnx.lua").read_text(encoding="utf-8")
    pathlib.Path(folder, "m.onnx").write_bytes(bytes.fromhex("".join(re.findall('"([0-9a-f]{20,})"', page))))
    made = run("convert", f"{folder}/m.onnx", f"{folder}/five.thunder", "--dim", "n=5")
    assert made.returncode == 0 and "f32 [5, 3]" in run("inspect", f"{folder}/five.thunder").stdout, made
    made = run("convert", f"{folder}/m.onnx", f"{folder}/any.thunder")
    assert made.returncode == 0 and "f32 [n, 3]" in run("inspect", f"{folder}/any.thunder").stdout, made
    written = run("export", "--c", f"{folder}/c", f"{folder}/five.thunder")
    assert written.returncode == 0 and pathlib.Path(folder, "c", "five.h").exists() or "LLVM" in written.stderr, written
    ran = run("run", f"{folder}/m.onnx", "--save", f"{folder}/deep/er")
    assert ran.returncode == 0 and pathlib.Path(folder, "deep/er/y.npy").exists(), ran
    ran = run("run", f"{folder}/m.onnx", "--save", f"{folder}/m.onnx/none")
    assert ran.returncode == 1 and "cannot be made" in ran.stderr and "made, f32" not in ran.stdout, ran


def completion():
    """What bash completes, asked of bash itself."""
    tool = pathlib.Path(sys.argv[1])
    for line, expected in (("thunder ex", ["examine", "explain", "export"]), ("thunder run --ba", ["--backend"]), ("thunder run --backend ea", ["eager"]),
                           ("thunder ops leaky", ["leaky_relu"]), ("thunder explain f.lua mem", ["memory"]), ("thunder help ver", ["version"])):
        words = line.split()
        text = f'eval "$(thunder completion bash)"; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _thunder; printf "%s\\n" "${{COMPREPLY[@]}}"'
        told = subprocess.run(["bash", "-c", text], capture_output=True, text=True, check=True, env={**os.environ, "PATH": f"{tool.parent}:{os.environ['PATH']}"})
        assert sorted(told.stdout.split()) == expected, (line, told)
    for shell in ("fish", "zsh"):
        script = run("completion", shell).stdout
        assert "examine" in script and "backend" in script, shell
        if shutil.which(shell):
            subprocess.run([shell, "-n"], input=script, text=True, check=True)


def main():
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "two.lua").write_text(TWO, encoding="utf-8")
        made = run("run", f"{folder}/two.lua", f"{folder}/g.thunder")
        assert (made.returncode, made.stdout, made.stderr) == (0, PRINTED, ""), made
        wrong_words(folder)
        documents(folder)
        several(folder)
        full_and_closed(folder)
        other_files(folder)
        models(folder, sys.argv[2])
    words_of_help(sys.argv[2])
    completion()


if __name__ == "__main__":
    main()
