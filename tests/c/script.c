/* Lua files run in a context: what they change is seen from C, and what goes wrong in them is a status. */
#define _POSIX_C_SOURCE 200809L /* mkstemp */
#include <unistd.h>

#include "test.h"

static thunder_status *run(thunder_context *context, const char *text, size_t bytes)
{
    char path[] = "thunder-script-XXXXXX";
    const int file = mkstemp(path);
    CHECK(file >= 0 && write(file, text, bytes) == (ssize_t)bytes && !close(file));
    thunder_status *status = thunder_context_load_script(context, path);
    remove(path);
    return status;
}
#define RUN(text) run(context, text, sizeof text - 1)

static void shares_the_context(thunder_context *context)
{
    int64_t state[2] = { 0, 0 };
    thunder_context *other = NULL;
    OK(RUN("require 'thunder'.seed(77)"));
    OK(thunder_tensor_read(thunder_context_random(context), state, sizeof state));
    CHECK(state[0] == 77);
    OK(thunder_context_create(NULL, &other));
    OK(thunder_tensor_read(thunder_context_random(other), state, sizeof state));
    CHECK(state[0] != 77);
    thunder_context_release(other);
    /* What a script left behind does not reach the next one: each has a Lua state of its own. */
    OK(RUN("leftover = require 'thunder'.compile(function(x) return x + 1 end)"));
    OK(RUN("assert(leftover == nil)"));
}

static void fails(thunder_context *context)
{
    REFUSED(thunder_context_load_script(context, "no/such.lua"), THUNDER_CALLBACK, "no/such.lua");
    REFUSED(RUN("local x = 1\nlocal = 2\n"), THUNDER_CALLBACK, ":2:");
    REFUSED(RUN("\n\nerror 'on purpose'"), THUNDER_CALLBACK, ":3: on purpose");
    REFUSED(RUN("error(setmetatable({}, { __tostring = function() return 'an object' end }))"), THUNDER_CALLBACK,
        "an object");
    REFUSED(RUN("error(nil)"), THUNDER_CALLBACK, "nil");
    REFUSED(RUN("local function f() return 1 + f() end f()"), THUNDER_CALLBACK, "stack overflow");
    REFUSED(RUN("\033Lua"), THUNDER_CALLBACK, "binary"); /* text only: compiled chunks can crash */

    /* An op's message, behind the script's line, eagerly and in a compiled function. */
    static const char eager[] = "local th = require 'thunder'\nlocal x = th.ones(2, 3)\nreturn x:matmul(x)\n";
    static const char traced[] = "local th = require 'thunder'\nlocal x = th.ones(2, 3)\n"
                                 "th.compile(function(t)\n  return t:matmul(t)\nend)(x)\n";
    REFUSED(RUN(eager), THUNDER_CALLBACK, ":3: matmul: inner dimensions differ");
    REFUSED(RUN(traced), THUNDER_CALLBACK, ":4: matmul: inner dimensions differ");
    REFUSED(RUN(traced), THUNDER_CALLBACK, "traceback");
    OK(RUN("assert(require 'thunder'.ones(2):sum():item() == 2)")); /* the context is as good as before */
}

int main(void)
{
    thunder_context *context = NULL;
    OK(thunder_context_create(NULL, &context));
    shares_the_context(context);
    fails(context);
    thunder_context_release(context);
    return 0;
}
