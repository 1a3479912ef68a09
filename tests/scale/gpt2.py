"""gpt2.py MPIRUN RANKS TOOL: examples/gpt2 with --mesh prints on that many ranks what one process prints, once; so does examples/llama on a mesh
of two axes."""
import pathlib
import re
import sys

sys.dont_write_bytecode = True
from launch import on_ranks, run  # noqa: E402

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
LINE = re.compile(r"^step (\d+) of 6: loss ([\d.]+), held out ([\d.]+)$", re.M)


def check(mpirun, ranks, train, mesh):
    alone, together = run(train), on_ranks(mpirun, ranks, [*train, "--mesh", mesh])
    wanted, found = LINE.findall(alone[1]), LINE.findall(together[1])
    if alone[0] or together[0] or len(wanted) != 6 or len(found) != 6:
        sys.exit(f"one process ended with {alone}, {ranks} with {together}")
    for one, other in zip(wanted, found):
        assert all(abs(float(a) - float(b)) < 2e-4 for a, b in zip(one, other)), (wanted, found)


def main():
    mpirun, ranks, tool = sys.argv[1:]
    settings = ["train", "--size", "tiny", "--steps", "6", "--batch", "4", "--every", "1", "--window", "32"]
    train, llama = ([tool, "run", EXAMPLES / name / f"{name}.lua", *settings] for name in ("gpt2", "llama"))
    check(mpirun, ranks, train, "data=-1")
    check(mpirun, 4, llama, "data=2,tensor=2")
    code, text = on_ranks(mpirun, 2, [*llama, "--mesh", "data=1,tensor=2", "--save", "never.safetensors"])
    assert code and "are of whole tensors" in text, text
    code, text = run([*train, "--mesh", "tensor=2"])
    assert code and "--mesh must be data=N" in text, text
    code, text = on_ranks(mpirun, 3, [*train, "--mesh", "data=3"])
    assert code and "--batch must be divisible by the 3 processes" in text, text
    print(f"6 steps on {ranks} and 4 ranks are those of one process")


main()
