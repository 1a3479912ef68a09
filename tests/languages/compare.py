"""compare.py [--write | --except WORD] EXPECTED COMMAND...: runs a command and compares what it prints with a file.

--write makes the file. --except leaves out the line that begins with a word: what a language cannot hold.
"""
import difflib
import pathlib
import subprocess
import sys


def main(arguments):
    write, left_out = arguments[0] == "--write", None
    if write:
        arguments = arguments[1:]
    elif arguments[0] == "--except":
        left_out, arguments = arguments[1], arguments[2:]
    expected, *command = arguments
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if run.returncode:
        return f"{command[0]} ended with {run.returncode}"
    if write:
        pathlib.Path(expected).write_text(run.stdout, encoding="utf-8")
        return 0
    texts = [pathlib.Path(expected).read_text(encoding="utf-8"), run.stdout]
    lines = [[line for line in text.splitlines() if line.split(" ")[0] != left_out] for text in texts]
    difference = list(difflib.unified_diff(*lines, "expected", "printed", lineterm=""))
    print("\n".join(difference))
    return 1 if difference else 0


sys.exit(main(sys.argv[1:]))
