"""The description of the classes: what it refuses, and that every language has every member."""
# covers: bindings/swig/emit/*.py bindings/swig/generate.py
import importlib
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "bindings" / "swig"))

from emit import actions, description  # noqa: E402
from emit.layer import camel, pascal  # noqa: E402

CLASSES, FUNCTIONS = description.load(ROOT)
STYLES = {"php": camel, "java": camel, "csharp": pascal, "go": pascal}


def described(line):
    of = description.Class("Optimizer", "thunder_optimizer")
    return actions.defined(description.read_member(line, of), FUNCTIONS)


class Description(unittest.TestCase):
    def test_every_language_has_every_member(self):
        for language in description.SWIG:
            emitter, style = importlib.import_module("emit." + language), STYLES.get(language, str)
            for c in CLASSES:
                text = "\n".join(emitter.members(c) if c.name in ("", "Compiled") else emitter.whole(c))
                for m in c.of(language):
                    self.assertIn(m.action, text.lower(), f"{language}: {c.name}.{m.name}")
                    if not m.is_new and not m.idioms:
                        self.assertIn(style(m.names.get(language, m.name)), text, f"{language}: {c.name}.{m.name}")

    def test_the_headers_say_how_an_action_calls(self):
        self.assertIn("check(thunder_optimizer_set_f64(self.handle, name, value));", described("put(name: text, value: real) = thunder_optimizer_set_f64"))
        self.assertIn("thunder_module_load(inner, path, static_cast<int32_t>(strict))",
                      described("load(path: text, strict: bool) = thunder_optimizer_state . thunder_module_load"))

    def test_what_no_function_takes_is_refused(self):
        for line, why in (("put(name: text) = thunder_optimizer_set_f64", "nothing is given for 'double value'"),
                          ("get(name: text, other: text) -> real = thunder_optimizer_get_f64", "takes no 'other'"),
                          ("get name = thunder_optimizer_get_f64", "cannot read")):
            with self.assertRaisesRegex(SystemExit, why):
                described(line)


if __name__ == "__main__":
    unittest.main()
