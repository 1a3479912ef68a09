"""signals.py THUNDER: the tool on interrupts every other millisecond while it computes products, and while it trains. It goes on, and
computes the same. For 2 seconds each, or as many as THUNDER_SIGNAL_SECONDS says."""
import os
import re
import signal
import subprocess
import sys
import threading
import time

# Lines of a session: first, again and again (where an interrupt ends the line, wherever it is), and at the end, which prints how many
# calls there were and how far their results are off. What a call computed stays, though an interrupt is raised as it returns.
PRODUCTS = ("""th.seed(1) a, b, out, calls = th.rand{1500, 1500}, th.rand{1500, 1500}, th.zeros{1500, 1500}, th.zeros{1}
f = th.compile(function(x, y) out:copy_(x:matmul(y)) calls:add_(1) end)
f(a, b) wanted = out:clone()
""", "for i = 1, 2 do pcall(f, a, b) end\n", "\nprint('calls ' .. calls:item() .. ', wrong ' .. (out - wanted):abs():sum():item())\n")
# A call that was interrupted is no step; as many steps from the same start, without interrupts, end with the same bits.
TRAINING = ("""th.seed(1) x, y = th.randn{256, 512}, th.randint(0, 10, {256})
function made() th.seed(2) local net = th.nn.Sequential{th.nn.Linear(512, 1024), th.nn.ReLU(), th.nn.Linear(1024, 10)} \
local opt = th.optim.AdamW(net:parameters(), {lr = 1e-3}) return net, opt, th.compile(function() local loss = th.cross_entropy(net(x), y) \
opt:step(th.grad_of(loss, net:parameters())) return loss end) end
net, opt, step = made() step()
""", "for i = 1, 10 do pcall(step) end\n", """
steps = opt.state.step:item() again, _, replay = made() for i = 1, steps do replay() end
wrong = 0 for name, t in pairs(net:parameters()) do wrong = wrong + (again:parameters()[name] - t):abs():sum():item() end
print('calls ' .. steps .. ', wrong ' .. wrong)
""")


def main():
    for lines in (PRODUCTS, TRAINING):
        session(*lines)


def session(setup, again, end_lines):
    with subprocess.Popen([sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stdin.write(setup + "print 'ready'\n")
        process.stdin.flush()
        assert process.stdout.readline() == "ready\n"
        errors = []
        reader = threading.Thread(target=lambda: errors.append(process.stderr.read()))
        reader.start()
        end = time.monotonic() + float(os.environ.get("THUNDER_SIGNAL_SECONDS", 2))
        while time.monotonic() < end:
            process.stdin.write(again)
            process.stdin.flush()
            for _ in range(50):
                time.sleep(0.002)
                process.send_signal(signal.SIGINT)
        time.sleep(0.2)
        process.stdin.write(end_lines)
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
