"""Generated files that are checked in equal what their generators print.

A row of GENERATED is (file, command). The command runs in the root; its first word is a program of the build
tree, {build}/bin/..., or a script of ours, and what it prints is the file.
"""
import subprocess

GENERATED = (
    ("include/thunder/ops.h", ("{build}/bin/opgen", "header")),
    ("docs/ops.md", ("{build}/bin/opgen", "docs")),
    ("capi/abi.symbols", ("tools/list_symbols.py",)),
    ("bindings/python/src/described.c", ("bindings/swig/generate.py", "python")),
    ("bindings/python/src/calls.c", ("bindings/swig/generate.py", "python_calls")),
    ("bindings/python/stubs/described.py", ("bindings/swig/generate.py", "stubs")),
    ("bindings/lua/described.c", ("bindings/swig/generate.py", "lua")),
    ("bindings/lua/calls.c", ("bindings/swig/generate.py", "lua_calls")),
    ("docs/onnx.md", ("{build}/bin/onnxgen",)),
    ("docs/engines.md", ("{build}/bin/enginesgen",)),
    ("docs/modules.md", ("tools/list_modules.py", "{build}/lib/libthunder.so")),
    ("docs/compile_options.md", ("tools/list_compile_options.py", "{build}/lib/libthunder.so")),
)


def outputs():
    return {output for output, _ in GENERATED}


def _text(tree, command):
    words = [word.format(build=tree.build) for word in command]
    return subprocess.run(words, cwd=tree.root, check=True, capture_output=True, text=True).stdout


def check(tree):
    for output, command in GENERATED:
        try:
            text = _text(tree, command)
        except (OSError, subprocess.CalledProcessError) as error:
            tree.fail(output, f"its generator failed: {error}")
            continue
        if output not in tree.files or tree.read(output) != text:
            tree.fail(output, "is stale; tools/check --write refreshes it")


def write(tree):
    for output, command in GENERATED:
        text = _text(tree, command)
        path = tree.root / output
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            print("wrote " + output)
    return 0
