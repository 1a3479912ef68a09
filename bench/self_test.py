#!/usr/bin/env python3
"""bench/run on made-up programs: medians, the turns that programs take, and what it refuses."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

RUN = pathlib.Path(__file__).resolve().parent / "run"

# Each run appends its name to a log before each of two rows, and reports one more than the run before.
PROGRAM = """
import pathlib
from timing import report
log = pathlib.Path("log")
count = (log.read_text() if log.exists() else "").split().count("{who}")
print("a line that is no report")
for name in ("add", "mul"):
    with log.open("a") as lines:
        lines.write("{who}\\n")
    report(name, "{unit}", {base} + count * count / 4, {extra})
"""


def run(folder, *words):
    environment = {**os.environ, "THUNDER_PEERS_PYTHON": sys.executable}
    return subprocess.run([sys.executable, str(RUN), "--root", folder, *words], env=environment,
                          capture_output=True, text=True, check=False)


def plant(folder, path, who, unit="ns", base=0, extra=""):
    target = pathlib.Path(folder, "bench", path)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(PROGRAM.format(who=who, unit=unit, base=base, extra=extra), encoding="utf-8")


def rows_go_to_their_places(folder):
    """A row of the page is replaced, one of another machine stands behind it, and what the page has not is printed."""
    page, log = pathlib.Path(folder, "page.md"), pathlib.Path(folder, "log.json")
    page.write_text("| row | ours | peer | ratio | limit | machine | date | command |\n|---|---|---|---|---|---|---|---|\n"
                    "| add | 9 | - | - | - | this | then | `x` |\n| net: step | 9 ms | 18 | 0.5 | - | other | then | `x` |\n", encoding="utf-8")
    row = {"limit": None, "spread": None, "notes": []}
    log.write_text(json.dumps({"machine": {"date": "now"}, "command": "add net --peers", "rows": [
        {**row, "group": "add", "name": "add", "unit": "GFLOP/s", "ours": 30.0, "peers": {"jax": 20.0, "torch": 10.0}, "limit": 40.0},
        {**row, "group": "net", "name": "step", "unit": "ms", "ours": 1500.4, "peers": {}},
        {**row, "group": "net", "name": "new", "unit": "us", "ours": 2.0, "peers": {"torch": 8.0}}]}), encoding="utf-8")
    said = subprocess.run([sys.executable, RUN.with_name("table"), "--machine", "this", "--page", page, log], capture_output=True, text=True, check=True)
    assert said.stdout == "| net: new | 2 us | 8 | 0.25 | - | this | now | `add net --peers` |\n", said.stdout
    assert page.read_text(encoding="utf-8").splitlines()[2:] == [
        "| add | 30 | 10; jax 20 | 0.67 | 40; 75 % | this | now | `add net --peers` |",
        "| net: step | 9 ms | 18 | 0.5 | - | other | then | `x` |",
        "| net: step | 1500 ms | - | - | - | this | now | `add net --peers` |"], page.read_text(encoding="utf-8")


def refuses_what_is_no_checkout(folder):
    """A commit's name is no folder, and neither is what git does not know; a folder without libthunder is not one with it."""
    git = ["git", "-C", folder, "-c", "user.name=bench", "-c", "user.email=bench@example.org"]
    subprocess.run([*git, "init", "--quiet"], check=True)
    subprocess.run([*git, "commit", "--quiet", "--allow-empty", "--message", "first"], check=True)
    result = run(folder, "add", "--before", "HEAD")
    assert result.returncode == 1 and not result.stdout, result.stdout
    assert "--before: HEAD is no folder; for a commit, give a checkout of it: git worktree add FOLDER HEAD" in result.stderr, result.stderr
    result = run(folder, "add", "--before", "no-such-commit")
    assert result.returncode == 1 and result.stderr.endswith("--before: no-such-commit is no folder\n"), result.stderr
    result = run(folder, "add", "--library", folder)
    assert result.returncode == 1 and f"--library: {folder} has no libthunder.so.0" in result.stderr, result.stderr


def main():
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "bench").mkdir()
        shutil.copy(RUN.parent / "timing.py", pathlib.Path(folder, "bench"))
        plant(folder, "groups/add.py", "ours", base=10)
        plant(folder, "peers/add.py", "torch", base=20, extra='peer="torch", note="a note"')
        plant(folder, "peers/add-jax.py", "jax", base=30, extra='peer="jax"')
        plant(folder, "peers/add-limit.py", "limit", base=5, extra='limit=True')
        output = pathlib.Path(folder, "rows.json")
        result = run(folder, "add", "--peers", "--rounds", "3", "--json", str(output))
        assert result.returncode == 0, result.stderr
        row = json.loads(output.read_text(encoding="utf-8"))["rows"][0]
        assert (row["name"], row["unit"], row["ours"], row["limit"]) == ("add", "ns", 11, 6), row
        assert row["peers"] == {"torch": 21, "jax": 31} and row["notes"] == ["a note"], row
        log = pathlib.Path(folder, "log").read_text(encoding="utf-8").split()
        assert log == ["ours", "torch", "jax", "limit", "limit", "ours", "torch", "jax"] * 3, log
        assert "add" in result.stdout and "mul" in result.stdout and "(a note)" in result.stdout, result.stdout
        assert f"(add: ours / torch is {11 / 21:.3f} as geometric mean" in result.stdout, result.stdout

        with tempfile.TemporaryDirectory() as earlier:
            pathlib.Path(earlier, "bench").mkdir()
            shutil.copy(RUN.parent / "timing.py", pathlib.Path(earlier, "bench"))
            plant(earlier, "groups/add.py", "ours", base=8)
            result = run(folder, "add", "--before", earlier, "--rounds", "1", "--json", str(output))
            assert result.returncode == 0, result.stderr
            row = json.loads(output.read_text(encoding="utf-8"))["rows"][0]
            assert row["peers"] == {"before": 8} and row["ours"] > 8, row
            assert f"after / before is {row['ours'] / 8:.3f}" in result.stdout, result.stdout
            plant(folder, "groups/mul.py", "ours", base=8)
            result = run(folder, "add", "mul", "--before", earlier, "--rounds", "1")
            assert result.returncode == 0 and "mul: " in result.stderr and "has no such group" in result.stderr, result.stderr
            result = run(folder, "mul", "--before", earlier)
            assert result.returncode == 1 and f"--before: {earlier} has no program of mul" in result.stderr, result.stderr
            pathlib.Path(folder, "bench/groups/mul.py").unlink()

        refuses_what_is_no_checkout(folder)
        pathlib.Path(folder, "log").unlink()
        result = run(folder, "add", "--rounds", "3", "--best", "--json", str(output))
        assert result.returncode == 0, result.stderr
        row = json.loads(output.read_text(encoding="utf-8"))["rows"][0]
        assert row["ours"] == 10, row

        pathlib.Path(folder, "bench/peers/add-absent.py").write_text("import no_such_package", encoding="utf-8")
        result = run(folder, "add", "--peers", "--rounds", "1")
        assert result.returncode == 0 and "add-absent.py is left out: there is no no_such_package" in result.stderr, result.stderr

        plant(folder, "groups/add.py", "ours", base=10, extra="checksum=1.0")
        plant(folder, "peers/add.py", "torch", base=20, extra='peer="torch", checksum=1.0005')
        result = run(folder, "add", "--peers", "--rounds", "1")
        assert result.returncode == 0, result.stderr
        plant(folder, "peers/add.py", "torch", base=20, extra='peer="torch", checksum=1.5')
        result = run(folder, "add", "--peers", "--rounds", "1")
        assert result.returncode == 1 and "the checksum of torch is 1.5, that of ours 1" in result.stderr, result.stderr

        pathlib.Path(folder, "bench/groups/words.py").write_text(
            "import sys\nfrom timing import report\nreport(' '.join(sys.argv[1:]), 'ns', 1)\n", encoding="utf-8")
        result = run(folder, "words:unet,vit:infer", "--rounds", "1", "--follow")
        assert result.returncode == 0 and "unet,vit infer: ours 1 ns" in result.stderr, result.stderr
        pathlib.Path(folder, "bench/groups/words.py").unlink()

        rows_go_to_their_places(folder)

        result = run(folder, "sub")
        assert result.returncode == 1 and "no group sub; there are: add" in result.stderr, result.stderr
        plant(folder, "peers/add.py", "torch", unit="us", extra='peer="torch"')
        result = run(folder, "--peers")
        assert result.returncode == 1 and "add is in ns and in us" in result.stderr, result.stderr
        pathlib.Path(folder, "bench/groups/add.py").write_text("raise SystemExit('broken')", encoding="utf-8")
        result = run(folder)
        assert result.returncode == 1 and "broken" in result.stderr, result.stderr
    print("bench/run: ok")


if __name__ == "__main__":
    main()
