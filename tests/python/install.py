#!/usr/bin/env python3
"""install.py PACKAGE BUILD HIDE: pip installs the package into an environment of its own, without a network; it then needs
neither the tree nor the build, nor, seen through HIDE (tests/support/hide_libraries.c), any library but the language's own."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import venv

import numpy
import setuptools
import wheel

USE = """
import thunder as th
package = th.__file__.rsplit("/", 1)[0]
assert package.startswith(PREFIX), package
assert any(line.split()[-1].startswith(package + "/lib/libthunder.so") for line in open("/proc/self/maps")), "the library"
assert th.compile(lambda x: (x * 2).sum())(th.ones(3)).item() == 6
import os
assert os.path.getsize(package + "/lib/libthunder.so.0") < 20e6, "it has what only debuggers read"
import subprocess, sys
said = subprocess.run([sys.executable, "-m", "thunder", "--version"], check=True, capture_output=True, text=True).stdout
assert th.__version__ in said, (th.__version__, said)
assert subprocess.run([sys.prefix + "/bin/thunder", "--version"], check=True, capture_output=True, text=True).stdout == said
for name in ("py.typed", "__init__.pyi", "nn.pyi", "optim.pyi", "data.pyi"):
    open(package + "/" + name, encoding="utf-8").close()
"""

# What most machines with Python lack. libcjson is linked; the package carries it.
HIDDEN = ("libLLVM", "libdnnl", "libcjson")
LACKING = """
import warnings
import thunder as th
from thunder import nn, optim
loaded = open("/proc/self/maps").read()
assert "libLLVM" not in loaded and "libdnnl" not in loaded
assert th.__file__.rsplit("/", 1)[0] + "/lib/libcjson.so" in loaded
lacks = th.unavailable_executors()
assert "libLLVM" in lacks["fusion"], lacks
assert "libdnnl.so.2" in lacks["onednn"] and "onednn" not in th.executors(), lacks
try:
    th.compile(lambda x: x @ x, executors=["onednn"])(th.ones(2, 2))
    raise AssertionError("it was not refused")
except th.Error as error:
    assert "onednn is not available here: none of libdnnl" in str(error), error
assert (th.ones(2, 3) @ th.ones(3, 2)).tolist() == [[3, 3], [3, 3]]
th.seed(1)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
opt = optim.AdamW(net.parameters(), lr=1e-2)
@th.compile
def step(x, y):
    loss = th.cross_entropy(net(x), y)
    opt.step(th.grad_of(loss, net.parameters()))
    return loss
x = th.randn(32, 8)
y = (x.sum(1) > 0).long()
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    losses = [step(x, y).item() for _ in range(50)]
    th.compile(lambda x: x * 2 + 1)(x)
assert len(said) == 1 and "nothing is fused" in str(said[0].message) and "libLLVM" in str(said[0].message), [str(one.message) for one in said]
assert losses[-1] < losses[0] / 2, losses
assert "by host" in str(th.last_traces(step)[-1]) and "by fusion" not in str(th.last_traces(step)[-1])
"""


def main():
    package, build, hide = sys.argv[1:]
    environment = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    # What the build requires is on PYTHONPATH alone, as when pip itself makes an isolated environment for the build.
    places = {os.path.dirname(os.path.dirname(module.__file__)) for module in (numpy, setuptools, wheel)}
    environment["PYTHONPATH"] = os.pathsep.join(sorted(places))
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = str(pathlib.Path(folder, "bin/python"))
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-index", "--no-build-isolation", "--no-deps", package],
                       check=True, env={**environment, "THUNDER_BUILD": build})
        subprocess.run([python, "-c", USE.replace("PREFIX", repr(os.path.realpath(folder)))], check=True, env=environment, cwd=folder)
        # An empty entry of a library's RUNPATH is the current folder, of which anybody may be the owner.
        searched = subprocess.run([python, "-m", "thunder", "doctor"], check=True, cwd=folder, capture_output=True, text=True,
                                  env={**environment, "LD_DEBUG": "libs"}).stderr
        tried = set(re.findall(r"trying file=(\S+)", searched))
        assert any("libdnnl" in file for file in tried) and all(file.startswith("/") for file in tried), sorted(tried)
        subprocess.run([python, "-OO", "-c", "import thunder; thunder.nn.Linear(2, 3)"], check=True, cwd=folder, env=environment)
        subprocess.run([python, "-c", LACKING], check=True, cwd=folder,
                       env={**environment, "LD_AUDIT": hide, "HIDE_LIBRARIES": ":".join(HIDDEN)})


if __name__ == "__main__":
    main()
