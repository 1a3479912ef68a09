/* Lua scripts given as text. Who includes it defines _POSIX_C_SOURCE first, for mkstemp. */
#ifndef SCRIPT_H
#define SCRIPT_H
#include <unistd.h>

#include "test.h"

/* Runs a script from a file of its own, which is gone afterwards; `limits` may be NULL. */
static inline thunder_status *test_run_script(thunder_context *context, const char *text, size_t bytes, const thunder_script_limits *limits)
{
    char path[] = "thunder-script-XXXXXX";
    const int file = mkstemp(path);
    CHECK(file >= 0 && write(file, text, bytes) == (ssize_t)bytes && !close(file));
    thunder_status *status = thunder_context_load_script_limited(context, path, limits);
    remove(path);
    return status;
}
#endif
