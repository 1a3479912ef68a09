"""wheel.py TOP [--packages FOLDER]: the wheel of `tools/package wheel`, in a new environment beside numpy alone: programs of the front page run,
auditwheel finds nothing that is not on each Linux of the wheel's tag, and the size is the one that docs/python.md names. It needs an index of
packages for numpy and auditwheel; elsewhere it says that it is skipped. FOLDER: where the wheel was made before."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile


def run(*command, **named):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **named)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))[:200]}: {done.returncode}\n{done.stdout[-3000:]}")
    return done.stdout


def front_page(top, name):
    return re.search(rf"^```\w+ {re.escape(name)}\n(.*?)^```", (top / "README.md").read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)[1]


def installed(top, wheel, folder):
    """It and numpy are all that is there, and it does what the front page shows."""
    run("/usr/bin/python3", "-m", "venv", folder / "here")
    pip = folder / "here" / "bin" / "pip"
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "LD_LIBRARY_PATH")}
    run(pip, "install", "--quiet", "--disable-pip-version-check", wheel)
    names = {line.split("==")[0] for line in run(pip, "list", "--disable-pip-version-check", "--format=freeze").split()}
    assert names - {"pip", "setuptools", "wheel"} == {"libthunder", "numpy"}, names
    for name, program in (("app.py", "python"), ("app.lua", "thunder")):
        (folder / name).write_text(front_page(top, name), encoding="utf-8")
        said = run(folder / "here" / "bin" / program, *["run"] * (program == "thunder"), name, cwd=folder, env=environment)
        assert said.startswith("5.0"), (name, said)
    doctor = run(folder / "here" / "bin" / "thunder", "doctor", env=environment)
    assert re.search(r"^kernel +exp\(a \* b\) \+ a gives the right values, as one fused kernel", doctor, re.MULTILINE), doctor


def audited(top, wheel):
    """The tag in its name is the one that auditwheel gives it: no symbol is newer, and no library is needed that such a Linux may lack."""
    said = run("/usr/bin/python3", "-m", "auditwheel", "show", wheel, env={**os.environ, "PYTHONPATH": str(top / ".auditwheel")})
    tag = wheel.stem.split("-")[-1]
    assert tag.startswith("manylinux_2_"), tag
    consistent = re.search(r'is consistent with the following platform tag: "(\S+)"', " ".join(said.split()))
    assert consistent and consistent[1] == tag, f"{tag}: {said}"
    return said


def has_the_size_that_is_named(top, wheel):
    named = float(re.search(r"The wheel has ([\d.]+) MB ", (top / "docs" / "python.md").read_text(encoding="utf-8"))[1])
    size = wheel.stat().st_size / 1e6
    assert abs(size - named) < 0.1 * named, f"docs/python.md says {named} MB, the wheel has {size:.1f}"


def main():
    top, *rest = sys.argv[1:]
    top = pathlib.Path(top)
    try:
        run(top / "tools" / "setup-auditwheel")
    except SystemExit as failed:
        print(f"skipped: {failed}")
        return
    with tempfile.TemporaryDirectory() as folder:
        packages = pathlib.Path(rest[1] if rest else f"{folder}/packages")
        if not rest:
            run(top / "tools" / "package", "--output", packages, "wheel")
        wheel, = packages.glob("*.whl")
        has_the_size_that_is_named(top, wheel)
        print(audited(top, wheel))
        installed(top, wheel, pathlib.Path(folder))


if __name__ == "__main__":
    main()
