"""Programs on several ranks: th.mesh(data=2), and data parallel training."""
import contextlib
import functools

from .. import _backward, _thunder
from .._checkpoint import Shard, load, note_shard, save
from .._thunder import ModuleBase
from ._pipeline import OneForwardOneBackward, mean_over_ranks, tree_sum
from ._predict import H200, predict

__all__ = ["H200", "Mesh", "accumulate_gradients", "data", "fully_shard", "load", "mesh", "no_sync", "parallelize_module", "pipeline",
           "predict", "reduce_gradients", "save"]


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
    _check_module("fully_shard", mesh, module)
    for _, before, now in _replaced(module, lambda: mesh._fully_shard(module, axis, reshard_after_forward)):
        note_shard(now, Shard(axis, before.shape[0]))
    return module


def parallelize_module(module, mesh, plan, axis="tensor"):
    """Each rank of the axis computes with a part of some layers from here on, of what they are on rank 0. `plan` names layers by path, where '*' is
    any one name: {"blocks.*.fc1": "colwise", "blocks.*.fc2": "rowwise", "words": "vocab"}. A Linear that is "colwise" has some features of its result
    on each rank ("colwise:3": of each of three matrices one below the other), one that is "rowwise" takes such features and gives its whole
    result on each rank. "vocab" is an Embedding with some rows on each, which gives whole results, or a Linear with some classes on each, for
    th.vocab_parallel_cross_entropy. In compiled functions alone. List the parameters, and make optimisers, afterwards."""
    _check_module("parallelize_module", mesh, module)
    text = ",".join(f"{path}={style}" for path, style in plan.items())
    for path, before, now in _replaced(module, lambda: mesh._parallelize_module(module, axis, text)):
        dim = next(dim for dim, (a, b) in enumerate(zip(before.shape, now.shape)) if a != b) if before.shape != now.shape else 0
        note_shard(now, Shard(axis, before.shape[dim], dim, _blocks_of(plan, path)))
    return module


def _blocks_of(plan, path):
    """How many matrices the plan says that a layer's weight has one below the other."""
    names = path.split(".")
    for pattern, style in plan.items():
        wanted = pattern.split(".")
        if len(wanted) == len(names) and all(a in ("*", b) for a, b in zip(wanted, names)):
            return int(style.partition(":")[2] or 1)
    return 1


def _check_module(who, mesh, module):
    _check_mesh(who, mesh)
    if not isinstance(module, ModuleBase):
        raise TypeError(f"{who}: module must be a module, not {type(module).__name__}")


def _replaced(module, change):
    """(path of a module, a parameter, the one in its place) of those that `change` replaces; gradients stay with them."""
    before = [(path, one, dict(one._parameters())) for path, one in module.named_modules()]
    change()
    for path, one, parameters in before:
        for name, now in dict(one._parameters()).items():
            if now is not parameters[name]:
                _backward.carry(parameters[name], now)
                yield path, parameters[name], now


def data(step, mesh, parameters, axis="data", reduction="mean", reduce_dtype=None):
    """A training step of several ranks, each on examples of its own: in it grad_of() and backward() give for parameters the mean, or the
    sum, over the ranks of the axis, so that the optimiser does the same on each. `parameters`, a module or a tree of tensors, begin on all ranks as they
    are on rank 0. reduce_dtype: gradients travel in it, th.bfloat16 in half the time, and are added in float32 by a binary tree; those by shards
    were added with their gathers."""
    _check_mesh("data", mesh)
    mesh.broadcast(parameters, axis)

    @functools.wraps(step)
    def parallel_step(*args, **named):
        before = _thunder._set_grad_axis((axis, reduction, reduce_dtype))
        try:
            return step(*args, **named)
        finally:
            _thunder._set_grad_axis(before)
    return parallel_step


@contextlib.contextmanager
def no_sync():
    """In a step of data(): gradients are this rank's own inside of it, as with DistributedDataParallel's. Those by shards are added over the ranks
    all the same. reduce_gradients() makes of their sum what data() would have."""
    before = _thunder._set_grad_axis(None)
    try:
        yield
    finally:
        _thunder._set_grad_axis(before)


def reduce_gradients(gradients, parameters):
    """In a step of data(), of gradients by parameters that were taken in no_sync() and added up: the mean or the sum over the ranks."""
    return _thunder._reduce_gradients(gradients, parameters)


def accumulate_gradients(loss_of, parameters, microbatches):
    """(the mean of the losses, gradients of it) of `loss_of(*each)` of some micro-batches, a list of tuples, whose activations are not there at
    the same time. In a step of data() gradients are added over the ranks once, those by shards at each micro-batch unless the function is compiled
    with deterministic=True. Sums follow a binary tree, so that any processes times micro-batches that are powers of two give the same bits."""
    if not microbatches:
        raise ValueError("accumulate_gradients: there are no micro-batches")
    losses, gradients = [], []
    with no_sync():
        for each in microbatches:
            losses.append(loss_of(*each))
            gradients.append(_backward.grad_of(losses[-1], parameters))
    return tree_sum(losses) / len(losses), mean_over_ranks(gradients, parameters)


def pipeline(forward, parameters, loss_of, mesh, microbatches, hidden, axis="stage"):
    """In a compiled step, (the mean of the losses, gradients of it) where each rank of the axis has a stage of the model: `forward` is this rank's, with
    `parameters` of its own. The first gets the first of a micro-batch's tuple, each other what the one before gives, all of `hidden`'s shape and dtype, a
    tensor; what the last gives goes to `loss_of` with the rest of the tuple. Stages compute forward and back in turns (1F1B). In a step of data() over
    another axis gradients are over its ranks, too."""
    _check_mesh("pipeline", mesh)
    if not microbatches:
        raise ValueError("pipeline: there are no micro-batches")
    with no_sync():
        stages = OneForwardOneBackward(forward, parameters, loss_of, mesh, microbatches, hidden, axis)
        loss = stages.run()
    return loss, mean_over_ranks(stages.gradients, parameters)
