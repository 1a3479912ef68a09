"""Programs on several processes, for tests: how they are started, and what they printed."""
import os
import subprocess
import sys
import tempfile

LAUNCHERS = {  # all ranks share the processors of one machine, and may be root's
    "openmpi": ["--allow-run-as-root", "--oversubscribe", "--mca", "btl", "self,vader"],
    "mpich": [],
}


def environment(**more):
    """Without the variables of a launcher under which the tests themselves may run."""
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("OMPI_", "PMI_", "PMIX_", "SLURM_")) and name not in ("RANK", "WORLD_SIZE", "LOCAL_RANK")}
    return kept | {"THUNDER_NUM_THREADS": "1"} | more


def run(command, limit=120, **more):
    """(exit status, what it printed on both streams). One that does not end within the limit is killed, and fails."""
    with tempfile.TemporaryFile("w+") as out:
        child = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, env=environment(**more), start_new_session=True)
        try:
            code = child.wait(limit)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, 9)
            child.wait()
            code = None
        out.seek(0)
        text = out.read()
    if code is None:
        raise AssertionError(f"{' '.join(map(str, command))} did not end in {limit} s:\n{text}")
    return code, text


def on_ranks(mpirun, ranks, command, limit=120, **more):
    kind = "mpich" if "mpich" in os.path.basename(os.path.realpath(mpirun)) or mpirun.endswith("mpich") else "openmpi"
    return run([mpirun, *LAUNCHERS[kind], "-n", str(ranks), *command], limit, **more)


def require_of_each_rank(said, mpirun, ranks, command, limit):
    """Ends this program with an error unless the command ends well on the ranks and each prints what is to be said."""
    code, text = on_ranks(mpirun, ranks, command, limit=limit)
    if code != 0 or text.count(said) != int(ranks):
        sys.exit(f"it ended with {code} and printed\n{text}")
    print(text)
