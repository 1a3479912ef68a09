"""data_parallel.py MPIRUN RANKS: starts itself on that many ranks. There data parallel gradients are those of the global batch where they travel in
16 bits, where ranks use other parameters, have other numbers of examples, and read a parameter twice; and those of the rank alone in no_sync().
"""
import sys

sys.dont_write_bytecode = True


def rounded(np, x):
    """To bfloat16, ties to even."""
    bits = np.asarray(x, "float32").view("uint32")
    return ((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000).astype("uint32").view("float32")


def by_tree(terms):
    while len(terms) > 1:
        terms = [terms[i] + terms[i + 1] if i + 1 < len(terms) else terms[i] for i in range(0, len(terms), 2)]
    return terms[0]


def gradients(th, mesh, params, loss_of, *inputs, **how):
    step = th.compile(th.parallel.data(lambda *x: th.grad_of(loss_of(*x), params), mesh, params, **how))
    return [np_of(g) for g in step(*inputs)], step


def np_of(x):
    import numpy as np
    return np.array(x.tolist(), "float32")


def check_dtypes(np, th, mesh):
    """Of several buckets' worth of sizes, odd ones too, what a rank brings is a gradient."""
    ranks, rank = mesh.size(), mesh.index()
    shapes = [(3, 5), (1,), (7,), ()]
    params = [th.zeros(shape) for shape in shapes]
    own = [[np.random.default_rng([r, i]).normal(size=shape).astype("float32") for i, shape in enumerate(shapes)] for r in range(ranks)]

    def loss_of(*factors):
        return sum((p * f).sum() for p, f in zip(params, factors))
    factors = [th.tensor(f) for f in own[rank]]
    for name, of_rank, of_sum in (("bfloat16", lambda g: rounded(np, g), lambda g: rounded(np, g)),
                                  ("float16", lambda g: g.astype("float16").astype("float32"), lambda g: g.astype("float16").astype("float32")),
                                  ("float32", lambda g: g, lambda g: g)):
        for reduction in ("mean", "sum"):
            found, step = gradients(th, mesh, params, loss_of, *factors, reduction=reduction, reduce_dtype=getattr(th, name))
            for i, g in enumerate(found):
                total = by_tree([of_rank(own[r][i]) for r in range(ranks)])
                np.testing.assert_array_equal(g, of_sum(total / np.float32(ranks) if reduction == "mean" else total), err_msg=f"{name} {i}")
        lines = str(th.last_traces(step)[-1])
        assert lines.count("prims.all_to_all(") == 1 and "all_reduce" not in lines, lines
    try:
        gradients(th, mesh, params, loss_of, *factors, reduce_dtype=th.int32)
        raise AssertionError("gradients travelled as integers")
    except th.Error as error:
        assert "reduce_dtype must be float32, bfloat16 or float16, got i32" in str(error), error


def check_own_parameters(np, th, mesh):
    """Each rank's program reads one of the parameters alone."""
    ranks, rank = mesh.size(), mesh.index()
    params = [th.full([3], float(i + 1)) for i in range(ranks)]
    found, _ = gradients(th, mesh, params, lambda x: (params[rank] * x).sum(), th.full([3], 10.0 + rank))
    for i, g in enumerate(found):
        np.testing.assert_allclose(g, np.full(3, (10 + i) / ranks), rtol=1e-6)


def check_uneven_batches(np, th, mesh):
    ranks, rank = mesh.size(), mesh.index()
    w = th.tensor([1.0, -2.0])
    batches = [np.random.default_rng(r).normal(size=(r + 1, 2)).astype("float32") for r in range(ranks)]

    def loss_of(x, count):
        return ((x @ w) ** 2).sum() / th.all_reduce(count, "data")
    found, _ = gradients(th, mesh, [w], loss_of, th.tensor(batches[rank]), th.tensor(float(rank + 1)), reduction="sum")
    whole = np.concatenate(batches)
    np.testing.assert_allclose(found[0], (2 * whole * (whole @ np.array([1, -2]))[:, None]).mean(0), rtol=1e-5)


def check_tied_parameters(np, th, mesh):
    from thunder import nn
    th.seed(1)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.head = nn.Embedding(5, 3), nn.Linear(3, 5, bias=False)
            self.head.weight = self.words.weight

        def forward(self, x):
            return self.head(self.words(x))
    net = Net()
    params = net.parameters()
    assert len(params) == 1
    rows = np.random.default_rng(2).integers(0, 5, (mesh.size(), 4))
    found, step = gradients(th, mesh, params, lambda x: th.cross_entropy(net(x), x), th.tensor(rows[mesh.index()].tolist()))
    assert str(th.last_traces(step)[-1]).count("prims.all_reduce(") == 1
    x = th.tensor(rows.reshape(-1).tolist())
    alone = th.compile(lambda x: th.grad_of(th.cross_entropy(net(x), x), params[0]))(x)
    np.testing.assert_allclose(found[0], np_of(alone), rtol=1e-4, atol=1e-6)


def check_no_sync(np, th, mesh):
    ranks, rank = mesh.size(), mesh.index()
    w = th.ones(3)

    def step(x, y):
        with th.parallel.no_sync():
            own = th.grad_of((w * x).sum(), w)
            other = th.grad_of((w * y).sum(), w)
        return own, th.parallel.reduce_gradients([own + other], [w])[0], th.grad_of((w * x).sum(), w)
    own, both, synced = th.compile(th.parallel.data(step, mesh, [w]))(th.full([3], float(rank)), th.full([3], 10.0))
    mean = sum(range(ranks)) / ranks
    for found, wanted in ((own, rank), (both, mean + 10), (synced, mean)):
        np.testing.assert_allclose(np_of(found), np.full(3, wanted), rtol=1e-6)
    try:
        th.compile(lambda x: th.parallel.reduce_gradients([x], [w]))(w)
        raise AssertionError("there was nothing to reduce over")
    except RuntimeError as error:
        assert "is called in a step of th.parallel.data" in str(error), error


def main():
    if sys.argv[1] != "rank":
        from launch import require_of_each_rank
        return require_of_each_rank("as one process", sys.argv[1], sys.argv[2], [sys.executable, __file__, "rank"], limit=200)
    import numpy as np
    import thunder as th
    mesh = th.mesh(data=-1, timeout=60.0)
    for check in (check_dtypes, check_own_parameters, check_uneven_batches, check_tied_parameters, check_no_sync):
        check(np, th, mesh)
    print(f"rank {mesh.index()}: as one process", flush=True)


main()
