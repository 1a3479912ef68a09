"""Models that PyTorch itself divides among processes, by DDP, FSDP2 and DTensor, behind torch.compile(backend="thunder"): its collectives are lines of
its own, and losses, gradients and parameters those of its eager mode."""
# covers: bindings/python/thunder/torch/aten/ranks.py
import os
import subprocess
import sys
import tempfile
import unittest

import support

RANKS, STEPS = 2, 4


# ---- on each rank ----

def model(torch):
    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.up, self.down, self.norm = torch.nn.Linear(8, 16), torch.nn.Linear(16, 8), torch.nn.LayerNorm(8)

        def forward(self, x):
            return self.norm(x + self.down(torch.relu(self.up(x))))
    torch.manual_seed(0)
    return torch.nn.Sequential(Block(), Block())


def local(tensor):
    return tensor.to_local() if hasattr(tensor, "to_local") else tensor


def check_training(torch, name, wrap, seed):
    """`seed`: of a rank's examples."""
    eager, compiled = wrap(model(torch)), torch.compile(wrap(model(torch)), backend="thunder")
    both = [(net, torch.optim.SGD(net.parameters(), lr=0.1)) for net in (eager, compiled)]
    for step in range(STEPS):
        torch.manual_seed(10 * step + seed)
        x, y = torch.randn(6, 8), torch.randn(6, 8)
        losses = []
        for net, optimizer in both:
            optimizer.zero_grad()
            loss = ((net(x) - y) ** 2).mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
        torch.testing.assert_close(losses[1], losses[0])
        for one, other in zip(eager.parameters(), compiled.parameters()):
            torch.testing.assert_close(local(other.grad), local(one.grad))
            torch.testing.assert_close(local(other), local(one))
    print(f"<{name}>", flush=True)


def check_collectives(torch, dist, rank):
    import torch.distributed._functional_collectives as ranks
    world = dist.group.WORLD

    def added(x):
        return ranks.all_reduce(x * 2, "sum", world) + 1

    def in_place(x):
        y = x * 2
        dist.all_reduce(y)
        return y - 1

    def parts(x):
        return ranks.all_gather_tensor(x * 3, 0, world).sum(0), ranks.reduce_scatter_tensor(x + 1, "sum", 0, world) * 2

    def several(x):
        one, other = ranks.all_reduce_coalesced([x + 1, x * x], "sum", world)
        return one + other + ranks.all_reduce(x, "max", world)

    def unread(x):
        """The ranks meet, although nobody reads it, and each time."""
        ranks.all_reduce(x, "sum", world)
        return ranks.all_reduce(x, "sum", world) * 2

    def spread(x):
        return ranks.all_to_all_single(x, None, None, world) + ranks.broadcast(x, 1, world)
    for f in (added, in_place, parts, several, unread, spread):
        compiled = torch.compile(f, backend="thunder")
        for call in range(1, 6):
            x = torch.arange(4.0) * (rank + call)
            for found, wanted in zip(compiled(x) if f is parts else [compiled(x)], f(x) if f is parts else [f(x)]):
                torch.testing.assert_close(found + 0, wanted + 0, rtol=0, atol=0)
    print("<collectives>", flush=True)


def on_rank(rank, file):
    import torch
    import torch.distributed as dist
    import thunder.torch  # noqa: F401
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
    dist.init_process_group("gloo", init_method=f"file://{file}", rank=rank, world_size=RANKS)
    mesh = init_device_mesh("cpu", (RANKS,))

    def sharded(net):
        for block in net:
            fully_shard(block, mesh=mesh)
        return fully_shard(net, mesh=mesh)

    def divided(net):
        return parallelize_module(net, mesh, {"*.up": ColwiseParallel(), "*.down": RowwiseParallel()})
    check_collectives(torch, dist, rank)
    check_training(torch, "DDP", torch.nn.parallel.DistributedDataParallel, rank)
    check_training(torch, "FSDP2", sharded, rank)
    check_training(torch, "DTensor", divided, 0)
    dist.destroy_process_group()


@support.needs_torch
class Ranks(unittest.TestCase):
    def test_what_pytorch_divides_among_processes_trains_as_in_eager_mode(self):
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-W", "ignore", __file__, "rank"]
            started = [subprocess.Popen([*command, str(rank), os.path.join(folder, "ranks")], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                       for rank in range(RANKS)]
            try:
                said = [one.communicate(timeout=240)[0] for one in started]
            finally:
                for one in started:
                    one.kill()
        for text, one in zip(said, started):
            self.assertEqual(one.returncode, 0, "\n".join(said))
            for name in ("collectives", "DDP", "FSDP2", "DTensor"):
                self.assertIn(f"<{name}>", text)


if __name__ == "__main__":
    if sys.argv[1:2] == ["rank"]:
        on_rank(int(sys.argv[2]), sys.argv[3])
    else:
        unittest.main()
