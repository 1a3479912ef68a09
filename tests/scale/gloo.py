"""gloo.py MPIRUN PLUGIN RANKS TEST [ARGS]: the part of another test of this folder that runs on ranks, with Gloo in place of MPI. What makes that engine
is examples/scale/gloo.cpp, as PLUGIN; mpirun only starts the processes."""
import functools
import os
import pathlib
import runpy
import sys
import tempfile

sys.dont_write_bytecode = True


def on_rank(plugin, test, *args):
    import thunder as th
    th.load_plugin(plugin)
    mesh = th.mesh

    @functools.wraps(mesh)
    def by_gloo(*, engine=None, **how):
        made = mesh(engine="gloo", **how)
        assert "gloo: of the program's own" in str(made), made
        return made
    th.mesh = by_gloo
    path = pathlib.Path(__file__).with_name(test)
    sys.argv = [str(path), "rank", *args]
    runpy.run_path(str(path), run_name="__main__")
    print("by Gloo", flush=True)


def main():
    if sys.argv[1] == "rank":
        return on_rank(*sys.argv[2:])
    from launch import require_of_each_rank
    mpirun, plugin, ranks, *test = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GLOO_FOLDER"] = folder
        require_of_each_rank("by Gloo", mpirun, ranks, [sys.executable, __file__, "rank", plugin, *test], limit=300)


main()
