"""checkpoint.py MPIRUN: a checkpoint of two, three and four ranks loads on one, two and three, in safetensors' own format, the same bits; a save
that is killed, or whose rank cannot write, leaves the one before whole; training goes on from it with the same losses."""
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
INDEX = "model.safetensors.index.json"


def model(th, nn):
    th.seed(5)
    return nn.Sequential(nn.Linear(3, 7), nn.Tanh(), nn.Linear(7, 2), nn.BatchNorm1d(2))


def trained(th, mesh, folder, steps, resume):
    """The losses of some steps of a model of shards, and the checkpoint in `folder` behind them."""
    from thunder import nn, optim
    net = th.parallel.fully_shard(model(th, nn), mesh)
    params = net.parameters()
    optimizer = optim.AdamW(params, lr=0.05)
    if resume:
        th.parallel.load(folder, mesh, net, optimizer)

    def step(x):
        loss = (net(x) ** 2).mean()
        optimizer.step(th.grad_of(loss, params))
        return loss
    step = th.compile(th.parallel.data(step, mesh, net))
    losses = [step(th.tensor([[1.0, 2.0, 3.0], [0.0, 1.0, -1.0], [2.0, 0.5, 1.0]])).item() for _ in range(steps)]
    return losses, net, optimizer


def on_rank(what, folder):
    import thunder as th
    mesh = th.mesh(data=-1, timeout=20.0)
    if what == "save":
        _, net, optimizer = trained(th, mesh, folder, 4, False)
        th.parallel.save(folder, mesh, net, optimizer)
        losses, *_ = trained(th, mesh, folder, 3, True)
        print(f"<losses {losses}>", flush=True)
    elif what == "resume":
        print(f"<losses {trained(th, mesh, folder, 3, True)[0]}>", flush=True)
    elif what == "again":  # the same bits, from another number of ranks
        _, net, optimizer = trained(th, mesh, folder, 0, True)
        th.parallel.save(folder, mesh, net, optimizer)
    elif what == "killed":
        from thunder import _checkpoint
        _, net, optimizer = trained(th, mesh, folder, 2, True)
        _checkpoint._write_index = lambda *_: os._exit(3)
        th.parallel.save(folder, mesh, net, optimizer)
    elif what == "full":
        from thunder import _thunder
        _, net, optimizer = trained(th, mesh, folder, 2, True)
        write = _thunder.write_safetensors

        def refuse(tensors, path):
            if mesh.index() == 1:
                raise OSError("no space left")
            write(tensors, path)
        _thunder.write_safetensors = refuse
        try:
            th.parallel.save(folder, mesh, net, optimizer)
        except (OSError, RuntimeError) as error:
            print(f"<{mesh.index()}: {error}>", flush=True)
        try:
            net.save(os.path.join(folder, "shard.safetensors"))
        except ValueError as error:
            print(f"<{mesh.index()}: {error}>", flush=True)


def contents(folder):
    """{name: (dtype, shape, bytes)} by the index and the format's own words."""
    files = json.loads((pathlib.Path(folder) / INDEX).read_text())["weight_map"]
    found = {}
    for name, file in files.items():
        data = (pathlib.Path(folder) / file).read_bytes()
        size = struct.unpack("<Q", data[:8])[0]
        row = json.loads(data[8:8 + size])[name]
        begin, end = row["data_offsets"]
        found[name] = row["dtype"], row["shape"], data[8 + size + begin:8 + size + end]
    return found


def main():
    if sys.argv[1] == "rank":
        return on_rank(*sys.argv[2:])
    from launch import on_ranks

    def start(ranks, what, folder, wanted=0):
        code, text = on_ranks(sys.argv[1], ranks, [sys.executable, __file__, "rank", what, folder])
        assert (code == 0) == (wanted == 0), (code, text)
        return text
    with tempfile.TemporaryDirectory() as folder:
        for ranks in (2, 3, 4):
            losses = start(ranks, "save", folder)
            saved = contents(folder)
            assert saved["0.weight"][:2] == ("F32", [7, 3]) and saved["optimizer.exp_avg.0"][1] == [7, 3], saved.keys()
            assert {"3.running_mean", "3.num_batches_tracked", "optimizer.lr", "random_state"} <= set(saved)
            assert len(list(pathlib.Path(folder).glob("*.safetensors"))) == ranks, "files of the save before are gone"
            own = losses[losses.index("[") + 1:losses.index("]")]
            for other in (1, 2, 3):
                numbers = start(other, "resume", folder).split("[")[1].split("]")[0]
                assert all(abs(float(a) - float(b)) < 1e-6 for a, b in zip(own.split(","), numbers.split(","))), (own, numbers)
            for other in (1, 3, 2):
                start(other, "again", folder)
                assert contents(folder) == saved, other
        start(2, "killed", folder, 1)
        assert contents(folder) == saved
        text = start(2, "full", folder)
        assert contents(folder) == saved
        assert "<1: no space left>" in text and "<0: checkpoint: another rank could not write its file>" in text, text
        assert text.count("' is a shard, of which other ranks have the rest") == 2, text
    print("checkpoints are whole, and the same bits on any number of ranks")


main()
