"""signals.py THUNDER: the tool on interrupts every other millisecond while it computes products. It goes on, and computes the same. For
2 seconds, or as many as THUNDER_SIGNAL_SECONDS says."""
import os
import re
import signal
import subprocess
import sys
import threading
import time

# What a call computed stays, though an interrupt is raised as it returns.
SETUP = """th.seed(1) a, b, out, calls = th.rand{1500, 1500}, th.rand{1500, 1500}, th.zeros{1500, 1500}, th.zeros{1}
f = th.compile(function(x, y) out:copy_(x:matmul(y)) calls:add_(1) end)
f(a, b) wanted = out:clone()
"""
# An interrupt ends the line, wherever it is.
ROUND = "for i = 1, 2 do pcall(f, a, b) end\n"
END = "\nprint('calls ' .. calls:item() .. ', wrong ' .. (out - wanted):abs():sum():item())\n"


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
    # A line that was interrupted outside of pcall is an error of a session that nobody sits at.
    assert code in (0, 1) and set(re.findall("interrupted|.*Error.*", errors[0])) <= {"interrupted"}, (code, errors)
    calls, wrong = re.search(r"calls ([\d.]+), wrong (\S+)", said).groups()
    assert float(calls) > 2 and float(wrong) == 0, (calls, wrong)


if __name__ == "__main__":
    main()
