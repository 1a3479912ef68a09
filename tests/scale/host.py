"""host.py MPIRUN: a program that starts MPI itself, and gives its own communicator, in which the ranks are numbered backwards.

The library neither starts nor ends that MPI, and without MPI_THREAD_MULTIPLE refuses it.
"""
import ctypes
import sys

sys.dont_write_bytecode = True


def open_mpi():
    """(the library that the launcher belongs to, MPI_COMM_WORLD, the type of a handle)."""
    import os
    if "OMPI_COMM_WORLD_RANK" in os.environ:
        library = ctypes.CDLL("libmpi.so.40", ctypes.RTLD_GLOBAL)
        return library, ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(library, "ompi_mpi_comm_world"))), ctypes.c_void_p
    return ctypes.CDLL("libmpich.so.12", ctypes.RTLD_GLOBAL), ctypes.c_int(0x44000000), ctypes.c_int


def on_rank(level):
    library, world, handle = open_mpi()
    provided, rank, size, reversed_ranks = ctypes.c_int(), ctypes.c_int(), ctypes.c_int(), handle()
    assert library.MPI_Init_thread(None, None, level, ctypes.byref(provided)) == 0
    library.MPI_Comm_rank(world, ctypes.byref(rank))
    library.MPI_Comm_size(world, ctypes.byref(size))
    assert library.MPI_Comm_split(world, 0, -rank.value, ctypes.byref(reversed_ranks)) == 0
    import thunder as th
    try:
        mesh = th.mesh(data=-1, communicator=reversed_ranks.value, timeout=20.0)
    except th.Error as error:
        print(f"<refused: {error}>", flush=True)
    else:
        assert mesh.size() == size.value and mesh.index() == size.value - 1 - rank.value
        total = th.all_reduce(th.tensor([float(rank.value)]), "data").item()
        first = th.broadcast(th.tensor([float(rank.value)]), "data").item()
        print(f"<{total:g} {first:g}>", flush=True)
    over = ctypes.c_int(1)
    assert library.MPI_Finalized(ctypes.byref(over)) == 0 and not over.value
    assert library.MPI_Finalize() == 0
    print("<ended by the host>", flush=True)


def main():
    if len(sys.argv) == 3:
        return on_rank(int(sys.argv[2]))
    from launch import on_ranks
    for level, wanted in ((3, "<1 1>"), (1, "<refused: mpi: this process started MPI without MPI_THREAD_MULTIPLE")):  # MPI_THREAD_MULTIPLE, MPI_THREAD_FUNNELED
        code, text = on_ranks(sys.argv[1], 2, [sys.executable, __file__, "rank", str(level)], limit=60)
        if level == 1 and "<1 1>" in text:
            continue  # this MPI gives more than it was asked for
        if code != 0 or text.count(wanted) != 2 or text.count("<ended by the host>") != 2:
            sys.exit(f"it ended with {code} and printed\n{text}")
    print("the host's own MPI was used, and left to it")


main()
