"""terminal.py THUNDER: what th.progress writes to a terminal, and what it writes where there is none."""
import os
import pty
import subprocess
import sys
import tempfile

# Long enough for a few redraws, ten a second; the second note is shorter than the first.
SCRIPT = """
local th = require "thunder"
local bar = th.progress(4, { label = "work" })
for i in bar do
  bar:note(i < 3 and "loss 12345" or "ok")
  local start = os.clock()
  while os.clock() - start < 0.12 do end
end
for _ in th.progress(0, { label = "none" }) do end
local numbers = th.progress(function(_, i) i = (i or 0) + 1; return i <= 2 and i or nil end, { label = "open" })
for _ in numbers do end
do
  local left <close> = th.progress(8, { label = "left" })
  for i in left do if i == 2 then break end end
end
"""


def on_terminal(command):
    """What a terminal gets as standard error."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, stderr=theirs) as process:
        os.close(theirs)
        written = b""
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:  # the last writer has gone
                break
            if not part:
                break
            written += part
    os.close(ours)
    assert process.returncode == 0, written
    return written.decode().replace("\r\n", "\n")  # what the terminal makes of a line's end


def screen(line):
    """A line as it looks after each carriage return has gone back to its beginning."""
    shown = []
    for part in line.split("\r"):
        shown[: len(part)] = part
    return "".join(shown).rstrip()


def check_terminal(text):
    lines = text.split("\n")
    assert len(lines) == 5 and lines[-1] == "", text
    drawings = lines[0].split("\r")[1:]
    assert 3 <= len(drawings) <= 6, drawings
    assert "[" + "." * 24 + "]    0%  0/4" in drawings[0], drawings
    assert any("[" + "#" * 12 + "." * 12 + "]   50%  2/4" in one and "left 0:0" in one for one in drawings), drawings
    last = screen(lines[0])
    assert last.startswith("work  [" + "#" * 24 + "]  100%  4/4  0:0") and last.endswith("  ok"), last
    assert "12345" not in last, last
    assert screen(lines[1]).startswith("none  [" + "#" * 24 + "]  100%  0/0"), lines[1]
    assert screen(lines[2]).startswith("open  2  0:00"), lines[2]
    assert "1/8" in screen(lines[3]), lines[3]


def check_plain(text):
    assert "\r" not in text and "[" not in text and "#" not in text, text
    lines = text.splitlines()
    assert [line.split()[0] for line in lines] == ["work", "none", "open", "left"], text
    assert "100%  4/4" in lines[0] and lines[0].endswith("ok"), text


def main():
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write(SCRIPT)
        script.flush()
        command = [sys.argv[1], "run", script.name]
        check_terminal(on_terminal(command))
        check_plain(subprocess.run(command, check=True, stderr=subprocess.PIPE, text=True).stderr)


if __name__ == "__main__":
    main()
