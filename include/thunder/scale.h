/* thunder/scale.h: one program on several processes. A part of thunder.h, which includes it. Processes are started by mpirun, mpiexec,
 * srun or torchrun; each has a context, which is a rank of the world. docs/scale.md begins with two processes on one machine. */
#ifndef THUNDER_H
#include "thunder.h" /* includes this file where it belongs */
#elif !defined(THUNDER_SCALE_H)
#define THUNDER_SCALE_H

/* ==== meshes [S] ==== */

/* The ranks of the world as a grid with named axes, along each of which they are numbered from 0. `axes`: "data=2,tensor=4", the last
 * one varies first from rank to rank, and one size may be -1: what the others leave. NULL or "": none but "world", the axis of all
 * ranks, which is always there. All ranks call it with the same axes, in the same order of calls. Options:
 *   engine        string: what moves bytes between ranks: "mpi", unless it is given, or "nccl", between GPUs. A world of one rank
 *                 needs none.
 *   timeout       float, seconds: how long the ranks of a collective wait for one another; 120 unless it is given.
 *   communicator  int: the host's own, as a handle of the engine (an MPI_Comm, converted to an integer), in place of all processes
 *                 that were started. An MPI that the host started needs MPI_THREAD_MULTIPLE, and is ended by the host.
 *   folder        string: one that all hosts share and this start has for itself, by which ranks of "nccl" find each other; else they
 *                 do so by NCCL_COMM_ID, by torchrun's MASTER_ADDR and MASTER_PORT, or by MPI.
 *   rank, ranks   int: which process this is of how many, where no launcher says it; both or neither.
 * The first mesh of a context opens its world, and one behind an error after which the ranks cannot communicate any more a new
 * one, on all ranks: who this process is say the variables of the launcher, and without them it is alone.
 * Axes stay as they are while the context lives. From then on the context's random state is that of rank 0: the same seed for all.
 * THUNDER_NOT_FOUND: there is no such engine, with every name that was tried. THUNDER_INVALID_ARGUMENT: the axes have another number
 * of ranks than the world, or the ranks disagree. THUNDER_FAILED_PRECONDITION: an axis of that name is there, of another mesh.
 * THUNDER_DEADLINE_EXCEEDED: the others did not come. THUNDER_UNAVAILABLE: one of them left. */
typedef struct thunder_mesh thunder_mesh;
THUNDER_CHECK thunder_status *thunder_mesh_create(thunder_context *context, const char *axes_or_null,
    const thunder_options *options_or_null, thunder_mesh **out) THUNDER_NOEXCEPT;
thunder_mesh *thunder_mesh_retain(thunder_mesh *mesh) THUNDER_NOEXCEPT;
void thunder_mesh_release(thunder_mesh *mesh) THUNDER_NOEXCEPT;
/* How many ranks an axis has, and which of them this one is; NULL: of the world. -1: there is no such axis. */
int64_t thunder_mesh_size(const thunder_mesh *mesh, const char *axis_or_null) THUNDER_NOEXCEPT;
int64_t thunder_mesh_index(const thunder_mesh *mesh, const char *axis_or_null) THUNDER_NOEXCEPT;
/* The number of this rank among those on its machine. */
int64_t thunder_mesh_local_rank(const thunder_mesh *mesh) THUNDER_NOEXCEPT;
/* Where this rank computes: the CPU, or the GPU that the engine drives, by its local rank. */
thunder_device thunder_mesh_device(const thunder_mesh *mesh) THUNDER_NOEXCEPT;
/* The world as it is: "rank 1 of 2, by the variables of Open MPI; mpi: Open MPI v4.1.4, libmpi.so.40; data=2". */
const char *thunder_mesh_text(const thunder_mesh *mesh) THUNDER_NOEXCEPT;
/* Returns when all ranks of the axis have called it; NULL: of the world. */
THUNDER_CHECK thunder_status *thunder_mesh_barrier(thunder_mesh *mesh, const char *axis_or_null) THUNDER_NOEXCEPT;
/* Writes the values that one rank of the axis has into these concrete tensors of all others, such as the first parameters of a
 * module; absent leaves are left out, and shards stay. All ranks have tensors of the same shapes and dtypes, in the same order. */
THUNDER_CHECK thunder_status *thunder_mesh_broadcast(thunder_mesh *mesh, const char *axis_or_null, const thunder_values *tensors,
    int64_t root) THUNDER_NOEXCEPT;

/* ==== data parallel [O] ==== */

/* thunder_scope_grad() of the "mean" (NULL) or the "sum" of the losses that the ranks of an axis have: gradients by captured tensors,
 * such as parameters, are that over the ranks, so that an optimizer does the same on each of them; those by other tensors are this
 * rank's own. The mean of means is that of all examples where the ranks have equally many; where not, the loss is a sum divided by
 * the number of examples on all ranks, an all_reduce, and the gradient that of the sum. Small gradients travel together. */
thunder_values *thunder_scope_grad_over_ranks(thunder_scope *scope, thunder_tensor *loss, thunder_values *wrt, const char *axis,
    const char *reduction_or_null) THUNDER_NOEXCEPT;
/* The same of gradients that each rank has of its own, such as the sum of those of several micro-batches, by `wrt`, in whose structure they
 * are; absent ones stay so. `reduce_dtype`: that in which they travel, THUNDER_BF16 in half the time, and are added in f32 by a binary
 * tree over the ranks; 0: they are added as the engine does. Gradients by shards were added in f32 when they were taken. */
thunder_values *thunder_scope_reduce_gradients(thunder_scope *scope, thunder_values *grads, thunder_values *wrt, const char *axis,
    const char *reduction_or_null, thunder_dtype reduce_dtype) THUNDER_NOEXCEPT;

/* ==== fully sharded [O] ==== */

/* Replaces the parameters of a module, and of all below it, by this rank's shards of what they are on rank 0: a part of their rows,
 * their first dim, as many on each rank of the axis, zeros behind the last row. Those without a dim stay whole. Call it before the
 * parameters are listed, and given to an optimizer, whose steps move the shards. Each block of a list of modules is a unit, and the rest
 * of the module one. Compiled functions gather what a forward reads of a unit together, a unit ahead, in the dtype in which it is computed
 * with; with reshard_after_forward they free it then, and gather it again in the backward. Gradients by shards are shards of the sum over the ranks, added in f32; thunder_scope_grad_over_ranks() makes their mean. */
THUNDER_CHECK thunder_status *thunder_mesh_fully_shard(thunder_mesh *mesh, const char *axis, thunder_module *module,
    int32_t reshard_after_forward) THUNDER_NOEXCEPT;

/* ==== tensor parallel [O] ==== */

/* Divides parameters of layers among the ranks of an axis, each of which computes with its part, of what they are on rank 0. `plan`:
 * "blocks.*.fc1=colwise,blocks.*.fc2=rowwise,words=vocab" names layers by path, where '*' is any one name. A Linear that is "colwise" has
 * some features of its result on each rank; "colwise:3" of a weight that is three matrices one below the other; one that is "rowwise" takes
 * such features, and gives their whole result on each rank. "vocab" is an Embedding with some rows on each rank, which gives whole
 * results, or a Linear with some classes on each, for th_vocab_parallel_cross_entropy(). In compiled functions alone. Call it before the
 * parameters are listed. Errors, which leave the module as it was: a path that no layer has, a layer that has no such style, and sizes that the
 * ranks do not divide. */
THUNDER_CHECK thunder_status *thunder_mesh_parallelize_module(thunder_mesh *mesh, const char *axis, thunder_module *module,
    const char *plan) THUNDER_NOEXCEPT;

/* ==== engines of your own: what moves bytes between ranks ==== */

enum thunder_reduction { THUNDER_SUM = 0, THUNDER_MAX = 1, THUNDER_MIN = 2 };

typedef struct thunder_engine_place {
    size_t size;
    int64_t rank, ranks, local_rank;
    int64_t communicator; /* the option, or 0 */
} thunder_engine_place;

/* What "mpi" is made of, too. All functions but destroy and give_up are called by one thread of the library's, for all worlds of the
 * process, and none may wait for another rank. A `group` is what open or split made: ranks that communicate, numbered from 0. Buffers
 * are dense and on the CPU; they stay until the request is done. A status fails the collective, and the world with it. */
typedef struct thunder_engine_desc { /* copied */
    size_t size;
    const char *name;
    void *user;
    /* Joins the world: of `place`, or of its communicator; writes the rank and the number of ranks that it has there. */
    thunder_status *(*open)(const thunder_engine_place *place, void **out_group, int64_t *out_rank, int64_t *out_ranks, void *user);
    /* The group of those `ranks` of a group that gave the same `line`, of which this one has the number `index`. All ranks of the group
     * are known to call it; it alone may wait for the others. */
    thunder_status *(*split)(void *group, int64_t line, int64_t index, int64_t ranks, void **out_group, void *user);
    void (*close)(void *group, void *user);
    /* Each begins a collective of `count` elements: all_gather of each rank, reduce_scatter of the result; broadcast works in place.
     * all_reduce and reduce_scatter get every dtype but 16-bit floats, a boolean as U8; the others the unsigned integer of the
     * element's size. */
    thunder_status *(*all_reduce)(void *group, const void *in, void *out, int64_t count, thunder_dtype dtype, int32_t reduction,
        uint64_t *out_request, void *user);
    thunder_status *(*all_gather)(void *group, const void *in, void *out, int64_t count, thunder_dtype dtype, uint64_t *out_request,
        void *user);
    thunder_status *(*reduce_scatter)(void *group, const void *in, void *out, int64_t count, thunder_dtype dtype, int32_t reduction,
        uint64_t *out_request, void *user);
    thunder_status *(*broadcast)(void *group, void *data, int64_t count, thunder_dtype dtype, int64_t root, uint64_t *out_request,
        void *user);
    /* Whether a collective is done; once it is, the request is no more. */
    thunder_status *(*test)(void *group, uint64_t *request, int32_t *out_done, void *user);
    /* Texts of at most 512 bytes, their NUL included, to single ranks of the world's group, which nobody waits for: by them ranks say
     * where they are, and that they leave. receive writes one that came and its length, or 0. Both or neither. */
    thunder_status *(*send)(void *group, int64_t rank, const char *note, size_t bytes, void *user);
    thunder_status *(*receive)(void *group, char *note, size_t *out_bytes, void *user);
    /* Ranks were given up: what was begun may never be done, and nothing may wait for it. From any thread; may be NULL. */
    void (*give_up)(void *user);
    void (*destroy)(void *user);
    /* As all_reduce and its like; an engine without them refuses these collectives. all_to_all: `count` elements for each rank, and from
     * each, in the order of ranks. send_receive: sends to rank `to` and receives from rank `from`, where they are not -1. */
    thunder_status *(*all_to_all)(void *group, const void *in, void *out, int64_t count, thunder_dtype dtype, uint64_t *out_request,
        void *user);
    thunder_status *(*send_receive)(void *group, const void *in, int64_t to, void *out, int64_t from, int64_t count, thunder_dtype dtype,
        uint64_t *out_request, void *user);
} thunder_engine_desc;
/* [S] From now on the option "engine" of meshes can name it. */
THUNDER_CHECK thunder_status *thunder_context_add_engine(thunder_context *context,
    const thunder_engine_desc *desc) THUNDER_NOEXCEPT;

#endif
