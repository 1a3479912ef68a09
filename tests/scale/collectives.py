"""collectives.py MPIRUN RANKS [ENGINE]: starts itself on that many ranks. There every collective, on each dtype and odd sizes, eager, traced and
compiled, gives what numpy makes of the operands of all ranks; so do gradients.
"""
import sys

sys.dont_write_bytecode = True

DTYPES = "float32 float64 bfloat16 float16 int8 uint8 int16 uint16 int32 uint32 int64 uint64 bool".split()
SHAPES = [(1,), (3, 5), (2, 0), (7, 3, 2), ()]


def operand(np, rank, shape, dtype):
    """What a rank brings: whole numbers, whose sums are exact in every dtype."""
    drawn = np.random.default_rng([rank, len(shape)]).integers(0, 2 if dtype == "bool" else 5, shape)
    return drawn.astype("bool" if dtype == "bool" else "float64" if "float" in dtype else dtype)


def check_values(np, th, mesh):
    ranks, rank = mesh.size("data"), mesh.index("data")
    for dtype in DTYPES:
        if mesh.device.type == "cuda" and dtype in ("int16", "uint16"):
            continue  # NCCL has none; tests/scale/nccl sees what is said
        real = "float" in dtype
        for shape in SHAPES if mesh.device.type == "cpu" else SHAPES[1:3]:  # each has kernels of its own, which a stand-in compiles
            all_ranks = [operand(np, r, shape, dtype) for r in range(ranks)]
            x = th.tensor(all_ranks[rank].tolist(), dtype=getattr(th, dtype)).reshape(list(shape)).to(mesh.device)
            stacked = np.stack(all_ranks)
            cases = [(lambda t: th.broadcast(t, "data", ranks - 1), all_ranks[-1])]
            if dtype != "bool":
                cases.append((lambda t: th.all_reduce(t, "data"), stacked.sum(0)))
            for name, f in (("max", stacked.max), ("min", stacked.min)):
                cases.append((lambda t, name=name: th.all_reduce(t, "data", name), f(0)))
            if real:
                cases.append((lambda t: th.all_reduce(t, "data", "mean"), stacked.mean(0)))
            moved = mesh.device.type == "cpu" or dtype in ("float32", "bfloat16", "bool")  # by their bytes, whatever the dtype
            ring = [(r + 1) % ranks for r in range(ranks)]
            cases.append((lambda t, ring=ring: th.ppermute(t, "data", list(range(ranks)), ring), all_ranks[rank - 1]))
            if moved:
                cases.append((lambda t: th.ppermute(t, "data", [0], [ranks - 1]), all_ranks[0] * (rank == ranks - 1)))
                cases.append((lambda t: th.barrier(t, "data"), all_ranks[rank]))
            for dim in range(len(shape)):
                parts = [np.concatenate([part * (r + 1) for r in range(ranks)], dim) for part in all_ranks]
                for to in range(len(shape)) if moved else ():
                    if dtype != "bool":
                        cases.append((lambda t, dim=dim, to=to: th.all_to_all(th.cat([t * (r + 1) for r in range(ranks)], dim), "data", dim, to),
                                      np.concatenate([np.split(part, ranks, dim)[rank] for part in parts], to)))
                cases.append((lambda t, dim=dim: th.all_gather(t, "data", dim), np.concatenate(all_ranks, dim)))
                if dtype != "bool":
                    wide = np.concatenate([stacked.sum(0)] * ranks, dim)
                    cases.append((lambda t, dim=dim: th.reduce_scatter(th.cat([t] * ranks, dim), "data", "sum", dim),
                                  np.split(wide, ranks, dim)[rank]))
            for f, wanted in cases:
                tolerance = 0 if not real or ranks in (1, 2, 4) else 1e-2
                for run in (f, th.compile(f)):
                    found = run(x)
                    assert found.dtype is x.dtype and tuple(found.shape) == wanted.shape, (dtype, shape, found.shape, wanted.shape)
                    np.testing.assert_allclose(np.array(found.to(th.float64).tolist()).reshape(wanted.shape), wanted.astype("float64"),
                                               rtol=tolerance)


def check_gradients(np, th, mesh):
    ranks, rank = mesh.size("data"), mesh.index("data")
    weights = [np.arange(1.0, 7.0) * (r + 1) for r in range(ranks)]

    def here(data):
        return th.tensor(data, dtype=th.float32).to(mesh.device)
    x, w = here([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), here(weights[rank].tolist())
    total = sum(weights)

    def gradient(f):
        def both(x, w):
            return th.grad_of(f(x, w), x)
        return np.array(th.compile(both)(x, w).tolist())

    # Of the sum of what ranks have, which is the same on all of them: each rank's own part of it.
    np.testing.assert_allclose(gradient(lambda x, w: th.all_reduce((x * w).sum(), "data")), weights[rank])
    np.testing.assert_allclose(gradient(lambda x, w: th.all_reduce((x * w).sum(), "data", "mean")), weights[rank] / ranks, rtol=1e-6)
    # A common value that each rank uses in its own way.
    np.testing.assert_allclose(gradient(lambda x, w: (th.pvary(x, "data") * w).sum()), total)
    # A shard that all ranks gather, and use in their own ways.
    full = np.concatenate([(r + 1) * np.ones(6) for r in range(ranks)])
    factor = here((full * (rank + 1)).tolist())
    np.testing.assert_allclose(gradient(lambda x, w: (th.all_gather(x, "data") * factor).sum()),
                               (rank + 1) * np.ones(6) * sum(r + 1 for r in range(ranks)))
    # A part of a sum: what every rank made of it comes back.
    np.testing.assert_allclose(gradient(lambda x, w: (th.reduce_scatter(th.cat([x] * ranks), "data") * w).sum()), total)
    np.testing.assert_allclose(gradient(lambda x, w: (th.broadcast(x, "data") * th.broadcast(w, "data")).sum()),
                               weights[0] if rank == 0 else 0 * weights[0])
    # What each rank made of a part comes back to where it was.
    np.testing.assert_allclose(gradient(lambda x, w: (th.all_to_all(th.cat([x] * ranks), "data") * th.cat([w] * ranks)).sum()), total)
    ring = [(r + 1) % ranks for r in range(ranks)]
    # The forward, which nothing reads here, stays.
    np.testing.assert_allclose(gradient(lambda x, w: (th.ppermute(x, "data", list(range(ranks)), ring) * w).sum()), weights[(rank + 1) % ranks])
    np.testing.assert_allclose(gradient(lambda x, w: (th.ppermute(x, "data", [ranks - 1], [0]) * w).sum()),
                               weights[0] if rank == ranks - 1 else 0 * weights[0])
    np.testing.assert_allclose(gradient(lambda x, w: (th.barrier(x, "data") * w).sum()), weights[rank])
    try:
        gradient(lambda x, w: th.all_reduce((x * w).sum(), "data", "max"))
        raise AssertionError("the max has a gradient")
    except th.Error as error:
        assert "the max over ranks has no gradient" in str(error), error


def check_batches(np, th, mesh):
    ranks, rank = mesh.size("data"), mesh.index("data")
    rows = [np.arange(6.0).reshape(2, 3) + r for r in range(ranks)]
    x = th.tensor(rows[rank].tolist()).to(mesh.device)
    for f, wanted in ((lambda t: th.all_reduce(t, "data"), sum(rows)),
                      (lambda t: th.all_gather(t, "data"), np.concatenate(rows, 1)),
                      (lambda t: th.reduce_scatter(th.cat([t] * ranks), "data"), sum(rows)),
                      (lambda t: th.all_to_all(th.cat([t] * ranks), "data"), np.concatenate(rows, 1)),
                      (lambda t: th.ppermute(t, "data", [0], [ranks - 1]), rows[0] * (rank == ranks - 1)),
                      (lambda t: th.pvary(t, "data") + th.broadcast(t, "data"), rows[rank] + rows[0])):
        np.testing.assert_allclose(np.array(th.vmap(f)(x).tolist()), wanted)


def check_unread(np, th, mesh):
    """Lines that stay although nothing reads them: what is around them has the values of each call."""
    ranks, rank = mesh.size("data"), mesh.index("data")

    def f(x, w):
        th.ppermute(x, "data", [0], [ranks - 1])
        y = th.all_gather(w * 2, "data") * 3
        th.barrier(y, "data")
        return y + 1, th.all_reduce(x * 2, "data") * 5
    step = th.compile(f)
    for call in range(1, 9):
        operands = [np.arange(1.0, 7.0) * (r + 1) * call for r in range(ranks)]
        y, z = step(*(th.tensor(a.tolist()).to(mesh.device) for a in (operands[rank] + 1, operands[rank])))
        np.testing.assert_allclose(np.array(y.tolist()), 6 * np.concatenate(operands) + 1)
        np.testing.assert_allclose(np.array(z.tolist()), 10 * sum(a + 1 for a in operands))


def check_constants(np, th, mesh):
    """A collective of what no argument changes runs at each call, in the order of lines: a rank that compiles anew meets those that do not."""
    ranks, rank = mesh.size("data"), mesh.index("data")

    def f(x, n):
        common = th.all_reduce(th.full([3], 2.0).to(mesh.device), "data")
        parts = th.all_gather(th.arange(2).to(mesh.device), "data")
        return (x * common).sum() * n + parts.sum() + th.all_reduce(x, "data").sum()
    step = th.compile(f)
    x = th.ones(3).to(mesh.device)
    for call in range(4):
        n = call + 1 if rank == 0 else 1  # a number that is a guard: rank 0 alone compiles at each call
        found = step(x, n).item()
        assert found == 6 * ranks * n + ranks + 3 * ranks, (call, found)
    lines = str(th.last_traces(step)[-1])
    assert lines.count("prims.all_reduce") == 2 and lines.count("prims.all_gather") == 1, lines


def main():
    if sys.argv[1] != "rank":
        from launch import require_of_each_rank
        return require_of_each_rank("as numpy", sys.argv[1], sys.argv[2], [sys.executable, __file__, "rank", *sys.argv[3:]], limit=300)
    import numpy as np
    import thunder as th
    mesh = th.mesh(data=-1, timeout=60.0, engine=sys.argv[2] if len(sys.argv) > 2 else None)
    check_values(np, th, mesh)
    check_gradients(np, th, mesh)
    check_batches(np, th, mesh)
    check_unread(np, th, mesh)
    check_constants(np, th, mesh)
    print(f"rank {mesh.index()}: as numpy")


main()
