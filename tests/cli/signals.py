"""signals.py THUNDER: the tool on interrupts every other millisecond while it computes products. It goes on, and computes the same. For
2 seconds, or as many as THUNDER_SIGNAL_SECONDS says."""
import os
import signal
import subprocess
import sys
import threading
import time

SETUP = """th.seed(1) a, b = th.rand{1500, 1500}, th.rand{1500, 1500}
f = th.compile(function(x, y) return x:matmul(y) end)
wanted = f(a, b)
wrong, rounds = 0, 0
"""
# An interrupt ends the line, wherever it is.
ROUND = "for i = 1, 20 do local r = f(a, b) rounds = rounds + 1 if (r - wanted):abs():sum():item() ~= 0 then wrong = wrong + 1 end end\n"
END = "\nprint('rounds ' .. rounds .. ', wrong ' .. wrong)\n"


def main():
    with subprocess.Popen([sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stdin.write(SETUP + "print 'ready'\n")
        process.stdin.flush()
        assert process.stdout.readline() == "ready\n"
        errors = []
        reader = threading.Thread(target=lambda: errors.append(process.stderr.read()))
        reader.start()
        end = time.monotonic() + float(os.environ.get("THUNDER_SIGNAL_SECONDS", 2))
        while time.monotonic() < end:
            process.stdin.write(ROUND)
            process.stdin.flush()
            for _ in range(50):
                time.sleep(0.002)
                process.send_signal(signal.SIGINT)
        time.sleep(0.2)
        process.stdin.write(END)
        process.stdin.close()
        said = process.stdout.read()
        reader.join()
        code = process.wait()
    # Lines that were interrupted are errors of a session that nobody sits at.
    assert code == 1 and "interrupted" in errors[0], (code, errors)
    assert "wrong 0\n" in said and "rounds 0" not in said, said


if __name__ == "__main__":
    main()
