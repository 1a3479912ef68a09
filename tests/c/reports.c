/* Logs, profiles, examinations, pages and repros, as a host in C asks for them. */
// covers: capi/reports.cpp
#include <thunder/reports.h> /* alone and first: it brings thunder.h */
#include "test.h"

static thunder_status *body(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    thunder_tensor *x = thunder_values_tensor(in, 0);
    (void)user;
    thunder_values_push_tensor(out, th_exp(s, th_mul(s, x, x)));
    return NULL;
}

static void heed(int32_t level, const char *name, const char *text, size_t bytes, void *user)
{
    CHECK(level == 1 && !strcmp(name, "guards") && bytes == strlen(text));
    ++*(int *)user;
}

static const char *explained(thunder_compiled *c, const char *what)
{
    const char *text = NULL;
    OK(thunder_compiled_explain(c, what, &text));
    return text;
}

int main(void)
{
    const int64_t shape[] = { 2, 3 };
    const float data[] = { 1, 2, 3, 4, 5, 6 };
    const char page[] = "report.html";
    int lines = 0;
    thunder_hooks hooks;
    thunder_context *context = NULL;
    thunder_function *f = NULL;
    thunder_compiled *c = NULL;
    thunder_values *in = NULL;
    const char *script = NULL;
    memset(&hooks, 0, sizeof hooks);
    hooks.size = sizeof hooks, hooks.log = heed, hooks.user = &lines;
    OK(thunder_context_create(&hooks, &context));
    REFUSED(thunder_context_set_logs(context, "gaurds"), THUNDER_INVALID_ARGUMENT, "did you mean 'guards'?");
    OK(thunder_context_set_logs(context, "guards"));
    OK(thunder_function_create(context, "body", body, NULL, NULL, &f));
    OK(thunder_compile(f, NULL, &c));
    OK(thunder_values_create(context, &in));
    thunder_tensor *x = test_f32(context, 2, shape, data);
    thunder_values_push_tensor(in, x);
    CHECK(!*explained(c, "profile") && !*explained(c, "examination"));
    REFUSED(thunder_compiled_repro(c, 1, &script), THUNDER_INVALID_ARGUMENT, "nothing is compiled");
    REFUSED(thunder_compiled_write_report(c, page), THUNDER_FAILED_PRECONDITION, "call the function first");
    OK(thunder_compiled_profile(c, in, 2));
    CHECK(lines > 0);
    CHECK(strstr(explained(c, "profile"), "GFLOP/s") && strstr(explained(c, "chrome_trace"), "traceEvents"));
    REFUSED(thunder_compiled_profile(c, in, 0), THUNDER_INVALID_ARGUMENT, "at least 1");
    OK(thunder_compiled_examine(c, in));
    CHECK(strstr(explained(c, "examination"), "body: sound"));
    CHECK(strstr(explained(c, "stats"), "\"misses\":1"));
    OK(thunder_compiled_repro(c, 1, &script));
    CHECK(strstr(script, "th.run_repro"));
    OK(thunder_compiled_write_report(c, page));
    CHECK(remove(page) == 0);
    static const double losses[] = { 1, 0.5, 0.25 };
    const int64_t three[] = { 3 };
    thunder_tensor *history = NULL;
    OK(thunder_tensor_create(context, THUNDER_F64, 1, three, THUNDER_CPU, losses, sizeof losses, &history));
    thunder_values_reset(in);
    thunder_values_open(in, 1, NULL);
    thunder_values_key(in, "loss");
    thunder_values_push_tensor(in, history);
    thunder_values_close(in);
    OK(thunder_plot_history(in, page));
    CHECK(remove(page) == 0);
    REFUSED(thunder_plot_history(in, "history.pdf"), THUNDER_INVALID_ARGUMENT, "ends in neither .html nor .png");
    thunder_values_reset(in);
    thunder_values_push_tensor(in, x);
    REFUSED(thunder_plot_history(in, page), THUNDER_INVALID_ARGUMENT, "a history is a list of numbers, or a tensor of one dim");
    thunder_tensor_release(history);
    thunder_tensor_release(x);
    thunder_values_release(in);
    thunder_compiled_release(c);
    thunder_function_release(f);
    thunder_context_release(context);
    return 0;
}
