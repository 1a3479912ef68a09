"""nccl_faults.py: what the ranks of two GPUs are told when one does something else, does not come, leaves or dies, also while the device already runs a
collective. Never a hang. Processes find each other by a folder, without MPI; on a machine without GPUs by the stand-ins (CTest).
"""
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
from launch import environment  # noqa: E402

LIMIT, RANKS = 3, 2  # seconds: the timeout of the mesh
HEAD = f"""import os, signal, sys, threading, time
import thunder as th
rank, began = int(os.environ["RANK"]), time.time()
def join(folder, timeout):
    return th.mesh(data=-1, engine="nccl", timeout=timeout, folder=os.path.join(os.environ["MEET"], folder))
join("first", 60.0)  # to begin takes its time on a busy machine
mesh = join("first", {LIMIT}.0)
def ones(*sizes):
    return th.ones(*sizes).to(mesh.device)
def told(f):
    global began
    began = time.time()
    try:
        f()
    except th.Error as error:
        print(f"<rank {{rank}}: {{th.Code(error.code).name}}: {{error}} after {{time.time() - began:.1f}} s>", flush=True)
def die_after(seconds, how=signal.SIGKILL):
    threading.Timer(seconds, lambda: os.kill(os.getpid(), how)).start()
th.all_reduce(ones(4), "data")
"""
STEPS = """
w = th.zeros(64, 64).to(mesh.device)
def step(x):
    y = th.all_reduce(x @ x, "data", "mean")
    w.add_(y * 0 + 1)
    return y
step = th.compile(step)
step(ones(64, 64))
def steps():
    done = 1
    try:
        while time.time() - began < 20:
            step(ones(64, 64))
            done += 1
    finally:
        print(f"<rank {rank}: {done} steps, and {w[0][0].item():.0f} written>", flush=True)
"""


def ranks_run(body, limit=60):
    """What the ranks printed. One that does not end within the limit is killed, and fails, unless it was stopped."""
    with tempfile.TemporaryDirectory() as meet:
        for folder in ("first", "second"):
            os.mkdir(os.path.join(meet, folder))
        program, began = os.path.join(meet, "program.py"), time.time()
        with open(program, "w", encoding="utf-8") as file:
            file.write(HEAD + body)
        logs = [open(os.path.join(meet, f"{rank}.txt"), "w+", encoding="utf-8") for rank in range(RANKS)]
        started = [subprocess.Popen([sys.executable, program], stdout=log, stderr=log,
                                    env=environment(RANK=str(rank), WORLD_SIZE=str(RANKS), LOCAL_RANK=str(rank), MEET=meet)) for rank, log in enumerate(logs)]
        try:
            started[0].wait(limit)
            if "SIGSTOP" not in body:
                for process in started:
                    process.wait(max(1, began + limit - time.time()))
        finally:
            for process in started:
                process.kill()
                process.wait()
            text = ""
            for log in logs:
                log.seek(0)
                text += log.read()
                log.close()
            print(f"{time.time() - began:.1f} s in all\n{text}", flush=True)
        return text


class Faults(unittest.TestCase):
    def expect(self, text, rank, code, words, most):
        found = re.findall(rf"<rank {rank}: {code}: ([^>]*{words}[^>]*) after (\d+\.\d) s>", text)
        self.assertEqual(len(found), 1, text)
        self.assertLess(float(found[0][1]), most, text)

    def test_ranks_that_call_something_else_are_told_and_go_on(self):
        for other in ("th.all_reduce(ones(3), 'data')", "th.all_gather(ones(2), 'data')", "th.all_reduce(ones(2), 'data', 'max')", "mesh.barrier('data')"):
            text = ranks_run(f"told(lambda: {other} if rank else th.all_reduce(ones(2), 'data'))\n"
                             "print(f'<{th.all_reduce(ones(1), \"data\").item()}>', flush=True)\n")
            for rank in range(RANKS):
                self.expect(text, rank, "INVALID_ARGUMENT", r"rank 0: all_reduce\(f32\[2\], sum\)[^>]*; rank 1: [a-z_]+", 1)
            self.assertEqual(text.count("<2.0>"), RANKS, text)

    def test_a_rank_that_is_late_is_an_error_that_says_where_it_is(self):
        text = ranks_run("if rank: time.sleep(6)\ntold(lambda: th.all_reduce(ones(4), 'data').tolist())\n"
                         "mesh = join('second', 20.0)\nprint(f'<again {th.all_reduce(ones(1), \"data\").item()}>', flush=True)\n")
        self.expect(text, 0, "DEADLINE_EXCEEDED", r"waited 3 seconds for rank 1, which has been in its own code for \d\.\d s", LIMIT + 2)
        self.assertEqual(text.count("<again 2.0>"), RANKS, text)

    def test_a_rank_that_leaves_or_fails_is_an_error_at_once(self):
        for end in ("SystemExit(0)", "ValueError('mine')"):
            text = ranks_run(f"if rank: raise {end}\ntold(lambda: th.all_reduce(ones(4), 'data').tolist())\n")
            self.expect(text, 0, "UNAVAILABLE", "waits in vain: rank 1 left after its collective \\d+, ", 2)

    def test_a_rank_that_dies_is_an_error_at_once(self):
        text = ranks_run("if rank: os.kill(os.getpid(), signal.SIGKILL)\ntold(lambda: th.all_reduce(ones(4), 'data').tolist())\n")
        self.expect(text, 0, "UNAVAILABLE", "waits in vain: rank 1 ended, after its collective 1 over this axis, ", 2)

    def test_a_rank_that_is_stopped_does_not_answer(self):
        text = ranks_run("if rank: os.kill(os.getpid(), signal.SIGSTOP)\ntold(lambda: th.all_reduce(ones(4), 'data').tolist())\n")
        self.expect(text, 0, "DEADLINE_EXCEEDED", "rank 1, which does not answer: it is stopped, or dead", LIMIT + 2)

    def test_a_rank_that_dies_or_stops_in_steps_is_an_error_and_a_step_is_written_whole_or_not_at_all(self):
        for how, code in (("SIGKILL", "UNAVAILABLE"), ("SIGSTOP", "DEADLINE_EXCEEDED")):
            text = ranks_run(STEPS + f"began = time.time()\nif rank: die_after(0.7, signal.{how})\ntold(steps)\n")
            self.expect(text, 0, code, r"all_reduce\(f32\[64, 64\], sum\) over axis 'data': rank 0 of 2 ", LIMIT + 5)
            done, written = re.search(r"<rank 0: (\d+) steps, and (\d+) written>", text).groups()
            self.assertEqual(done, written, text)

    def test_a_rank_that_dies_behind_what_the_other_has_begun_is_an_error_of_whoever_waits_for_it(self):
        """Both have begun it, and its device never comes to it: it still computes what is before."""
        size, products = (16, 2) if os.environ.get("THUNDER_CUDA_DRIVER") else (1024, 2000)  # the stand-in computes each at once
        text = ranks_run(f"x = th.rand({size}, {size}).to(mesh.device)\nth.all_reduce(ones(4), 'data').tolist()\n"
                         "def f():\n    y = ones(4)\n"
                         f"    if rank:\n        for _ in range({products}): y = y + (x @ x).sum() * 0\n"
                         "    y = th.all_reduce(y, 'data')\n"
                         "    if rank: os.kill(os.getpid(), signal.SIGKILL)\n"
                         "    print(f'<sum {y.sum().item()}>', flush=True)\n"
                         "told(f)\n")
        if "<sum 8.0>" not in text:  # computed before rank 1 died
            self.expect(text, 0, "UNAVAILABLE", "waits in vain: rank 1 ended, after its collective", LIMIT + 2)


if __name__ == "__main__":
    os.chdir(os.path.dirname(os.path.abspath(__file__)))
    unittest.main()
