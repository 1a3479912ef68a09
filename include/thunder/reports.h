/* thunder/reports.h: what a compile and a call did. A part of thunder.h, which includes it. */
#ifndef THUNDER_REPORTS_H
#define THUNDER_REPORTS_H

/* Which logs speak to the host's log from now on, as PyTorch's TORCH_LOGS: "guards,+fusion,-recompiles": a name alone lets it
 * speak, with '+' in detail, with '-' of errors alone; those that are not named say warnings, "" sets all back. The names are "logs"
 * of thunder_context_describe(). An unknown one is an error with the nearest. Each line has the time, the function and the user's
 * line. The environment's THUNDER_LOGS, which is read as a context is made, asks for lines on standard error, and stays. */
THUNDER_CHECK thunder_status *thunder_context_set_logs(thunder_context *context, const char *logs) THUNDER_NOEXCEPT;
/* Calls `compiled` for these arguments: once, and then `runs` times with each step timed. What a call does, these do: a training step
 * trains. What was measured are the reports "profile", "profile_json" and "chrome_trace" of thunder_compiled_explain(): of each step the
 * time, bytes, operations and the user's lines, and its share of what the machine does at most, which is measured in the same run. */
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

#endif
