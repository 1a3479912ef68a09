"""Programs on several ranks: th.mesh(data=2), and data parallel training."""
import functools

from . import _backward, _thunder
from ._checkpoint import load, note_shard, save
from ._thunder import ModuleBase

__all__ = ["Mesh", "data", "fully_shard", "load", "mesh", "save"]


class Mesh(_thunder.MeshBase):
    """The ranks of the world as a grid with named axes; mesh() makes it."""

    def broadcast(self, tensors, axis=None, root=0):
        """Writes the values of one rank into a module's state, a tensor, or a tree of tensors, of the others."""
        self._broadcast(dict(tensors.state_dict()) if isinstance(tensors, ModuleBase) else tensors, axis, root)


def mesh(*, engine=None, timeout=None, communicator=None, folder=None, **axes):
    """th.mesh(data=2, tensor=-1): the last axis varies first from rank to rank, and -1 is what the others leave. Who this process is say the
    variables of its launcher (mpirun, srun, torchrun); without them it is alone. engine: what moves bytes between ranks, "mpi", or
    "nccl" between GPUs. timeout: for how many seconds ranks wait for one another, 120. communicator: an MPI_Comm in place of all processes,
    as mpi4py has them, or an ncclComm_t as an integer. folder: one that all hosts share, by which ranks of "nccl" find each other."""
    for name, size in axes.items():
        if isinstance(size, bool) or not isinstance(size, int):
            raise TypeError(f"mesh: the size of axis '{name}' must be an int, not {type(size).__name__}")
    if communicator is not None and not isinstance(communicator, int):
        from mpi4py import MPI
        communicator = MPI._handleof(communicator)
    options = {"engine": engine, "timeout": timeout, "communicator": communicator, "folder": None if folder is None else str(folder)}
    return Mesh(",".join(f"{name}={size}" for name, size in axes.items()), {key: value for key, value in options.items() if value is not None})


def _check_mesh(who, mesh):
    if not isinstance(mesh, Mesh):
        raise TypeError(f"{who}: mesh must be a mesh, th.mesh(data=-1), not {type(mesh).__name__}")


def fully_shard(module, mesh, axis="data", reshard_after_forward=True):
    """Each rank of the axis has a part of the rows of each parameter from here on, of what they are on rank 0: ZeRO-3. List the
    parameters, and make optimisers, afterwards. Each block of a ModuleList or Sequential is a unit, and the rest of the
    module one: compiled functions gather a unit's parameters together, a unit ahead, and free them; with reshard_after_forward=False they keep it for the backward: ZeRO-2. Gradients by shards are shards, of the mean over the
    ranks in data()."""
    _check_mesh("fully_shard", mesh)
    if not isinstance(module, ModuleBase):
        raise TypeError(f"fully_shard: module must be a module, not {type(module).__name__}")
    before = [(one, dict(one._parameters())) for one in module.modules()]
    mesh._fully_shard(module, axis, reshard_after_forward)
    for one, parameters in before:
        for name, now in dict(one._parameters()).items():
            if now is not parameters[name]:
                _backward.carry(parameters[name], now)
                note_shard(now, axis, parameters[name].shape[0])
    return module


def data(step, mesh, parameters, axis="data", reduction="mean"):
    """A training step of several ranks, each on examples of its own: in it grad_of() and backward() give for parameters the mean, or the
    sum, over the ranks of the axis, so that the optimiser does the same on each. `parameters`, a module or a tree of tensors, begin on all ranks as they
    are on rank 0."""
    _check_mesh("data", mesh)
    mesh.broadcast(parameters, axis)

    @functools.wraps(step)
    def parallel_step(*args, **named):
        before = _thunder._set_grad_axis((axis, reduction))
        try:
            return step(*args, **named)
        finally:
            _thunder._set_grad_axis(before)
    return parallel_step
