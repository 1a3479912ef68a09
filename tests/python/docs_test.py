"""What the documentation shows runs as it stands."""
import contextlib
import io
import os
import pathlib
import re
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parent.parent.parent


def run_blocks(path):
    """Runs the Python blocks of a document, one after the other in one namespace; what they printed."""
    blocks = re.findall(r"^```python(?: \S+)?\n(.*?)^```", (TOP / path).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    namespace, printed, outer = {}, io.StringIO(), os.getcwd()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(printed):
        os.chdir(folder)
        try:
            for number, block in enumerate(blocks):
                exec(compile(block, f"{path}, block {number + 1}", "exec"), namespace)
        finally:
            os.chdir(outer)
    return len(blocks), printed.getvalue()


class Documents(unittest.TestCase):
    def test_the_readme_runs(self):
        self.assertEqual(run_blocks("README.md"), (1, "5.0\n"))

    def test_a_program_of_the_front_page_has_ten_lines(self):
        text = (TOP / "README.md").read_text(encoding="utf-8")
        programs = dict(re.findall(r"^```\w+ (app\.\w+)\n(.*?)^```", text, re.DOTALL | re.MULTILINE))
        self.assertEqual(set(programs), {"app.lua", "app.c", "app.py"})
        for name, program in programs.items():
            self.assertLessEqual(len(program.splitlines()), 10, name)

    def test_the_page_on_python_runs(self):
        count, printed = run_blocks("docs/python.md")
        self.assertGreaterEqual(count, 4)
        self.assertIn("return", printed)

    def test_the_page_on_programs_runs(self):
        self.assertEqual(run_blocks("docs/programs.md"), (3, "True\nTrue\nTrue\n"))

    def test_the_page_on_traces_runs(self):
        count, printed = run_blocks("docs/traces.md")
        self.assertEqual(count, 1)
        self.assertTrue(printed.startswith("(7, 4)\nTrue\n"), printed)
        self.assertIn("the first op that differs", printed)

    def test_the_page_on_sizes_that_vary_runs(self):
        self.assertEqual(run_blocks("docs/dynamic.md"), (2, "2\nTrue\n3\n2 2\n"))

    def test_the_page_on_code_that_reads_values_runs(self):
        said = "divided by 4.0\nthe value of eq, bool[], was read 2\n"
        self.assertEqual(run_blocks("docs/segments.md"), (1, said))

    def test_the_pages_for_users_of_pytorch_run(self):
        self.assertEqual(run_blocks("docs/from-pytorch.md"), (10, ""))
        self.assertEqual(run_blocks("docs/ops-from-pytorch.md"), (7, ""))
        count, printed = run_blocks("docs/compiled-functions.md")
        self.assertEqual(count, 6)
        self.assertIn("traced tensor", printed)  # the error of a branch on data

    def test_the_page_on_finding_out_why_runs(self):
        count, printed = run_blocks("docs/debugging.md")
        self.assertEqual(count, 7)
        said = [line.rstrip() for line in printed.splitlines()]
        for line in ("thunder.recompiles", "input '1': value is 2, was 1", "1 hit, 2 misses", "True True", "transform is the first stage", "digraph",
                     "nan log makes NaN of operands that have none", "False", "<!doctype html>", "layer    kind        gives    parameters  FLOP",
                     "212 parameters, 848B; 1.26 kFLOP; 432B of layers' results"):
            self.assertIn(line, said, printed)


if __name__ == "__main__":
    unittest.main()
