"""faults.py MPIRUN: what ranks are told when one does something else, does not come, leaves, or cannot open MPI. Never a hang."""
import os
import re
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
from launch import on_ranks, run  # noqa: E402

MPIRUN = sys.argv.pop()
LIMIT = 3  # seconds: the timeout of the mesh
HEAD = f"""import sys, time
import thunder as th
th.mesh(data=-1, timeout=60.0)  # to open MPI takes its time on a busy machine
mesh = th.mesh(data=-1, timeout={LIMIT}.0)
rank = mesh.index()
def told(f):
    began = time.time()
    try:
        f()
    except th.Error as error:
        print(f"<rank {{rank}}: {{th.Code(error.code).name}}: {{error}} after {{time.time() - began:.1f}} s>", flush=True)
"""


def ranks_run(body, ranks=2, head=HEAD, **more):
    with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
        file.write(head + body)
        file.flush()
        began = time.time()
        code, text = on_ranks(MPIRUN, ranks, [sys.executable, file.name], limit=60, **more)
        return code, text, time.time() - began


class Faults(unittest.TestCase):
    def test_ranks_with_other_shapes_are_told_and_go_on(self):
        _, text, _ = ranks_run("told(lambda: th.all_reduce(th.ones(2 + rank), 'data'))\n"
                               "print(f'<{th.all_reduce(th.ones(1), \"data\").item()}>')\n")
        for rank in (0, 1):
            self.assertIn(f"<rank {rank}: INVALID_ARGUMENT: ", text)
        self.assertEqual(text.count("rank 0: all_reduce(f32[2], sum); rank 1: all_reduce(f32[3], sum)"), 2, text)
        self.assertEqual(text.count("<2.0>"), 2, text)

    def test_other_ops_dtypes_and_reductions_are_errors_on_all_ranks(self):
        for mine, other in (("th.all_reduce(th.ones(2), 'data')", "th.all_gather(th.ones(2), 'data')"),
                            ("th.all_reduce(th.ones(2), 'data')", "th.all_reduce(th.ones(2), 'data', 'max')"),
                            ("th.all_reduce(th.ones(2), 'data')", "th.all_reduce(th.ones(2, dtype=th.float64), 'data')"),
                            ("th.broadcast(th.ones(2), 'data', 0)", "th.broadcast(th.ones(2), 'data', 1)"),
                            ("mesh.barrier()", "th.all_reduce(th.ones(2), 'data')")):
            _, text, _ = ranks_run(f"told(lambda: {mine} if rank else {other})\n")
            self.assertEqual(text.count("INVALID_ARGUMENT"), 2, text)
            self.assertEqual(text.count("disagree"), 2, text)

    def test_a_rank_that_is_late_is_an_error_of_the_others_within_the_limit(self):
        _, text, took = ranks_run("if rank == 1: time.sleep(8)\ntold(lambda: mesh.barrier())\n")
        self.assertIn("<rank 0: DEADLINE_EXCEEDED: ", text)
        self.assertRegex(text, r"waited 3 seconds for rank 1, which has been in its own code for \d\.\d s, after its collective ")
        self.assertRegex(text, rf"after {LIMIT}\.\d s")
        self.assertLess(took, LIMIT + 25)

    def test_a_rank_that_leaves_is_an_error_of_the_others_at_once(self):
        _, text, _ = ranks_run("th.all_reduce(th.ones(3), 'data')\n"
                               "if rank == 1: raise SystemExit('enough')\ntold(lambda: mesh.barrier())\n")
        self.assertIn("<rank 0: UNAVAILABLE: ", text)
        self.assertRegex(text, r"waits in vain: rank 1 left after its collective \d+, all_reduce\(f32\[3\], sum\) over axis 'data'")
        self.assertRegex(text, r"after [01]\.\d s")

    def test_a_rank_that_is_stopped_does_not_answer(self):
        _, text, _ = ranks_run("import os, signal\n"
                               "if rank == 1:\n"
                               "    if os.fork() == 0:\n        time.sleep(9); os.kill(os.getppid(), signal.SIGCONT); os._exit(0)\n"
                               "    os.kill(os.getpid(), signal.SIGSTOP)\n"
                               "told(lambda: mesh.barrier())\n")
        self.assertIn("<rank 0: DEADLINE_EXCEEDED: ", text)
        self.assertIn("rank 1, which does not answer: it is stopped, or dead", text)

    def test_a_compiled_step_that_failed_has_written_nothing(self):
        _, text, _ = ranks_run("x = th.zeros(4)\n"
                               "def f(y):\n    x.add_(1.0)\n    x.add_(th.all_reduce(y, 'data').sum())\n"
                               "told(lambda: th.compile(f)(th.ones(2 + rank)))\n"
                               "print(f'<x is {x.sum().item()}>')\n")
        self.assertEqual(text.count("disagree"), 2, text)
        self.assertEqual(text.count("<x is 0.0>"), 2, text)

    def test_an_error_of_one_rank_is_told_to_the_others_at_once(self):
        for ranks in (2, 4):
            _, text, _ = ranks_run("def f(x, at):\n    return th.all_reduce(x.gather(0, at), 'data')\n"
                                   "g = th.compile(f)\ng(th.ones(3), th.tensor([0]))\n"
                                   "told(lambda: g(th.ones(3), th.tensor([7 if rank == 1 else 0])))\n", ranks)
            self.assertRegex(text, r"<rank 1: [A-Z_]+: [^<]*out of range", text)
            self.assertRegex(text, r"<rank 0: UNAVAILABLE: .*rank 1 gave up: this rank stopped in a program with collectives: .*out of range")
            self.assertRegex(text, r"<rank 0: .* after [012]\.\d s>")
            self.assertEqual(text.count("<rank "), ranks, text)

    def test_other_programs_and_orders_are_errors_on_all_ranks(self):
        for ranks in (2, 4):
            last = ranks - 1
            _, text, _ = ranks_run("def ahead(x):\n    return th.all_gather(x, 'data') * th.all_reduce(x, 'data').sum()\n"
                                   "def back(x):\n    return th.all_reduce(x, 'data').sum() * th.all_gather(x, 'data')\n"
                                   f"f = th.compile(back if rank == {last} else ahead)\ntold(lambda: f(th.ones(3)))\n"
                                   "print(f'<{th.all_reduce(th.ones(1), \"data\").item()}>')\n", ranks)
            self.assertEqual(text.count(": INVALID_ARGUMENT: "), ranks, text)
            self.assertRegex(text, rf"all_gather\(f32\[3\]\) \[at [^]]*\.py:\d+\]; rank {last}: all_reduce\(f32\[3\], sum\) \[at [^]]*\.py:\d+\]")
            self.assertEqual(text.count(f"<{ranks}.0>"), ranks, text)

    def test_another_axis_is_an_error_within_the_limit(self):
        """Ranks 0 and 2 are those of a row that agree; 1 and 3 wait for ranks that are done, and leave."""
        _, text, _ = ranks_run("grid = th.mesh(row=2, column=2, timeout=3.0)\n"
                               "told(lambda: th.all_reduce(th.ones(2), 'column' if rank == 3 else 'row'))\ntime.sleep(2)\n", 4)
        for rank, axis in ((1, "row"), (3, "column")):
            found = re.findall(rf"<rank {rank}: [A-Z_]+: all_reduce\(f32\[2\], sum\) over axis '{axis}': .*axis 'row'.* after (\d+\.\d) s>", text)
            self.assertTrue(len(found) == 1 and float(found[0]) < LIMIT + 2, text)
        self.assertEqual(text.count("<rank "), 2, text)

    def test_a_rank_that_compiles_is_not_late(self):
        for ranks in (2, 4):
            _, text, _ = ranks_run("def f(x):\n    if rank == 1: time.sleep(5)\n    return th.all_reduce(x, 'data')\n"
                                   "told(lambda: print(f'<{th.compile(f)(th.ones(1)).item()}>', flush=True))\n", ranks)
            self.assertEqual(text.count(f"<{ranks}.0>"), ranks, text)

    def test_a_rank_that_never_starts_is_an_error_of_the_others_within_the_limit(self):
        _, text, took = ranks_run("", head=f"""import os, time
import thunder as th
if os.environ.get("OMPI_COMM_WORLD_RANK", os.environ.get("PMI_RANK")) == "1":
    time.sleep({LIMIT} + 4)
    os._exit(0)
began = time.time()
try:
    th.mesh(data=-1, timeout={LIMIT}.0)
except th.Error as error:
    print(f"<{{th.Code(error.code).name}}: {{error}} after {{time.time() - began:.1f}} s>", flush=True)
    os._exit(0)
""")
        self.assertRegex(text, rf"<DEADLINE_EXCEEDED: mesh: engine mpi was not opened in 3 seconds on rank 0 of 2: are all processes started\? after {LIMIT}\.\d s>")

    def test_a_nan_check_of_one_rank_is_told_to_the_others_at_once(self):
        for ranks in (2, 4):
            _, text, _ = ranks_run("f = th.compile(lambda x: th.all_reduce(x.log(), 'data'), debug_checks=['nan'])\nf(th.ones(3))\n"
                                   "told(lambda: f(th.full([3], -1.0 if rank == 1 else 1.0)))\ntime.sleep(2)\n", ranks)
            self.assertRegex(text, r"<rank 1: [A-Z_]+: .*step 1, log at .*makes NaN", text)
            self.assertEqual(len(re.findall(r"<rank \d: UNAVAILABLE: .*rank 1 gave up: .*makes NaN.* after [012]\.\d s>", text)), ranks - 1, text)

    def test_an_exception_of_one_rank_ends_the_others(self):
        """Ahead of a program's next collective; the process ends by it."""
        for ranks in (2, 4):
            _, text, _ = ranks_run("f = th.compile(lambda x: th.all_reduce(x, 'data'))\nf(th.ones(3))\n"
                                   "if rank == 1: raise ValueError('no more')\n"
                                   "told(lambda: f(th.ones(3)))\ntime.sleep(2)\n", ranks)
            self.assertIn("ValueError: no more", text)
            self.assertEqual(len(re.findall(r"<rank \d: UNAVAILABLE: [^<]*rank 1 left after its collective [^<]* after [012]\.\d s>", text)), ranks - 1, text)

    def test_a_rank_without_memory_is_told_to_the_others_at_once(self):
        for ranks in (2, 4):
            _, text, _ = ranks_run("import resource\n"
                                   "f = th.compile(lambda x: (x.expand([1 << 23, 2]).cumsum(0), th.all_reduce(x, 'data')))\nkept = f(th.ones(2))\n"
                                   "if rank == 1:\n"
                                   "    used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
                                   "    resource.setrlimit(resource.RLIMIT_AS, (used + (48 << 20), resource.RLIM_INFINITY))\n"
                                   "told(lambda: f(th.ones(2)))\ntime.sleep(2)\n", ranks)
            self.assertRegex(text, r"<rank 1: (RESOURCE_EXHAUSTED|OUT_OF_MEMORY): .*memory", text)
            self.assertEqual(len(re.findall(r"<rank \d: UNAVAILABLE: .*rank 1 gave up: .*memory.* after [0123]\.\d s>", text)), ranks - 1, text)

    def test_a_new_mesh_is_a_new_world_in_which_programs_go_on(self):
        _, text, _ = ranks_run("f = th.compile(lambda x: th.all_reduce(x, 'data'))\nf(th.ones(2))\n"
                               "if rank == 1: time.sleep(5)\n"
                               "told(lambda: f(th.ones(2)))\ntold(lambda: f(th.ones(2)))\n"
                               "for _ in range(2):\n    mesh = th.mesh(data=-1, timeout=20.0)\n"
                               "    print(f'<again {f(th.full([2], 3.0)).tolist()} of {mesh.size(\"data\")}>', flush=True)\n")
        self.assertEqual(text.count("<again [6.0, 6.0] of 2>"), 4, text)
        self.assertEqual(text.count("the ranks cannot communicate any more"), 2, text)

    def test_ctrl_c_ends_a_wait(self):
        _, text, _ = ranks_run("import os, signal, threading\n"
                               "if rank == 0: threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
                               "if rank == 1: time.sleep(1.5)\n"
                               "try:\n    mesh.barrier()\n    mesh.barrier()\nexcept KeyboardInterrupt:\n    print('<stopped>', flush=True); time.sleep(2)\n"
                               "except th.Error as error:\n    print(f'<told: {error}>', flush=True)\n")
        self.assertIn("<stopped>", text)
        self.assertRegex(text, "<told: barrier over axis 'world': .*rank 0 gave up: ")

    def test_ranks_that_make_other_meshes_are_told(self):
        _, text, _ = ranks_run("told(lambda: th.mesh(**{f'axis{rank}': -1}))\n")
        self.assertEqual(text.count("rank 0: mesh axis0=2; rank 1: mesh axis1=2"), 2, text)

    def test_a_library_that_is_not_there_is_an_error_that_says_every_name(self):
        code, text = run([sys.executable, "-c", "import thunder as th\nth.mesh(data=2)"], OMPI_COMM_WORLD_RANK="0", OMPI_COMM_WORLD_SIZE="2",
                         THUNDER_MPI="/nowhere/libmpi.so")
        self.assertEqual(code, 1)
        self.assertIn("/nowhere/libmpi.so", text)
        self.assertIn("THUNDER_MPI", text)

    def test_processes_that_mpi_did_not_start_are_an_error(self):
        code, text = run([sys.executable, "-c", "import thunder as th\nth.mesh(data=2)"], RANK="0", WORLD_SIZE="2")
        self.assertEqual(code, 1)
        self.assertIn("says rank 0 of 1, and the variables of torchrun rank 0 of 2", text)

    def test_without_a_launcher_a_mesh_of_two_is_an_error(self):
        code, text = run([sys.executable, "-c", "import thunder as th\nth.mesh(data=2)"])
        self.assertEqual(code, 1)
        self.assertIn("data=2 has 2 ranks, and the world 1", text)
        self.assertIn("OMPI_COMM_WORLD_SIZE", text)


if __name__ == "__main__":
    os.chdir(os.path.dirname(os.path.abspath(__file__)))
    unittest.main()
