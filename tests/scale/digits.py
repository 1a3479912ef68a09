"""digits.py MPIRUN RANKS [--engine NAME] PROGRAM...: the losses of fifty steps on that many ranks are those of one process, to 1e-5.

A PROGRAM that is a C file is compiled: then it is FILE.c COMPILER INCLUDE-FOLDER LIBRARY-FOLDER OUTPUT.
"""
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
from launch import on_ranks, run  # noqa: E402

STEPS, TOLERANCE = 50, 1e-5
DATA = pathlib.Path(__file__).resolve().parents[2] / "examples/digits/data/digits.csv"
LINE = re.compile(r"^step (\d+): loss ([\d.]+)$", re.M)


def program(words, engine):
    if not words[0].endswith(".c"):
        return [*words, *(["--engine", engine] if engine else []), "--steps", str(STEPS), "--every", "1", str(DATA)]
    source, compiler, include, library, output = words
    pathlib.Path(output).parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([compiler, "-std=c11", "-Wall", "-Wextra", "-Werror", "-I", include, source, "-L", library, "-lthunder",
                    f"-Wl,-rpath,{library}", "-o", output], check=True)
    return [output, str(DATA), str(STEPS), "1", *([engine] if engine else [])]


def losses(answer):
    code, text = answer
    found = [(int(step), float(loss)) for step, loss in LINE.findall(text)]
    if code != 0 or [step for step, _ in found] != list(range(1, STEPS + 1)):
        sys.exit(f"it ended with {code} and printed\n{text}")
    return [loss for _, loss in found]


def main():
    mpirun, ranks, *words = sys.argv[1:]
    engine = None
    if words[0] == "--engine":
        engine, words = words[1], words[2:]
    command, limit = program(words, engine), 300
    alone, together = losses(run(command, limit)), losses(on_ranks(mpirun, ranks, command, limit))
    worst = max(abs(a - b) for a, b in zip(alone, together))
    if worst > TOLERANCE or alone[-1] > alone[0] / 2:
        sys.exit(f"the losses differ by {worst}: {alone} on one process, {together} on {ranks}")
    print(f"{STEPS} losses on {ranks} ranks, from {together[0]:.4f} to {together[-1]:.4f}, are within {worst:.1e} of one process")


main()
