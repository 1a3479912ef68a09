#!/usr/bin/env python3
"""Plants one violation of each kind in a tree of its own and expects tools/check to report exactly those."""
import pathlib
import subprocess
import sys
import tempfile

CHECK = pathlib.Path(__file__).resolve().parent.parent / "check"

GOOD = {
    "core/README.md": "The core.\n",
    "core/base/README.md": "Base.\n",
    "core/base/status.cpp": '#include "base/status.h"\n\n#include <vector>\nint status() { return 3; }\n',
    "core/base/status.h": "#pragma once\nint status();\n",
    "core/ops/README.md": "Ops.\n",
    "core/ops/defs/add.cpp": '#include "base/status.h"\nint add() { return status(); }\n',
    "tests/README.md": "Tests.\n",
    "tests/core/base/status_test.cpp": '#include "base/status.h"\n',
    "tests/core/ops/op_test.cpp": '// covers: core/ops/defs/add.cpp\n#include "base/status.h"\n',
    "README.md": "A tree. See #12, http://example.org/home/page and {prefix}/data/x.\n",
}


def long_function(lines):
    return "namespace a {\nint f(int x) {\n" + "  x += 1;  // }\n" * (lines - 3) + "  return x;\n}\n}  // namespace a\n"


def page(text):
    return {"docs/README.md": "Docs.\n", "docs/page.md": text}


def where(paths):
    return {"docs/README.md": "Docs.\n", "docs/architecture.md": f"## Where is ...?\n\n| what | {paths} |\n\n## More\n`a/b.c`\n"}


def covered(*sources):
    return {"tests/core/ops/op_test.cpp": "// covers: " + " ".join(["core/ops/defs/add.cpp", *sources]) + "\n"}


# Each case: files on top of the good ones, and what the one finding must say, or each of several (None: no finding).
CASES = (
    ({}, None),
    ({"core/base/status.cpp": '#include "ops/op.h"\n'}, "ops/ is above base/"),
    ({"core/base/status.cpp": '#include "../base/status.h"\n'}, "not one through .."),
    ({"core/base/status.cpp": '#include "status.h"\n'}, 'write it as "layer/..."'),
    ({"core/base/status.cpp": "#include <base/status.h>\n"}, "go in quotes"),
    ({"core/base/status.cpp": '#include "thunder.h"\n'}, "neither the C API nor a language"),
    ({"core/base/status.cpp": 'bool adds = name == "prims.add";\n'}, "write Prim::add"),
    ({"core/ops/defs/sub.cpp": 'Var x = apply("prims.add");\n', **covered("core/ops/defs/sub.cpp")}, None),
    ({"core/base/status.cpp": "int x;\n" * 300}, None),
    ({"core/base/status.cpp": "int x;\n" * 301}, "301 lines; 300 is the limit"),
    ({"tests/core/base/status_test.cpp": "int x;\n" * 601}, "601 lines; 600 is the limit"),
    ({"core/base/status.cpp": "// @generated\n" + "int x;\n" * 601}, None),
    ({"core/base/status.cpp": long_function(60)}, None),
    ({"core/base/status.cpp": long_function(61)}, "f is 61 lines long"),
    ({"tests/core/base/status_test.cpp": '#include "base/status.h"\n' + long_function(80)}, None),
    ({"tests/core/base/status_test.cpp": '#include "base/status.h"\n' + long_function(81)}, "f is 81 lines long"),
    ({"core/base/status.h": '#include "base/a.h"\n', "core/base/a.h": '#include "base/status.h"\n'},
     ("headers include each other", "files include each other in a circle")),
    ({"core/base/status.cpp": "struct S {\n  int g() const {\n" + "\n" * 90 + "  }\n};\n"}, "g is 92 lines long"),
    ({"core/base/status.cpp": "const int rows[] = {\n" + "  {1, f(2)},\n" * 90 + "};\n"}, None),
    ({"core/base/status.cpp": "ROWS(checked({\n" + "  {1, f(2)},\n" * 90 + "}))\n"}, None),
    ({"core/base/status.cpp": 'const char* s = "{"; int f() {\n' + "\n" * 10 + "}\n"}, None),
    ({"core/base/status.cpp": "long l2 = sysconf(_SC_LEVEL2_CACHE_SIZE);\n"}, "take it from a Machine"),
    ({"core/base/arena.cpp": "int arena;\n"}, "no test is found"),
    ({"core/ops/defs/sub.cpp": "int sub;\n", **covered("core/ops/defs/sub.cpp")}, None),
    ({"core/ops/defs/sub.cpp": "int sub;\n", **covered("core/ops/*/sub.cpp")}, None),
    (covered("core/ops/defs/sub.cpp"), "covers: core/ops/defs/sub.cpp, which is no source"),
    ({"core/ir/README.md": "IR.\n", "core/ir/status.cpp": "int x;\n", **covered("core/ir/status.cpp")}, "has no test in tests/core/ir"),
    ({"docs/page.md": "x\n"}, "has no README.md"),
    (page("x\n" * 251), "251 lines; a page that is no reference has at most 250"),
    (page("<!-- @generated -->\n" + "x\n" * 250), None),
    (page("It took 3 ms, 4.5 ms,\n1,000 ms and 7 ms.\n"), "docs/page.md:1: a sentence with 4 figures"),
    (page("It took 3 ms and 4 ms. On 2026-01-02 PyTorch 2.11 took `5 6 7` and 7 ms.\n\n| 1 | 2 | 3 | 4 |\n\n```\n1 2 3 4\n```\n"), None),
    (where("`core/base/status.cpp`, `status.h` and `core/ops/defs/`, `core/base/NAME.cpp`, `f(x)`"), None),
    ({"CHANGELOG.md": "## [1.2.3] - today\n", "include/README.md": "C.\n",
      "include/thunder.h": "#define THUNDER_VERSION_MAJOR 1\n#define THUNDER_VERSION_MINOR 2\n#define THUNDER_VERSION_PATCH 3\n"}, None),
    ({"CHANGELOG.md": "## [1.2.3] - today\n", "bindings/README.md": "B.\n", "bindings/python/README.md": "P.\n",
      "bindings/python/pyproject.toml": 'version = "1.2.4"\n'}, "the version is 1.2.4, that of CHANGELOG.md 1.2.3"),
    ({"CHANGELOG.md": "## [Unreleased]\n"}, "there is no release such as"),
    ({"CHANGELOG.md": "## [1.2.3]\n" + 2 * "- What was mended, in a line long enough to be told.\n"}, "the line stands twice: - What was mended"),
    ({"CHANGELOG.md": "## [1.2.3]\n", "CITATION.cff": "version: 1.2.2\n"}, "the version is 1.2.2, that of CHANGELOG.md 1.2.3"),
    ({"CHANGELOG.md": "## [1.2.3]\n" + "- A line.\n" * 100}, "[1.2.3] has 101 lines"),
    (where("`core/base/status.c`"), "there is no core/base/status.c"),
    (where("`core/base/status.cpp`, `error.h`"), "there is no core/base/error.h"),
    (where("`core/jit/`"), "there is no core/jit/"),
    ({"core/README.md": "x\n" * 16}, "16 lines; 15 is the limit"),
    ({"capi/README.md": "C.\n", "capi/abi.symbols": "# all\nthunder_a\n", "tests/c/a.c": "thunder_a_b();\n"}, "calls thunder_a"),
    ({"capi/README.md": "C.\n", "capi/abi.symbols": "# all\nthunder_a\n", "tests/c/a.c": "thunder_a(0);\n"}, None),
    ({"bindings/README.md": "B.\n", "bindings/lua/README.md": "L.\n", "bindings/lua/layer.h": "int a(void);\nint b(void);\n",
      "bindings/lua/a.c": "int a(void)\n{\n    return b();\n}\n", "bindings/lua/b.c": "int b(void)\n{\n    return a();\n}\n",
      **covered("bindings/lua/*.c")}, "use each other in a circle"),
    ({"core/jit/README.md": "J.\n", "core/jit/a.h": "int a();\n", "core/jit/a.cpp": '#include "jit/b.h"\n', "core/jit/b.h": '#include "jit/a.h"\n',
      "tests/core/jit/a_test.cpp": "a b\n"}, "files include each other in a circle"),
    ({"core/jit/README.md": "J.\n", "core/jit/low/README.md": "L.\n", "core/jit/a.h": "int a();\n", "core/jit/a.cpp": '#include "jit/low/c.h"\n',
      "core/jit/b.h": "int b();\n", "core/jit/low/c.h": '#include "jit/b.h"\n', "tests/core/jit/a_test.cpp": "a b c\n"}, "folders include each other in a circle"),
    ({"include/thunder.h": "enum { THUNDER_A = 1, THUNDER_B = 2 };\n", "tests/c/a.c": "THUNDER_A\n"}, "names THUNDER_B"),
    ({"README.md": "TO" "DO: finish\n"}, "needs an issue number"),
    ({"README.md": "TO" "DO(#12): finish\n"}, None),
    ({"README.md": "see /ho" "me/someone/file\n"}, "absolute path"),
    ({"README.md": "see http://build.inter" "nal/x\n"}, "private host"),
    ({"README.md": "ask 192.168." "0.7\n"}, "private address"),
    ({"README.md": "measured at 14e01" "bed, 1048576 times, in 0xdeadbeef\n"}, "14e01" "bed is the name of a commit"),
    ({"README.md": "```\n14e01" "bed\n```\n"}, None),
)


def run(files):
    with tempfile.TemporaryDirectory() as folder:
        for path, text in files.items():
            target = pathlib.Path(folder, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        result = subprocess.run([sys.executable, str(CHECK), "--root", folder, "--skip", "generated"], capture_output=True, text=True)
    return result, [line for line in result.stdout.splitlines() if line.startswith("error: ")]


def main():
    failed = 0
    for files, expected in CASES:
        result, errors = run({**GOOD, **files})
        texts = () if expected is None else (expected,) if isinstance(expected, str) else expected
        right = result.returncode == bool(texts) and len(errors) == len(texts)
        if not right or any(text not in error for text, error in zip(texts, errors)):
            failed += 1
            print(f"expected {expected!r} from {sorted(files)}, got {result.returncode}, {errors}\n{result.stderr}")
    print(f"{len(CASES)} cases, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
