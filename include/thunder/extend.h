/* thunder/extend.h: ops and passes of your own. A part of thunder.h, which includes it; thunder/executor.h is the third way
 * to extend the compiler, thunder/plugin.h offers all of them to shared libraries. */
#ifndef THUNDER_H
#include "thunder.h" /* includes this file where it belongs */
#elif !defined(THUNDER_EXTEND_H)
#define THUNDER_EXTEND_H

/* ==== ops of your own [S]: once added, equals of the library's, for as long as the context lives ==== */

/* What a meta function says of the results, in order: it pushes one for each. A mistake sticks. */
typedef struct thunder_types thunder_types;
void thunder_types_push(thunder_types *types, thunder_dtype dtype, thunder_device device, size_t rank,
    const int64_t *shape) THUNDER_NOEXCEPT;
void thunder_types_push_like(thunder_types *types, const thunder_tensor *tensor) THUNDER_NOEXCEPT;

enum {
    THUNDER_OP_INPLACE = 1,     /* has a form NAME_ that writes its result into the first argument */
    THUNDER_OP_ELEMENTWISE = 2, /* each element of a result comes from those in the same place: it may take an input's memory */
    THUNDER_OP_EFFECTS = 4,     /* does more than give results: never merged, dropped or run ahead */
    THUNDER_OP_NOT_DIFFERENTIABLE = 8 /* no gradient passes: what is before it has none by way of it */
};
typedef struct thunder_op_desc { /* copied */
    size_t size;
    /* "square_plus(tensor x, float c=1.0) -> tensor". Kinds: tensor tensor[] int float bool str int[] float[] dtype device,
     * and tensor|number, for which a plain number may stand; '?' after one that may be None. Results: tensor,
     * (tensor, tensor) or tensor[]. A name may have a part in front: "mine.square_plus". */
    const char *schema;
    const char *doc;
    uint32_t flags;
    void *user;
    /* One of the two, or both, which then must agree. A meta function gives the types of the results; the op then needs a
     * kernel for each device that it is to run on. A decomposition is a traced function of the arguments, of which a list
     * of tensors is a group: types, gradient and what runs without a kernel follow from it. It has nothing but its
     * arguments: no other tensors, no writes in place. */
    thunder_status *(*meta)(const thunder_node *node, thunder_types *results, void *user);
    thunder_fn decompose;
    /* Its gradient, a traced function; NULL: that of the decomposition; with a meta function alone a gradient that passes
     * is an error, unless the flags say that none does. `in` holds four groups: the arguments, the results, their
     * cotangents, and for each argument whether its gradient is wanted (booleans). `out` gets the gradient for each
     * argument, in order, each shaped like it; NULL or missing: none. */
    thunder_fn vjp;
    void (*destroy)(void *user); /* with the context */
} thunder_op_desc;
/* Any time: what is traced, called or parsed from now on finds it. A taken name is refused. */
THUNDER_CHECK thunder_status *thunder_context_add_op(thunder_context *context,
    const thunder_op_desc *desc) THUNDER_NOEXCEPT;

struct thunder_kernel_desc { /* copied */
    size_t size;
    thunder_device device; /* 0: the CPU; THUNDER_CUDA(0): all CUDA devices, whatever the index */
    uint32_t flags;        /* THUNDER_EXECUTOR_STRIDED, or 0: inputs are made dense first */
    /* Fills launch->outputs. `args` follow the schema; tensors, which are in launch->inputs, and None are THUNDER_NONE there.
     * A status fails the call. From any thread. Or NULL, and the function `symbol` of the shared library `library`. For CUDA
     * devices data is in the device's memory, and the work is asked for on launch->native_stream; it is not waited for. */
    thunder_status *(*run)(const thunder_launch *launch, const thunder_any *args, void *user);
    const char *library, *symbol;
    void *user;
    void (*destroy)(void *user);
    /* For CUDA devices, instead of a function: CUDA C++, compiled by NVRTC when a program is compiled and kept on disk, or
     * `image`, PTX (a text) or machine code (a cubin or fatbin, such as Triton's), and in it the kernel `symbol`, which is
     * extern "C". For each tensor NAME of the op the source may call the type of its elements NAME_t; `bfloat16` and
     * `float16` convert to and from float. `options` are NVRTC's: "-DN=4", "--use_fast_math", "-I...". Since: 0.1 */
    const char *source;
    const void *image;
    size_t image_bytes;
    const char *const *options;
    size_t n_options;
    /* How it is launched: formulas, for each line computed once when it is compiled. Of tensors they read NAME.numel, .rank,
     * .size(DIM), .stride(DIM), in elements, and .itemsize, and integer arguments by their names; + - * / % as in C, and
     * ceildiv(a, b), min(a, b), max(a, b). The result is called `out`, several `out0`, `out1`. grid and block: one to three,
     * by commas; with a grid of 0 blocks nothing is launched. shared_bytes: of dynamic shared memory, NULL: 0.
     * parameters: what the kernel takes, by commas, in its order: a tensor is its address, NULL if absent; an integer formula
     * a long long, a float argument a double, a bool a bool, unless int, unsigned, "long long", size_t, float, double or bool
     * stands before it; null is a null pointer. NULL: the arguments in the schema's order, then the results. */
    const char *parameters, *grid, *block, *shared_bytes;
};
/* How a kind of device runs an op of your own, once for each. An op that also has a decomposition is run by its kernel in programs,
 * unless an executor claims it first; its decomposition is what runs eagerly. */
THUNDER_CHECK thunder_status *thunder_context_add_kernel(thunder_context *context, const char *op,
    const thunder_kernel_desc *desc) THUNDER_NOEXCEPT;

/* ==== passes of your own [S] ==== */

typedef struct thunder_pass thunder_pass;     /* rewrites traces */
typedef struct thunder_editor thunder_editor; /* a trace while a pass changes it [O], lent to `run` */
typedef struct thunder_pass_desc { /* copied */
    size_t size;
    const char *name;
    const char *before, *after; /* at most one: the name of a pass; neither: after "grad". Several there: in the order added */
    /* Rules, "div(a, sqrt(b)) -> mul(a, rsqrt(b)) if b.dtype == f32 and b.rank > 0", applied in order to every line and
     * what comes of it, each at most once. A name before '(' is an op, another one a variable: any argument, the same
     * everywhere. A number is itself, or a tensor filled with it. A guard is made of VARIABLE.dtype, .rank, .numel or
     * .size(AXIS), compared with a dtype, a number or another of these by == != < <= > >=. A rule that would change a
     * result's type is skipped. */
    const char *const *rules;
    size_t n_rules;
    /* Or a function over the trace, which edits it; with rules it runs after them. May be NULL. */
    thunder_status *(*run)(thunder_editor *editor, void *user);
    void *user;
    void (*destroy)(void *user);
} thunder_pass_desc;
THUNDER_CHECK thunder_status *thunder_pass_create(thunder_context *context, const thunder_pass_desc *desc,
    thunder_pass **out) THUNDER_NOEXCEPT;
/* From now on part of every compile, and of the option "disable_passes". What it makes is verified like every stage. */
THUNDER_CHECK thunder_status *thunder_context_add_pass(thunder_context *context, thunder_pass *pass) THUNDER_NOEXCEPT;
void thunder_pass_release(thunder_pass *pass) THUNDER_NOEXCEPT;

/* The lines as they are before the pass; edits are noted, and made when it returns. A mistake sticks, and fails the pass: no
 * edit gives a trace that is not sound. Lines count from 0; the node is lent as long as the editor. */
size_t thunder_editor_line_count(const thunder_editor *editor) THUNDER_NOEXCEPT;
const thunder_node *thunder_editor_line(thunder_editor *editor, size_t line) THUNDER_NOEXCEPT;
/* The scope whose ops are inserted before a line; before line_count: at the end. The same one until the next call. It is
 * given values of lines before it, and ops of it and of earlier ones. */
thunder_scope *thunder_editor_before(thunder_editor *editor, size_t line) THUNDER_NOEXCEPT;
/* A value of thunder_node_input_value() or _output_value(), to compute with in that scope. */
thunder_tensor *thunder_editor_value(thunder_editor *editor, uint32_t value) THUNDER_NOEXCEPT;
/* A line's arguments, as a function of its op would get them: lists of tensors are groups. */
thunder_values *thunder_editor_arguments(thunder_editor *editor, size_t line) THUNDER_NOEXCEPT;
/* The line goes; what read its results reads these, which were computed before it or in its scope. Same types. */
void thunder_editor_replace(thunder_editor *editor, size_t line, const thunder_values *results) THUNDER_NOEXCEPT;
/* The line goes; nothing may need its results. */
void thunder_editor_delete(thunder_editor *editor, size_t line) THUNDER_NOEXCEPT;
#endif
