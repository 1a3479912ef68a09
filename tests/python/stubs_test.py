"""Type stubs: they parse, name everything that users see, and are accepted by a type checker where there is one."""
# covers: bindings/python/stubs/*.py
import ast
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import thunder as th
from thunder import nn, optim

PACKAGE = pathlib.Path(th.__file__).parent

USE = """
import numpy
import thunder as th
from thunder import data, nn, optim

@th.compile
def f(x: th.Tensor, y: th.Tensor) -> th.Tensor:
    return (1 - x + y * 2.0).softmax(-1)

@th.compile(verify=True, executors=["host"])
def g(x: th.Tensor) -> th.Tensor:
    return th.relu(x) @ x.T

a: th.Tensor = f(th.ones(2, 3), th.zeros([2, 3], dtype=th.float32))
b: numpy.ndarray = a[0, 1:].view(1, 2).to(th.float64).float().numpy()
mine = th.executor("mine")
@mine.implements("gelu", checker=lambda line: line.inputs[0] is not None and line.inputs[0].ndim == 2)
def gelu(x: th.Tensor, approximate: str) -> th.Tensor:
    return x
h = th.compile(lambda x: th.gelu(x), executors=[mine, "host"], passes=[th.Pass("p", lambda trace: len(trace))])
@th.add_pass("mine")
def edit(trace):
    for line in trace:
        line.replace(lambda x: x)
opt = optim.AdamW(nn.Sequential(nn.Linear(3, 4, bias=False), nn.ReLU()).parameters(), lr=1e-3)
opt.lr = 1e-4
c: th.Tensor = th.softmax(a.sum(axis=0, keepdims=True), axis=-1)
d: th.Tensor = th.max(a, axis=0, keepdims=True).values + a.max(axis=0).values + a.min(1)[0]
layers = nn.ModuleDict({"fc": nn.Linear(3, 4)})
first: th.Tensor = next(layers.parameters())
marked: th.Tensor = nn.Parameter(th.ones(2))
missing: list[str] = layers.load_state_dict(layers.state_dict()).missing_keys
"""


def names_of(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    names |= {node.target.id for node in tree.body if isinstance(node, ast.AnnAssign)}
    names |= {target.id for node in tree.body if isinstance(node, ast.Assign) for target in node.targets}
    return names | {alias.asname for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names}


class Stubs(unittest.TestCase):
    def test_every_public_name_has_one(self):
        missing = {name for name in dir(th) if not name.startswith("_")} - names_of(PACKAGE / "__init__.pyi")
        self.assertLessEqual(missing, {"enum", "os", "sys"})
        for module in (nn, optim):
            public = {name for name, value in vars(module).items() if isinstance(value, type) and value.__module__ == module.__name__
                      and not name.startswith("_")}
            self.assertLessEqual(public, names_of(PACKAGE / f"{module.__name__.split('.')[1]}.pyi"))

    @unittest.skipUnless(shutil.which("mypy"), "there is no mypy")
    def test_a_type_checker_accepts_right_and_refuses_wrong_uses(self):
        with tempfile.TemporaryDirectory() as folder:
            right, wrong = pathlib.Path(folder, "right.py"), pathlib.Path(folder, "wrong.py")
            right.write_text(USE, encoding="utf-8")
            wrong.write_text("import thunder as th\nth.softmax(th.ones(2), dmi=1)\n", encoding="utf-8")
            check = ["mypy", "--cache-dir", folder + "/cache"]
            environment = {"MYPYPATH": str(PACKAGE.parent), "PATH": "/usr/bin:/bin"}
            accepted = subprocess.run([*check, str(right)], env=environment, capture_output=True, text=True, check=False)
            self.assertEqual(accepted.returncode, 0, accepted.stdout)
            refused = subprocess.run([*check, str(wrong)], env=environment, capture_output=True, text=True, check=False)
            self.assertIn('Unexpected keyword argument "dmi"', refused.stdout)


if __name__ == "__main__":
    unittest.main()
