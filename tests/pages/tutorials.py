"""tutorials.py TOOL PREFIX LIBDIR PAGE... [--write]: runs what the pages show, and compares what it prints with what they say it prints.

A block of Python runs in the page's one namespace, a block `lua NAME` or `c NAME` is saved under that name, a block `sh` runs in that folder.
The block `text` behind it is what it prints; `...` there stands for anything. --write puts in what was printed where there is an empty one.
Together the pages show each log, each report and each command of the tool."""
import contextlib
import io
import os
import pathlib
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```(python|lua|c|sh)(?: ([\w.]+))?\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.DOTALL | re.MULTILINE)

VARIES = re.compile(r"\d[\d.e-]* ms")


def matches(expected, printed):
    pattern = ".*?".join(re.escape(part) for part in expected.rstrip().split("..."))
    return re.fullmatch(pattern, printed.rstrip(), re.DOTALL) is not None


class Page:
    def __init__(self, folder, environment):
        self.folder, self.environment, self.names = folder, environment, {"__name__": "__main__"}
        self.printed = io.StringIO()  # one for the page: handlers of logging keep it

    def python(self, _, code):
        before = self.printed.tell()
        with contextlib.redirect_stdout(self.printed):
            exec(compile(code, "page.py", "exec"), self.names)
        return self.printed.getvalue()[before:]

    def file(self, name, code):
        pathlib.Path(self.folder, name).write_text(code, encoding="utf-8")
        return ""

    lua = c = file

    def sh(self, _, code):
        done = subprocess.run(["bash", "-c", code], cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False, timeout=240)
        return done.stdout


def run_page(path, environment, write):
    wrong, text = [], path.read_text(encoding="utf-8")
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        page = Page(folder, environment)

        def run(found):
            language, name, code, expected = found.groups()
            printed = getattr(page, language)(name, code)
            # What names this machine's folder is written without it.
            printed = "\n".join(line.rstrip() for line in printed.replace(folder + "/", "").splitlines())
            if expected is not None and not expected.strip() and write:
                return found[0].replace("```text\n", f"```text\n{VARIES.sub('... ms', printed).rstrip()}\n")
            if not matches(expected or "", printed):
                wrong.append(f"{path}: this block\n{code}\nsays\n{expected}\nand printed\n{printed}")
            return found[0]
        made = BLOCK.sub(run, text)
        os.chdir(here)
    if write and made != text:
        path.write_text(made, encoding="utf-8")
    return wrong, " ".join(found[2] for found in BLOCK.findall(text))


def all_names(tool):
    """What the pages must show together."""
    import thunder as th
    for name in th.reports():
        yield "report", rf'"{name}"|thunder trace \S+ {name}\b'
    for name in th.log_names():
        yield "log", rf"\b{name}\b"
    usage = subprocess.run([tool, "--help"], check=True, capture_output=True, text=True).stdout
    for name in re.findall(r"^  ([a-z]+)  *[A-Z\[b-]", usage, re.MULTILINE):
        yield "command", rf"thunder {name}\b"


def main():
    tool, prefix, libdir, *rest = sys.argv[1:]
    pages, write = [pathlib.Path(page).resolve() for page in rest if page != "--write"], "--write" in rest
    libraries = os.path.join(prefix, libdir)
    environment = {**os.environ, "PATH": os.path.dirname(tool) + os.pathsep + os.environ["PATH"], "PKG_CONFIG_PATH": f"{libraries}/pkgconfig",
                   "LD_LIBRARY_PATH": libraries, "PYTHON": sys.executable}
    wrong, shown = [], ""
    for path in pages:
        failures, code = run_page(path, environment, write)
        wrong += failures
        shown += code
    wrong += [f"no page shows the {kind} {pattern}" for kind, pattern in all_names(tool) if not re.search(pattern, shown)]
    print("\n".join(wrong))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
