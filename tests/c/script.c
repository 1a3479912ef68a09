/* Lua files run in a context: what they change is seen from C, and what goes wrong in them is a status. */
// covers: capi/script.cpp
#define _POSIX_C_SOURCE 200809L /* mkstemp */
#include "script.h"

#define RUN(text) test_run_script(context, text, sizeof text - 1, NULL)

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

/* What a script registers lives on in the context, on any thread's calls, without the script. */
static thunder_status *halved(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    const thunder_any x = thunder_any_tensor(thunder_values_tensor(in, 0));
    (void)user;
    thunder_values_push_tensor(out, th_gelu(s, thunder_op_invoke(s, "script.halve", &x, 1, NULL, NULL, 0, "user.c:3")));
    return NULL;
}

static thunder_status *call_halved(thunder_context *context, float *result)
{
    const int64_t shape[] = { 2 };
    const float data[] = { 2, 6 };
    thunder_options *o = NULL;
    thunder_function *f = NULL;
    thunder_compiled *c = NULL;
    thunder_tensor *x = test_f32(context, 1, shape, data), *y = NULL;
    OK(thunder_options_create(context, &o));
    thunder_options_set_str(o, "executors", "script");
    OK(thunder_function_create(context, "halved", halved, NULL, NULL, &f));
    OK(thunder_compile(f, o, &c));
    thunder_status *st = thunder_compiled_call_tensors(c, &x, 1, &y, 1);
    if (!st) OK(thunder_tensor_read(y, result, 2 * sizeof *result));
    thunder_tensor_release(x);
    thunder_tensor_release(y);
    thunder_options_release(o);
    thunder_compiled_release(c);
    thunder_function_release(f);
    return st;
}

static const char registers[] =
    "local th = require 'thunder'\n"
    "th.op { schema = 'script.halve(tensor x) -> tensor', decompose = function(x) return x / 2 end }\n"
    "local calls = 0\n"
    "th.executor { name = 'script', ops = { gelu = function(x)\n"
    "  calls = calls + 1\n"
    "  if calls == 3 then error('three is too many') end\n"
    "  if calls == 4 then while true do end end\n"
    "  return x * calls\n"
    "end } }\n"
    "th.pass { name = 'idle', rules = { 'neg(neg(x)) -> x' } }\n";

static void registrations_outlive_the_script(void)
{
    float r[2];
    thunder_context *context = NULL;
    thunder_script_limits limits;
    memset(&limits, 0, sizeof limits);
    limits.size = sizeof limits, limits.instructions = 1000000, limits.memory_bytes = 64 << 20, limits.restricted = 1;
    OK(thunder_context_create(NULL, &context));
    OK(test_run_script(context, registers, sizeof registers - 1, &limits));
    OK(call_halved(context, r));
    CHECK(r[0] == 1 && r[1] == 3);
    OK(call_halved(context, r));
    CHECK(r[0] == 2 && r[1] == 6);
    REFUSED(call_halved(context, r), THUNDER_CALLBACK, "three is too many");
    REFUSED(call_halved(context, r), THUNDER_CALLBACK, "ran more than 1000000 instructions"); /* each call has its own */
    OK(call_halved(context, r));
    thunder_context_release(context);
}

static thunder_status *run_limited(thunder_context *context, const char *text, size_t bytes)
{
    thunder_script_limits limits = { sizeof limits, 16 << 20, 2000000, 1 };
    return test_run_script(context, text, bytes, &limits);
}
#define LIMITED(text) run_limited(context, text, sizeof text - 1)

static void keeps_to_its_limits(thunder_context *context)
{
    OK(LIMITED("assert(require 'thunder'.ones(2):sum():item() == 2)"));
    /* What there is, and nothing else. */
    OK(LIMITED("local names = {} for name in pairs(_G) do names[#names + 1] = name end table.sort(names)\n"
               "assert(table.concat(names, ' ') == '_G _VERSION assert collectgarbage coroutine error getmetatable ipairs load math next os '"
               " .. 'pairs pcall print rawequal rawget rawlen rawset require select setmetatable string table tonumber tostring type utf8 "
               "warn', table.concat(names, ' '))"));
    REFUSED(LIMITED("while true do end"), THUNDER_CALLBACK, "ran more than 2000000 instructions");
    REFUSED(LIMITED("coroutine.wrap(function() while true do end end)()"), THUNDER_CALLBACK, "instructions");
    REFUSED(LIMITED("while true do pcall(function() while true do end end) end"), THUNDER_CALLBACK, "instructions");
    REFUSED(LIMITED("local t = {} for i = 1, 1e9 do t[i] = ('x'):rep(100000) .. i end"), THUNDER_CALLBACK, "not enough memory");
    REFUSED(LIMITED("return ('x'):rep(1 << 30)"), THUNDER_CALLBACK, "not enough memory");
    REFUSED(LIMITED("io.open('x')"), THUNDER_CALLBACK, "global 'io'");
    REFUSED(LIMITED("os.execute('true')"), THUNDER_CALLBACK, "field 'execute'");
    REFUSED(LIMITED("debug.sethook()"), THUNDER_CALLBACK, "global 'debug'");
    REFUSED(LIMITED("require 'socket'"), THUNDER_CALLBACK, "a restricted script cannot load the module 'socket'");
    REFUSED(LIMITED("assert(load('\\27Lua'))"), THUNDER_CALLBACK, "attempt to load a binary chunk");
    REFUSED(LIMITED("require 'thunder'.load_plugin 'x.so'"), THUNDER_CALLBACK, "load_plugin: a restricted script cannot reach files");
    REFUSED(LIMITED("require 'thunder'.data.csv 'x.csv'"), THUNDER_CALLBACK, "a restricted script cannot reach files");
    REFUSED(LIMITED("require 'thunder'.load_program 'x.thunder'"), THUNDER_CALLBACK, "load_program: a restricted script cannot reach files");
    REFUSED(LIMITED("require 'thunder'.export_c('x.thunder', 'x')"), THUNDER_CALLBACK, "export_c: a restricted script cannot reach files");
    REFUSED(LIMITED("require 'thunder'.compiler.load_cache_artifacts 'x'"), THUNDER_CALLBACK, "a restricted script cannot load machine code");
    REFUSED(LIMITED("require 'thunder'.nn.Linear(2, 2):save 'x'"), THUNDER_CALLBACK, "save: a restricted script cannot reach files");
    REFUSED(LIMITED("require 'thunder'.op { schema = 'f(tensor x) -> tensor', meta = print, library = 'x.so', symbol = 'f' }"),
        THUNDER_CALLBACK, "a restricted script cannot load libraries");
}

static void fails(thunder_context *context)
{
    REFUSED(thunder_context_load_script(context, "no/such.lua"), THUNDER_NOT_FOUND, "no/such.lua");
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
    keeps_to_its_limits(context);
    thunder_context_release(context);
    registrations_outlive_the_script();
    return 0;
}
