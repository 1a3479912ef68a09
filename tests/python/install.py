#!/usr/bin/env python3
"""install.py PACKAGE BUILD: pip installs the package into an environment of its own, without a network; it then needs
neither the tree nor the build."""
import os
import pathlib
import subprocess
import sys
import tempfile
import venv

USE = """
import thunder as th
package = th.__file__.rsplit("/", 1)[0]
assert package.startswith(PREFIX), package
assert any(line.split()[-1].startswith(package + "/lib/libthunder.so") for line in open("/proc/self/maps")), "the library"
assert th.compile(lambda x: (x * 2).sum())(th.ones(3)).item() == 6
for name in ("py.typed", "__init__.pyi", "nn.pyi", "optim.pyi", "data.pyi"):
    open(package + "/" + name, encoding="utf-8").close()
"""


def main():
    package, build = sys.argv[1:]
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "LD_LIBRARY_PATH")}
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True, system_site_packages=True)  # for setuptools, wheel and numpy
        python = str(pathlib.Path(folder, "bin/python"))
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-index", "--no-build-isolation", "--no-deps", package],
                       check=True, env={**environment, "THUNDER_BUILD": build})
        subprocess.run([python, "-c", USE.replace("PREFIX", repr(os.path.realpath(folder)))], check=True, env=environment, cwd=folder)


if __name__ == "__main__":
    main()
