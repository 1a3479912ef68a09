"""interrupts.py THUNDER [LUA]: Ctrl-C in a running script is an error at the script's line, and at the prompt it keeps the session.
LUA: a stock interpreter that finds the library."""
# covers: cli/interrupt.cpp
import os
import signal
import subprocess
import sys
import tempfile
import time

from repl import Terminal

# ThreadSanitizer hands a signal on where the program calls the C library, which a loop that does nothing never does.
BUSY = "while true do local made = {} end" if "TSAN_OPTIONS" in os.environ else "while true do end"

# A compiled function that is called over and over. What comes last says that it is ready where an interrupt is heard from on: all
# of it stands on one line, the one that the error names.
LONG = """local th = require "thunder"
local f = th.compile(function(x)
  local y = x
  for i = 1, 300 do y = y:matmul(x) end
  return y
end)
local x = th.zeros { 256, 256 }
f(x)
local function ready() io.stdout:write("ready\\n") io.stdout:flush() end %s
"""


def interrupted(command, last_line):
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as file:
        file.write(LONG % last_line)
        file.flush()
        with subprocess.Popen([*command, file.name], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            assert process.stdout.readline() == "ready\n"
            time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=100)
        return process.returncode, out, err, f"{file.name}:9: interrupted"


def main():
    for last_line in ("ready() while true do f(x) end", "coroutine.wrap(function() ready() while true do f(x) end end)()", "ready() " + BUSY):
        code, _, err, told = interrupted([sys.argv[1], "run"], last_line)
        assert code == -signal.SIGINT and err.startswith("thunder: ") and told in err, (last_line, code, err)
    # A script that catches it goes on.
    code, out, err, told = interrupted([sys.argv[1], "run"], "print(pcall(function() ready() while true do f(x) end end))")
    assert (code, out, err) == (0, f"false\t{told}\n", ""), (code, out, err)
    if len(sys.argv) > 2:
        code, _, err, told = interrupted(sys.argv[2:], "ready() while true do f(x) end")
        assert code == 1 and told + "!" in err, (code, err)

    with tempfile.TemporaryDirectory() as home:
        terminal = Terminal(home)
        terminal.until(r"`th` is the library")
        terminal.until("> ")
        # The terminal drops what the tool has not read yet, which may be while the tool reads it.
        for _ in range(30):
            terminal.type("error('this line was not cleared')")
            terminal.until("not cleared")
            terminal.type("\x03")
            terminal.until("> ")
        terminal.type("x = 41\n")
        terminal.until("> ")
        terminal.type("for i = 1, 2 do\n")
        terminal.until(">> ")
        terminal.type("\x03")  # the lines before, too
        terminal.until("> ")
        terminal.type("'x is ' .. x + 1\n")
        terminal.until("x is 42")
        terminal.type("f = th.compile(function(x) local y = x for i = 1, 300 do y = y:matmul(x) end return y end) x = th.zeros { 256, 256 }\n")
        terminal.type("f(x) print('it ' .. 'turns') while true do f(x) end\n")
        terminal.until("it turns")
        time.sleep(0.05)
        terminal.type("\x03")
        terminal.until("input:1: interrupted")
        terminal.type("'still ' .. 'there'\n")
        terminal.until("still there")
        assert terminal.end() == 0


if __name__ == "__main__":
    main()
