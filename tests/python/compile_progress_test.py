"""The line that says how far a compile is."""
import io
import unittest
from unittest import mock

import thunder as th
from thunder import _compile_progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def compiled(stream, slow=0.0, **options):
    """What a compile writes to standard error, where it takes longer than that."""
    with mock.patch("sys.stderr", stream), mock.patch.object(_compile_progress, "_SLOW", slow):
        f = th.compile(lambda x: (x @ x).exp().sum(), **options)
        f(th.ones(4, 4))
        before = stream.getvalue() if stream else ""
        f(th.ones(4, 4))
        return before, (stream.getvalue() if stream else "")


class CompileProgress(unittest.TestCase):
    def tearDown(self):
        th.show_compiles(None)

    def test_a_slow_compile_draws_a_line_on_a_terminal_and_takes_it_away(self):
        drawn, after = compiled(Terminal())
        self.assertRegex(drawn, "\r\x1b\\[Kcompiling: [a-z_]+ \\d+/\\d+\r\x1b\\[K")
        self.assertTrue(drawn.endswith("\r\x1b[K"), drawn)
        self.assertEqual(after, drawn, "a call that finds a program draws nothing")

    def test_a_quick_compile_draws_nothing(self):
        self.assertEqual(compiled(Terminal(), slow=1e9)[0], "")

    def test_nothing_is_drawn_elsewhere_unless_it_is_asked_for(self):
        self.assertEqual(compiled(io.StringIO())[0], "")
        self.assertEqual(compiled(None)[0], "")
        th.show_compiles(True)
        self.assertIn("compiling: ", compiled(io.StringIO())[0])
        th.show_compiles(False)
        self.assertEqual(compiled(Terminal())[0], "")

    def test_a_function_s_own_progress_comes_first(self):
        told = []
        self.assertEqual(compiled(Terminal(), progress=lambda *at: told.append(at))[0], "")
        self.assertTrue(told)

    def test_a_stream_that_is_closed_is_no_error(self):
        th.show_compiles(True)
        closed = io.StringIO()
        closed.close()
        with mock.patch("sys.stderr", closed), mock.patch.object(_compile_progress, "_SLOW", 0.0):
            self.assertEqual(th.compile(lambda x: x + 1)(th.ones(1)).tolist(), [2])


if __name__ == "__main__":
    unittest.main()
