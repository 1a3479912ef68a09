"""repl.py THUNDER: what the tool does on a terminal without a command: prints, completes, reads on, survives errors and
interrupts, and remembers."""
# covers: cli/line_editor.cpp cli/completion.cpp
import os
import pty
import re
import select
import signal
import sys
import tempfile
import time


class Terminal:
    def __init__(self, home):
        self.pid, self.screen = pty.fork()
        if self.pid == 0:
            os.execve(sys.argv[1], [sys.argv[1]], {**os.environ, "HOME": home, "TERM": "xterm"})
        self.seen = ""

    def until(self, pattern):
        """Reads until the pattern has appeared, and forgets what stands before its end."""
        deadline = time.monotonic() + 20
        while not (found := re.search(pattern, self.seen)):
            left = max(0, deadline - time.monotonic())
            assert select.select([self.screen], [], [], left)[0], f"{pattern!r} did not appear: {self.seen!r}"
            self.seen += os.read(self.screen, 4096).decode(errors="replace")
        self.seen = self.seen[found.end():]

    def type(self, text):
        os.write(self.screen, text.encode())

    def end(self):
        """Ctrl-D on a cleared line (Ctrl-U), until it is heard: one that comes while the terminal changes its mode, after
        the prompt has appeared, is taken for a character of the line."""
        self.until("> ")
        for _ in range(100):
            self.type("\x15\x04")
            if select.select([self.screen], [], [], 0.2)[0]:
                try:
                    os.read(self.screen, 4096)
                except OSError:  # the other side is closed
                    break
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def main():
    with tempfile.TemporaryDirectory() as home:
        terminal = Terminal(home)
        terminal.until(r"`th` is the library")
        terminal.type("th.tensor{1, 2} * 2\n")
        terminal.until(r"tensor\(\[2, 4\]\)")
        terminal.type("for i = 1, 2 do\n")
        terminal.until(">> ")
        terminal.type("print('turn', i) end\n")
        terminal.until("turn\t2|turn +2")
        terminal.type("th.nothing_of_the_kind()\n")
        terminal.until("stack traceback")
        terminal.type("print('it ' .. 'turns') while true do local made = {} end\n")
        terminal.until("it turns")
        os.kill(terminal.pid, signal.SIGINT)
        terminal.until("interrupted")
        terminal.type("'still ' .. 'there'\n")
        terminal.until("still there")
        assert terminal.end() == 0
        if os.path.exists(os.path.join(home, ".thunder_history")):  # with libedit
            with open(os.path.join(home, ".thunder_history"), encoding="utf-8") as lines:
                assert "th.tensor" in lines.read()
            terminal = Terminal(home)
            terminal.until("> ")
            terminal.type("th.log_softm\t\n")
            terminal.until(r"log_softmax\(tensor input")  # what was typed has become th.log_softmax
            for typed, is_kind in (("th.nn.LayerN\t", "th.nn.LayerNorm"), ("th.optim.AdamW", "th.optim.AdamW"), ("th.optim.Step\t", "th.optim.StepLR")):
                terminal.type(f"'is ' .. tostring({typed} == {is_kind})\n")
                terminal.until("is true")
            assert terminal.end() == 0


if __name__ == "__main__":
    main()
