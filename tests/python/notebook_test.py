"""The notebook runs from its top to its bottom, gives what it shows, and is one that Jupyter opens.

THUNDER_UPDATE_GOLDEN=1 stores what its cells give. Numbers with a point are not compared, nor the times and places in traces:
the notebook asserts what it claims of them. Nor are cells with the tag "varies", whose outputs are those of one machine, nor any
where nothing is fused.
"""
import ast
import contextlib
import io
import json
import os
import pathlib
import re
import unittest

import thunder as th

PATH = pathlib.Path(__file__).resolve().parent.parent.parent / "examples/tour.ipynb"
VARIES = re.compile(r"-?\d+\.\d*(?:e[+-]?\d+)?|-?0x[0-9a-f.]+p[+-]?\d+| at \S+:\d+$|\s+(?=-?\d+\.|[,\]])", re.MULTILINE)


def lines(text):
    return text.splitlines(keepends=True)


def run_cell(source, name, namespace):
    """The outputs of a cell: what it prints, and the value of its last line."""
    tree, printed, value = ast.parse(source), io.StringIO(), None
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, name, "exec"), namespace)
        if last:
            value = eval(compile(ast.Expression(last.value), name, "eval"), namespace)
    outputs = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": lines(printed.getvalue())})
    if value is not None:
        outputs.append({"data": {"text/plain": lines(repr(value))}, "execution_count": None, "metadata": {},
                        "output_type": "execute_result"})
    return outputs


def text_of(outputs):
    return "".join("".join(output.get("text") or output["data"]["text/plain"]) + "\n" for output in outputs)


class Tour(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.notebook = json.loads(PATH.read_text(encoding="utf-8"))

    def test_is_a_notebook_of_the_fourth_format(self):
        book = self.notebook
        self.assertEqual((book["nbformat"], book["nbformat_minor"]), (4, 5))
        self.assertEqual(book["metadata"]["kernelspec"]["name"], "python3")
        self.assertEqual(len({cell["id"] for cell in book["cells"]}), len(book["cells"]))
        for number, cell in enumerate(book["cells"]):
            fields = {"id", "cell_type", "metadata", "source"}
            if cell["cell_type"] == "code":
                fields |= {"execution_count", "outputs"}
            self.assertEqual(set(cell), fields, cell["id"])
            self.assertIn(cell["cell_type"], ("code", "markdown"))
            self.assertTrue(all(isinstance(line, str) for line in cell["source"]), number)

    def test_gives_what_it_shows(self):
        namespace, outer, count = {"__name__": "__main__"}, os.getcwd(), 0
        os.chdir(PATH.parent)
        try:
            for cell in self.notebook["cells"]:
                if cell["cell_type"] != "code":
                    continue
                count += 1
                outputs = run_cell("".join(cell["source"]), cell["id"], namespace)
                for output in outputs:
                    if "execution_count" in output:
                        output["execution_count"] = count
                if os.environ.get("THUNDER_UPDATE_GOLDEN"):
                    cell["execution_count"], cell["outputs"] = count, outputs
                elif "fusion" not in th.unavailable_executors() and "varies" not in cell["metadata"].get("tags", []):
                    shown, given = (VARIES.sub("#", text_of(each)) for each in (cell["outputs"], outputs))
                    self.assertEqual(shown, given, cell["id"])
        finally:
            os.chdir(outer)
        self.assertGreaterEqual(count, 10)
        if os.environ.get("THUNDER_UPDATE_GOLDEN"):
            PATH.write_text(json.dumps(self.notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    unittest.main()
