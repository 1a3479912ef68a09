/* thunder/modules.h: layers, optimisers and schedules. A part of thunder.h, which includes it. */
#ifndef THUNDER_H
#include "thunder.h" /* includes this file where it belongs */
#elif !defined(THUNDER_MODULES_H)
#define THUNDER_MODULES_H

/* ==== modules and optimisers [X while they change, else S]: kinds are rows of one table, as ops are ==== */

/* What a tensor of a module is to it. A transient one is a buffer that is no part of the state: PyTorch's
 * register_buffer(persistent=False). */
enum { THUNDER_PARAMETER = 1, THUNDER_BUFFER = 2, THUNDER_TRANSIENT_BUFFER = 3 };
/* A module of a built-in kind ("Linear", "Conv2d", "Sequential" ...) or of kind "Module", whose forward you give.
 * `args` follow the kind's schema, or are named one by one. Its parameters are f32 on the CPU, drawn as PyTorch draws
 * them from the context's random state. */
THUNDER_CHECK thunder_status *thunder_module_create(thunder_context *context, const char *kind, const thunder_any *args,
    size_t n_args, const char *const *names_or_null, thunder_module **out) THUNDER_NOEXCEPT;
thunder_module *thunder_module_retain(thunder_module *module) THUNDER_NOEXCEPT;
void thunder_module_release(thunder_module *module) THUNDER_NOEXCEPT;
/* "" of NULL. A lazy kind, "LazyLinear", is the plain one from the first call on, which gives it its tensors. */
const char *thunder_module_kind(const thunder_module *module) THUNDER_NOEXCEPT;
/* Adds a child, or replaces the one of that name. A cycle or a name with a dot is refused. */
THUNDER_CHECK thunder_status *thunder_module_add(thunder_module *module, const char *name,
    thunder_module *child) THUNDER_NOEXCEPT;
/* Takes the child of that name away: programs that call it are compiled anew. */
THUNDER_CHECK thunder_status *thunder_module_remove(thunder_module *module, const char *name) THUNDER_NOEXCEPT;
/* What it was made with, by the name in its kind's schema; valid until it is set anew. */
THUNDER_CHECK thunder_status *thunder_module_option(const thunder_module *module, const char *name,
    thunder_any *out) THUNDER_NOEXCEPT;
/* Gives an option another value, which the next call has: what was compiled is compiled anew. What decides which tensors the
 * module is made of is refused. */
THUNDER_CHECK thunder_status *thunder_module_set_option(thunder_module *module, const char *name,
    const thunder_any *value) THUNDER_NOEXCEPT;
/* The children's names in the order of addition, NULL after the last; valid until one is added. */
const char *thunder_module_child_name(const thunder_module *module, size_t index) THUNDER_NOEXCEPT;
/* Pushes a string: the tree for people, a module a line, "Linear(in_features=64, out_features=10, bias=True)". */
THUNDER_CHECK thunder_status *thunder_module_text(thunder_module *module, thunder_values *out) THUNDER_NOEXCEPT;
/* A module like this one with all below it: tensors are copied, forwards are shared, and what is one module or one
 * tensor here is one there. */
THUNDER_CHECK thunder_status *thunder_module_copy(thunder_module *module, thunder_module **out) THUNDER_NOEXCEPT;
/* The module at a path such as "blocks.0.fc1"; owned. */
THUNDER_CHECK thunder_status *thunder_module_child(thunder_module *module, const char *path,
    thunder_module **out) THUNDER_NOEXCEPT;
/* Adds a tensor, or replaces the one of that name: programs that read it are compiled anew. Retains it. */
THUNDER_CHECK thunder_status *thunder_module_set_tensor(thunder_module *module, const char *name,
    thunder_tensor *tensor, int32_t role) THUNDER_NOEXCEPT;
/* Takes the tensor of that name away, if there is one; a layer for which it is optional, such as a bias, goes on without it. */
THUNDER_CHECK thunder_status *thunder_module_remove_tensor(thunder_module *module, const char *name) THUNDER_NOEXCEPT;
/* In place of the kind's own. `destroy` runs once, also when this call fails. */
THUNDER_CHECK thunder_status *thunder_module_set_forward(thunder_module *module, thunder_fn forward, void *user,
    void (*destroy)(void *user)) THUNDER_NOEXCEPT;
/* [O] The tensor at "fc1.weight", in a scope: a traced function depends on its being this one, and on no data. */
thunder_tensor *thunder_module_tensor(thunder_scope *scope, thunder_module *module, const char *path) THUNDER_NOEXCEPT;
int32_t thunder_module_training(thunder_scope *scope, thunder_module *module) THUNDER_NOEXCEPT; /* [O] guarded */
/* [O] Its forward: takes and gives values, which belong to the scope. */
thunder_values *thunder_module_call(thunder_scope *scope, thunder_module *module,
    const thunder_values *in) THUNDER_NOEXCEPT;
/* [O] The same. `where` is static text, "file:line", or NULL: what messages and traces say of the ops of its layers. */
thunder_values *thunder_module_call_at(thunder_scope *scope, thunder_module *module, const thunder_values *in,
    const char *where) THUNDER_NOEXCEPT;
/* Its forward as a function, to compile or to differentiate: shares the tensors, follows train and eval. */
THUNDER_CHECK thunder_status *thunder_module_function(thunder_module *module, thunder_function **out) THUNDER_NOEXCEPT;
/* A map of path to tensor, always the same handles; a tied parameter is there once. `out_map` is reset first. */
THUNDER_CHECK thunder_status *thunder_module_parameters(thunder_module *module,
    thunder_values *out_map) THUNDER_NOEXCEPT;
/* One list of lists of two, the path and the tensor of each buffer, transient ones too, in the order of addition; each once.
 * `out_list` is reset first. */
THUNDER_CHECK thunder_status *thunder_module_buffers(thunder_module *module, thunder_values *out_list) THUNDER_NOEXCEPT;
/* What is saved: parameters and buffers that are not transient, under every path. */
THUNDER_CHECK thunder_status *thunder_module_state(thunder_module *module, thunder_values *out_map) THUNDER_NOEXCEPT;
/* The paths of thunder_module_state, strings in one list, in PyTorch's order: of each module its parameters and its buffers as
 * they were added, then its children; a map has its keys in the order of their bytes. `out_list` is reset first. */
THUNDER_CHECK thunder_status *thunder_module_paths(thunder_module *module, thunder_values *out_list) THUNDER_NOEXCEPT;
THUNDER_CHECK thunder_status *thunder_module_set_training(thunder_module *module, int32_t training) THUNDER_NOEXCEPT;
/* The same handles, new memory. */
THUNDER_CHECK thunder_status *thunder_module_to(thunder_module *module, thunder_device device) THUNDER_NOEXCEPT;
/* Its real tensors as ones of another real dtype: new handles, so list the parameters, and make optimisers, afterwards.
 * Integers stay. All of them or, on failure, none. */
THUNDER_CHECK thunder_status *thunder_module_to_dtype(thunder_module *module, thunder_dtype dtype) THUNDER_NOEXCEPT;
/* safetensors, through a temporary file and a rename. Loading writes into the same handles, all or nothing; strict also
 * refuses names that are missing or too many. */
THUNDER_CHECK thunder_status *thunder_module_save(thunder_module *module, const char *path) THUNDER_NOEXCEPT;
THUNDER_CHECK thunder_status *thunder_module_load(thunder_module *module, const char *path,
    int32_t strict) THUNDER_NOEXCEPT;

/* "SGD", "AdamW", "Lion" ... over a map (or list) of tensors. Options are PyTorch's: lr, betas, eps, weight_decay,
 * momentum ... Learning rate, step and moments are tensors of its state, a module: writing one recompiles nothing, and
 * a checkpoint saves it. Parameters NULL: groups follow, and these options are those of all that do not say otherwise. */
THUNDER_CHECK thunder_status *thunder_optimizer_create(thunder_context *context, const char *kind,
    const thunder_values *params_or_null, const thunder_options *options_or_null,
    thunder_optimizer **out) THUNDER_NOEXCEPT;
/* One more group of parameters with options of its own. No tensor and no name is in two groups; the tensors of a list
 * are called by their number among all parameters. A step's program is compiled anew. */
THUNDER_CHECK thunder_status *thunder_optimizer_add_group(thunder_optimizer *optimizer, const thunder_values *params,
    const thunder_options *options_or_null) THUNDER_NOEXCEPT;
size_t thunder_optimizer_group_count(const thunder_optimizer *optimizer) THUNDER_NOEXCEPT;
thunder_optimizer *thunder_optimizer_retain(thunder_optimizer *optimizer) THUNDER_NOEXCEPT;
void thunder_optimizer_release(thunder_optimizer *optimizer) THUNDER_NOEXCEPT;
/* [O] One step, eager or traced, with gradients in the structure of the parameters; those of several groups in one map
 * (or list) of all, or in a list of the groups' own. Its error is the scope's. */
void thunder_optimizer_step(thunder_scope *scope, thunder_optimizer *optimizer,
    const thunder_values *grads) THUNDER_NOEXCEPT;
/* [O] One step that evaluates the loss: once, or of "LBFGS" as often as it needs. `closure`, which is given nothing, gives
 * two values: the loss, a real tensor of one element (or a number), and the gradients as thunder_optimizer_step() takes
 * them. Its scope is `scope` where that records; else an eager one with a tape, for thunder_scope_grad(), which lasts as long
 * as the call of the closure: what it gave is kept. LBFGS is refused in traces and on tapes: its closure may call a compiled
 * function. Gives the first loss, which belongs to `scope`; after an error, which is the scope's, a failed tensor, and the
 * parameters are those of the last iteration that was completed. `closure` runs on the calling thread. */
thunder_tensor *thunder_optimizer_step_closure(thunder_scope *scope, thunder_optimizer *optimizer, thunder_fn closure,
    void *user) THUNDER_NOEXCEPT;
thunder_module *thunder_optimizer_state(thunder_optimizer *optimizer) THUNDER_NOEXCEPT; /* borrowed */
/* A 0-d tensor of its state: "lr", "step"; of several groups "param_groups.1.lr". Writing one compiles nothing anew. Also any other
 * number of a group, "weight_decay", "betas.0": the next step has what is written, and is another program. "skipped.PARAMETER", which the
 * state has once a step left that parameter alone, is how many did: where updates depend on the step, each parameter counts its own. */
THUNDER_CHECK thunder_status *thunder_optimizer_set_f64(thunder_optimizer *optimizer, const char *name,
    double value) THUNDER_NOEXCEPT;
THUNDER_CHECK thunder_status *thunder_optimizer_get_f64(const thunder_optimizer *optimizer, const char *name,
    double *out) THUNDER_NOEXCEPT;
/* Pushes a string: its kind and what each group has, for people. */
THUNDER_CHECK thunder_status *thunder_optimizer_text(const thunder_optimizer *optimizer,
    thunder_values *out) THUNDER_NOEXCEPT;
/* [O] Gradients scaled so that their norm together is at most max_norm (and the norm before, a 0-d tensor of the
 * scope), or bounded element by element. */
thunder_values *thunder_clip_grad_norm(thunder_scope *scope, const thunder_values *grads, double max_norm,
    thunder_tensor **out_total_or_null) THUNDER_NOEXCEPT;
thunder_values *thunder_clip_grad_value(thunder_scope *scope, const thunder_values *grads,
    double clip_value) THUNDER_NOEXCEPT;
/* A schedule ("StepLR", "CosineAnnealingLR" ...) writes the lr of each of the optimizer's groups at each step; its options are its
 * kind's. */
THUNDER_CHECK thunder_status *thunder_schedule_create(thunder_optimizer *optimizer, const char *kind,
    const thunder_options *options_or_null, thunder_schedule **out) THUNDER_NOEXCEPT;
void thunder_schedule_release(thunder_schedule *schedule) THUNDER_NOEXCEPT;
THUNDER_CHECK thunder_status *thunder_schedule_step(thunder_schedule *schedule) THUNDER_NOEXCEPT;
/* Of "ReduceLROnPlateau", which decides by a metric; other kinds refuse it, and this one a step without. */
THUNDER_CHECK thunder_status *thunder_schedule_step_metric(thunder_schedule *schedule, double metric) THUNDER_NOEXCEPT;
/* "SequentialLR" (option milestones) or "ChainedScheduler", made of schedules of one optimizer: it alone is stepped
 * from then on, and it keeps them. */
THUNDER_CHECK thunder_status *thunder_schedule_compose(const char *kind, thunder_schedule *const *schedules, size_t n,
    const thunder_options *options_or_null, thunder_schedule **out) THUNDER_NOEXCEPT;
/* Pushes a float for each group: the learning rate that it wrote last. */
THUNDER_CHECK thunder_status *thunder_schedule_last_lr(const thunder_schedule *schedule,
    thunder_values *out) THUNDER_NOEXCEPT;
thunder_module *thunder_schedule_state(thunder_schedule *schedule) THUNDER_NOEXCEPT; /* borrowed */
#endif
