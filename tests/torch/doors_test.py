"""Random programs through torch.compile(backend="thunder") and thunder.compile(module), in all that can be told of a call: tests/doors."""
import pathlib
import subprocess
import sys
import unittest

import support

RUN = pathlib.Path(__file__).resolve().parents[1] / "doors" / "run"


@support.needs_torch
class Doors(unittest.TestCase):
    def test_show_what_eager_shows(self):
        made = subprocess.run([sys.executable, RUN, "--torch", "--programs", "12"], capture_output=True, text=True)
        self.assertEqual(made.returncode, 0, made.stdout + made.stderr)


if __name__ == "__main__":
    unittest.main()
