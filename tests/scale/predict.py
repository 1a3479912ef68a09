"""predict.py MPIRUN: starts itself on two ranks. There th.parallel.predict says of a step which collectives it has, of how many bytes, and how long they
take on any number of ranks, as its formula says; th.profile has the same, measured."""
# covers: bindings/python/thunder/parallel/_predict.py
import math
import sys

sys.dont_write_bytecode = True
RATES = {"all_reduce": {1 << 10: 1.0, 1 << 20: 4.0}, "all_gather": {1 << 10: 2.0}, "reduce_scatter": {1 << 10: 2.0}}


def compiled(th, mesh, shard):
    from thunder import nn, optim
    net = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 16))
    if shard:
        th.parallel.fully_shard(net, mesh)
    params = net.parameters()
    optimizer = optim.SGD(params, lr=0.1)

    def step(x):
        loss = (net(x) ** 2).mean()
        optimizer.step(th.grad_of(loss, params))
        return loss
    step = th.compile(th.parallel.data(step, mesh, net))
    step(th.ones(32, 64))
    return step, sum(4 * math.prod(whole) for whole in ((256, 64), (256,), (16, 256), (16,)))


def check_data_parallel(th, mesh):
    step, size = compiled(th, mesh, False)
    seconds = 2e-3
    two, four = th.parallel.predict(step, seconds, ranks=[2, 4], rates=RATES)
    assert sum(c.bytes for c in four.collectives) == size and {c.op for c in four.collectives} == {"all_reduce"}, four.collectives
    for p, found in ((2, two), (4, four)):
        assert found.ranks == p and math.isclose(found.seconds, seconds + found.exposed), found
        for c in found.collectives:
            known = min(max(c.bytes, 1 << 10), 1 << 20)
            rate = 4 ** (math.log(known / (1 << 10)) / math.log(1 << 10))  # from 1 to 4 GB/s, by the logarithm of the size
            assert math.isclose(c.seconds, 2 * (p - 1) / p * max(c.bytes, 1 << 10) / (rate * 1e9)), c
            assert 0 <= c.exposed <= c.seconds + 1e-12, c
    # Where nothing computes, all of it is exposed; where ranks are as fast as light, nothing.
    assert math.isclose(th.parallel.predict(step, 0.0, 2, rates=RATES).exposed, sum(c.seconds for c in two.collectives))
    fast = th.parallel.predict(step, seconds, 2, rates={"all_reduce": {1: 1e12}, "all_gather": {1: 1e12}})
    assert fast.exposed < 1e-9 * seconds and fast.efficiency > 0.999, fast
    assert th.parallel.predict(step, seconds, 1).exposed == 0
    # The first sums run beside the rest of the backward.
    assert th.parallel.predict(step, 1.0, 2, rates=RATES).exposed < sum(c.seconds for c in two.collectives)
    text = repr(four) + repr(four.collectives[0])
    assert "4 ranks: 2." in text and "us alone" in text, text
    try:
        th.parallel.predict(step, seconds, axis="tensor")
        raise AssertionError("there is no such axis")
    except ValueError as error:
        assert "no collectives over axis 'tensor'" in str(error), error


def check_measured(th, mesh):
    """A profile has the same collectives, as they are here."""
    step, size = compiled(th, mesh, False)
    found = th.profile(step, th.ones(32, 64), runs=5)
    said = th.parallel.predict(step, 1e-3, 2).collectives
    assert [c["bytes"] for c in found.collectives] == [c.bytes for c in said] and sum(c["bytes"] for c in found.collectives) == size, found
    for c in found.collectives:
        assert 0 < c["alone"] and 0 < c["exposed"] and found.steps[c["step"]]["ops"] == "prims.all_reduce", found
        assert found.steps[c["wait"]]["ops"] == "prims.wait", found
    assert "exposed ms" in repr(found)


def check_sharded(th, mesh):
    step, size = compiled(th, mesh, True)
    found = th.parallel.predict(step, 1e-3, ranks=8)
    gathered = sum(c.bytes for c in found.collectives if c.op == "all_gather")
    assert sum(c.bytes for c in found.collectives if c.op == "reduce_scatter") == size and gathered >= size, found.collectives
    for c in found.collectives:
        smallest = {"all_gather": 1.5, "reduce_scatter": 1.3}[c.op]  # below 64 KiB as long as these
        assert c.bytes > 1 << 16 or math.isclose(c.seconds, 7 / 8 * (1 << 16) / (smallest * 1e9)), c


def main():
    if sys.argv[1] != "rank":
        from launch import require_of_each_rank
        return require_of_each_rank("as its formula", sys.argv[1], 2, [sys.executable, __file__, "rank"], limit=100)
    import thunder as th
    mesh = th.mesh(data=2, timeout=60.0)
    check_data_parallel(th, mesh)
    check_sharded(th, mesh)
    check_measured(th, mesh)
    print(f"rank {mesh.index()}: as its formula", flush=True)


main()
