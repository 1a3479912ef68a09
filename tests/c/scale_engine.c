/* An engine of the program's own: two contexts in two threads are the ranks of a world. */
// covers: capi/scale/engine.cpp
#include "test.h"

#include <pthread.h>

/* What both ranks have brought for one collective. Groups are numbered: 0 is the world, each rank's n-th split the n-th after it. */
typedef struct meeting {
    const void *in[2];
    void *out[2];
    int came;
} meeting;
typedef struct group {
    int number, splits, rank, ranks;
    uint64_t begun;
} group;

enum { GROUPS = 4, MEETINGS = 256 };
static meeting meetings[GROUPS][MEETINGS]; /* one thread calls the engine */
static char notes[2][8][512];
static size_t waiting[2];
static int open_groups;
static _Atomic int destroyed, fails_at = -1, given_up;

static thunder_status *open_world(const thunder_engine_place *place, void **out, int64_t *rank, int64_t *ranks, void *user)
{
    (void)user;
    CHECK(place->ranks == 2 && place->communicator == 0);
    group *made = calloc(1, sizeof *made);
    made->rank = (int)place->rank, made->ranks = 2;
    *rank = place->rank, *ranks = 2, *out = made;
    open_groups++;
    return NULL;
}

static thunder_status *split(void *of, int64_t line, int64_t index, int64_t ranks, void **out, void *user)
{
    group *parent = of, *made = calloc(1, sizeof *made);
    (void)user, (void)line;
    made->number = ++parent->splits, made->rank = (int)index, made->ranks = (int)ranks;
    *out = made;
    open_groups++;
    return NULL;
}

static void close_group(void *of, void *user)
{
    (void)user;
    free(of);
    open_groups--;
}

/* The request is the meeting's number; the first is 1. */
static meeting *come(group *g, const void *in, void *out, uint64_t *request)
{
    meeting *m = &meetings[g->number][g->begun % MEETINGS];
    CHECK(g->begun < MEETINGS);
    m->in[g->rank] = in, m->out[g->rank] = out, m->came++;
    *request = ++g->begun;
    return m->came == g->ranks ? m : NULL;
}

static float reduced(const meeting *m, int64_t i, int32_t reduction)
{
    const float a = ((const float *)m->in[0])[i], b = ((const float *)m->in[1])[i];
    CHECK(reduction == THUNDER_SUM || reduction == THUNDER_MAX || reduction == THUNDER_MIN);
    return reduction == THUNDER_SUM ? a + b : (reduction == THUNDER_MAX) == (a > b) ? a : b;
}

static thunder_status *all_reduce(void *of, const void *in, void *out, int64_t count, thunder_dtype dtype, int32_t reduction,
    uint64_t *request, void *user)
{
    (void)user;
    CHECK(dtype == THUNDER_F32);
    if (fails_at == 0) return thunder_status_create(THUNDER_BACKEND, "the wire is cut", 15);
    const meeting *m = come(of, in, out, request);
    for (int64_t i = 0; m && i < count; i++)
        ((float *)m->out[0])[i] = ((float *)m->out[1])[i] = reduced(m, i, reduction);
    return NULL;
}

static thunder_status *reduce_scatter(void *of, const void *in, void *out, int64_t count, thunder_dtype dtype, int32_t reduction,
    uint64_t *request, void *user)
{
    (void)user;
    CHECK(dtype == THUNDER_F32);
    const meeting *m = come(of, in, out, request);
    for (int64_t i = 0; m && i < 2 * count; i++) ((float *)m->out[i / count])[i % count] = reduced(m, i, reduction);
    return NULL;
}

static size_t bytes_of(int64_t count, thunder_dtype dtype) { return (size_t)count * (size_t)(dtype & 0xff) / 8; }

static thunder_status *all_gather(void *of, const void *in, void *out, int64_t count, thunder_dtype dtype, uint64_t *request, void *user)
{
    (void)user;
    const size_t bytes = bytes_of(count, dtype);
    const meeting *m = come(of, in, out, request);
    for (int to = 0; m && to < 2; to++)
        for (size_t from = 0; from < 2; from++) memcpy((char *)m->out[to] + from * bytes, m->in[from], bytes);
    return NULL;
}

static thunder_status *broadcast(void *of, void *data, int64_t count, thunder_dtype dtype, int64_t root, uint64_t *request, void *user)
{
    (void)user;
    const meeting *m = come(of, NULL, data, request);
    if (m) memcpy(m->out[1 - root], m->out[root], bytes_of(count, dtype));
    return NULL;
}

static thunder_status *all_to_all(void *of, const void *in, void *out, int64_t count, thunder_dtype dtype, uint64_t *request, void *user)
{
    (void)user;
    const size_t bytes = bytes_of(count, dtype);
    const meeting *m = come(of, in, out, request);
    for (size_t to = 0; m && to < 2; to++)
        for (size_t from = 0; from < 2; from++) memcpy((char *)m->out[to] + from * bytes, (const char *)m->in[from] + to * bytes, bytes);
    return NULL;
}

/* Between the two of them alone. */
static thunder_status *send_receive(void *of, const void *in, int64_t to, void *out, int64_t from, int64_t count, thunder_dtype dtype,
    uint64_t *request, void *user)
{
    const int own = ((group *)of)->rank;
    (void)user;
    CHECK((to == -1 || to == 1 - own) && (from == -1 || from == 1 - own));
    const meeting *m = come(of, to < 0 ? NULL : in, from < 0 ? NULL : out, request);
    for (int rank = 0; m && rank < 2; rank++)
        if (m->out[rank] && m->in[1 - rank]) memcpy(m->out[rank], m->in[1 - rank], bytes_of(count, dtype));
    return NULL;
}

static thunder_status *test(void *of, uint64_t *request, int32_t *done, void *user)
{
    const group *g = of;
    (void)user;
    *done = meetings[g->number][*request - 1].came == g->ranks;
    return NULL;
}

static thunder_status *send_note(void *of, int64_t rank, const char *note, size_t bytes, void *user)
{
    (void)of, (void)user;
    CHECK(bytes <= sizeof notes[0][0] && note[bytes - 1] == 0);
    if (waiting[rank] < 8) memcpy(notes[rank][waiting[rank]++], note, bytes);
    return NULL;
}

static thunder_status *receive_note(void *of, char *note, size_t *bytes, void *user)
{
    const int rank = ((group *)of)->rank;
    (void)user;
    *bytes = 0;
    if (waiting[rank] == 0) return NULL;
    waiting[rank]--;
    *bytes = sizeof notes[0][0];
    memcpy(note, notes[rank][waiting[rank]], *bytes);
    return NULL;
}

static void give_up(void *user) { *(_Atomic int *)user = 1; }
static void destroy(void *user)
{
    (void)user;
    destroyed++;
}

static thunder_engine_desc described(void)
{
    const thunder_engine_desc desc = { sizeof desc, "pair", (void *)&given_up, open_world, split, close_group, all_reduce, all_gather,
        reduce_scatter, broadcast, test, send_note, receive_note, give_up, destroy, all_to_all, send_receive };
    return desc;
}

static thunder_mesh *join_world(thunder_context *c, int64_t rank, const char *axes)
{
    const thunder_engine_desc desc = described();
    thunder_options *options = NULL;
    thunder_mesh *mesh = NULL;
    OK(thunder_context_add_engine(c, &desc));
    OK(thunder_options_create(c, &options));
    thunder_options_set_str(options, "engine", "pair");
    thunder_options_set_i64(options, "rank", rank);
    thunder_options_set_i64(options, "ranks", 2);
    thunder_options_set_f64(options, "timeout", 20);
    OK(thunder_mesh_create(c, axes, options, &mesh));
    thunder_options_release(options);
    return mesh;
}

static void expect(thunder_scope *s, thunder_tensor *t, size_t count, const float *wanted)
{
    float found[4];
    OK(thunder_scope_status(s));
    OK(thunder_tensor_read(t, found, count * sizeof *found));
    for (size_t i = 0; i < count; i++) CHECK(found[i] == wanted[i]);
}

static void *run_rank(void *arg)
{
    const int64_t rank = *(const int64_t *)arg, shape[] = { 2 };
    thunder_context *c = NULL;
    thunder_scope *s = NULL;
    OK(thunder_context_create(NULL, &c));
    thunder_mesh *mesh = join_world(c, rank, "data=2");
    CHECK(thunder_mesh_index(mesh, "data") == rank && strstr(thunder_mesh_text(mesh), "pair: of the program's own"));
    const float mine[] = { 1, rank ? 20 : 10 };
    thunder_tensor *x = test_f32(c, 1, shape, mine);
    OK(thunder_scope_create(c, 0, &s));
    expect(s, th_all_reduce_opt(s, x, "data", "mean"), 2, (const float[]){ 1, 15 });
    expect(s, th_all_reduce_opt(s, x, "data", "min"), 2, (const float[]){ 1, 10 });
    expect(s, th_all_gather(s, x), 4, (const float[]){ 1, 10, 1, 20 });
    expect(s, th_reduce_scatter(s, x), 1, (const float[]){ rank ? 30 : 2 });
    expect(s, th_broadcast_opt(s, x, "data", 1), 2, (const float[]){ 1, 20 });
    const thunder_dim one[] = { 0 }, other[] = { 1 };
    expect(s, th_all_to_all(s, x), 2, rank ? (const float[]){ 10, 20 } : (const float[]){ 1, 1 });
    expect(s, th_ppermute(s, x, "data", one, 1, other, 1), 2, rank ? (const float[]){ 1, 10 } : (const float[]){ 0, 0 });
    expect(s, th_barrier(s, x), 2, mine);
    OK(thunder_mesh_barrier(mesh, NULL));
    fails_at = 0;
    th_all_reduce(s, x);
    REFUSED(thunder_scope_status(s), THUNDER_BACKEND, "engine pair: all_reduce: the wire is cut");
    REFUSED(thunder_mesh_barrier(mesh, NULL), THUNDER_BACKEND, "cannot communicate any more");
    thunder_scope_release(s);
    thunder_tensor_release(x);
    thunder_mesh_release(mesh);
    thunder_context_release(c);
    return NULL;
}

static void check_mistakes(void)
{
    thunder_context *c = NULL;
    thunder_options *options = NULL;
    thunder_mesh *mesh = NULL;
    OK(thunder_context_create(NULL, &c));
    thunder_engine_desc desc = described();
    desc.name = "mpi";
    REFUSED(thunder_context_add_engine(c, &desc), THUNDER_INVALID_ARGUMENT, "it is built in");
    desc.name = "half";
    desc.test = NULL;
    REFUSED(thunder_context_add_engine(c, &desc), THUNDER_INVALID_ARGUMENT, "engine 'half' has no test");
    desc.test = test, desc.send = NULL;
    REFUSED(thunder_context_add_engine(c, &desc), THUNDER_INVALID_ARGUMENT, "both or neither");
    OK(thunder_options_create(c, &options));
    thunder_options_set_str(options, "engine", "pear");
    REFUSED(thunder_mesh_create(c, NULL, options, &mesh), THUNDER_INVALID_ARGUMENT, "there is no engine 'pear'");
    thunder_options_set_i64(options, "rank", 2);
    REFUSED(thunder_mesh_create(c, NULL, options, &mesh), THUNDER_INVALID_ARGUMENT, "one alone was given");
    thunder_options_release(options);
    thunder_context_release(c);
}

int main(void)
{
    pthread_t threads[2];
    static const int64_t ranks[] = { 0, 1 };
    check_mistakes();
    destroyed = 0;
    for (int i = 0; i < 2; i++) CHECK(pthread_create(&threads[i], NULL, run_rank, (void *)&ranks[i]) == 0);
    for (int i = 0; i < 2; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(given_up == 1 && open_groups >= 0 && destroyed <= 2);
    CHECK(THUNDER_UNAVAILABLE == 14);
    return 0;
}
