"""gpt2.py MPIRUN RANKS TOOL: examples/gpt2 with --mesh prints on that many ranks what one process prints, once."""
import pathlib
import re
import sys

sys.dont_write_bytecode = True
from launch import on_ranks, run  # noqa: E402

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples/gpt2/gpt2.lua"
LINE = re.compile(r"^step (\d+) of 6: loss ([\d.]+), held out ([\d.]+)$", re.M)


def main():
    mpirun, ranks, tool = sys.argv[1:]
    train = [tool, "run", EXAMPLE, "train", "--size", "tiny", "--steps", "6", "--batch", "4", "--every", "1", "--window", "32"]
    alone, together = run(train), on_ranks(mpirun, ranks, [*train, "--mesh", "data=-1"])
    wanted, found = LINE.findall(alone[1]), LINE.findall(together[1])
    if alone[0] or together[0] or len(wanted) != 6 or len(found) != 6:
        sys.exit(f"one process ended with {alone}, {ranks} with {together}")
    for one, other in zip(wanted, found):
        assert all(abs(float(a) - float(b)) < 2e-4 for a, b in zip(one, other)), (wanted, found)
    code, text = run([*train, "--mesh", "tensor=2"])
    assert code and "--mesh must be data=N" in text, text
    code, text = on_ranks(mpirun, 3, [*train, "--mesh", "data=3"])
    assert code and "--batch must be divisible by the 3 processes" in text, text
    print(f"{len(found)} steps on {ranks} ranks are those of one process")


main()
