/* thunder/reports.h: what a compile and a call did. A part of thunder.h, which includes it. */
#ifndef THUNDER_H
#include "thunder.h" /* includes this file where it belongs */
#elif !defined(THUNDER_REPORTS_H)
#define THUNDER_REPORTS_H

/* Which logs speak to the host's log from now on, as PyTorch's TORCH_LOGS: "guards,+fusion,-recompiles": a name alone lets it
 * speak, with '+' in detail, with '-' of errors alone; those that are not named say warnings, "" sets all back. The names are "logs"
 * of thunder_context_describe(). An unknown one is an error with the nearest. Each line has the time, the function and the user's
 * line. The environment's THUNDER_LOGS, which is read as a context is made, asks for lines on standard error, and stays. */
THUNDER_CHECK thunder_status *thunder_context_set_logs(thunder_context *context, const char *logs) THUNDER_NOEXCEPT;
/* Why the last call that compiled had to: which argument, which field. "" after none. [X] */
const char *thunder_compiled_last_miss(thunder_compiled *compiled) THUNDER_NOEXCEPT;
/* What a call of the program compiled last needs of memory, exactly, and where each value of its last trace lies: a line
 * for each. "" after none. [X] */
const char *thunder_compiled_memory_report(thunder_compiled *compiled) THUNDER_NOEXCEPT;
/* Why neighbours in the last trace of the program compiled last are kernels of their own: a line for each two of which
 * one reads the other's result, by the numbers that the trace prints. "" when there are none. [X] */
const char *thunder_compiled_fusion_report(thunder_compiled *compiled) THUNDER_NOEXCEPT;
/* How the kernels of the program compiled last came to be: the loop nest of each, as lowered from its lines and after each
 * stage that its device's target runs. "" when there are none. [X] */
const char *thunder_compiled_loops_report(thunder_compiled *compiled) THUNDER_NOEXCEPT;
/* About the program compiled last, as text that stays valid until the next call of this function on `compiled`; "" before
 * there is one. `what`: a name of thunder_context_describe(context, "reports"): "fusion", "loops", "guards", "memory", "breaks",
 * "stages", "hints", "graph", "llvm", "assembly", "cuda", "stats" (JSON) and others; or the name of a stage ("passes"): what the
 * program was after it. Any other: an error with the nearest. */
THUNDER_CHECK thunder_status *thunder_compiled_explain(thunder_compiled *compiled, const char *what,
    const char **out) THUNDER_NOEXCEPT;
typedef struct thunder_statistics { /* filled up to `size`, which the caller sets */
    size_t size;
    uint64_t calls, hits, misses;                  /* hits + misses = calls and preparations that passed their checks */
    uint64_t entries;                              /* programs in the cache now */
    uint64_t trace_ns, transform_ns, compile_ns;   /* total nanoseconds spent: recording, in passes, in executors */
    uint64_t peak_arena_bytes;                     /* the largest intermediate memory of one call */
    uint64_t eager_calls;                          /* that ran op by op: no calls, hits or misses */
    uint64_t segments, graph_breaks;               /* programs of parts of it, each a miss; places where it broke */
    uint64_t plan_ns;  /* that cuDNN took to make plans, in a thread of its own: mostly while compile_ns went on */
} thunder_statistics;
THUNDER_CHECK thunder_status *thunder_compiled_statistics(const thunder_compiled *compiled,
    thunder_statistics *filled) THUNDER_NOEXCEPT;
/* The stages of the program compiled last, from "as written" to "claimed"; 0 before the first call. */
size_t thunder_compiled_trace_count(const thunder_compiled *compiled) THUNDER_NOEXCEPT;
THUNDER_CHECK thunder_status *thunder_compiled_trace(const thunder_compiled *compiled, size_t stage,
    thunder_trace **out) THUNDER_NOEXCEPT;
/* Calls `compiled` for these arguments: once, and then `runs` times with each step timed. What a call does, these do: a training step
 * trains. What was measured are the reports "profile", "profile_json" and "chrome_trace" of thunder_compiled_explain(): of each step the
 * time, bytes, operations and the user's lines, and its share of what the machine does at most, which is measured in the same run. Where it
 * has collectives all ranks call this, and it runs so often again: of each its bytes, its time alone, and that of the wait for it. */
THUNDER_CHECK thunder_status *thunder_compiled_profile(thunder_compiled *compiled, const thunder_values *in,
    size_t runs) THUNDER_NOEXCEPT;
/* Compiles for these arguments, and calls once with each step compared to the reference; where the first result is a loss, its gradients
 * too. What was found are the reports "examination" and "examination_json" of thunder_compiled_explain(): the ops and who runs them,
 * what is unsupported, wrong or NaN, what blocks a gradient or a fusion, each with the user's line, and memory, bytes and operations. */
THUNDER_CHECK thunder_status *thunder_compiled_examine(thunder_compiled *compiled,
    const thunder_values *in) THUNDER_NOEXCEPT;
/* Writes a page of HTML that needs nothing beside itself: the traces of the program compiled last before and after each pass, its
 * graph, memory over time, what thunder_compiled_profile() measured and thunder_compiled_examine() found, guards and compiles. */
THUNDER_CHECK thunder_status *thunder_compiled_write_report(thunder_compiled *compiled,
    const char *path) THUNDER_NOEXCEPT;
/* Step `step` of the program compiled last, from 1 as profiles count, as a Lua script of its own: it computes the step with inputs of
 * the same types, compiled and by the reference, and says how far the two are apart. Valid until the next call on `compiled`. */
THUNDER_CHECK thunder_status *thunder_compiled_repro(thunder_compiled *compiled, size_t step, const char **out) THUNDER_NOEXCEPT;
/* Draws numbers over their positions, such as the losses of a training loop: `histories` is a map by name of tensors of one dim, or of lists
 * of numbers or of 0-d tensors. A path that ends in .html makes a page that needs nothing beside itself, one in .png a picture. What is not
 * finite is a gap; where all are positive and the most is a thousand times the least, the scale is logarithmic. */
THUNDER_CHECK thunder_status *thunder_plot_history(const thunder_values *histories, const char *path) THUNDER_NOEXCEPT;

#endif
