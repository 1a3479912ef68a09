/* Files and batches through the C interface alone. */
// covers: capi/data.cpp
#define _POSIX_C_SOURCE 200809L /* mkdtemp */
#include <thunder/data.h> /* alone and first: it brings thunder.h */
#include "test.h"

static void files(thunder_context *context, const char *folder)
{
    char csv[256], weights[256];
    snprintf(csv, sizeof csv, "%s/table.csv", folder);
    snprintf(weights, sizeof weights, "%s/table.safetensors", folder);
    FILE *file = fopen(csv, "w");
    CHECK(file && fputs("a,b\n1,2\n3,4.5\n", file) >= 0 && !fclose(file));

    thunder_tensor *table = NULL;
    float values[4];
    OK(thunder_read_csv(context, csv, 0, &table));
    OK(thunder_tensor_read(table, values, sizeof values));
    CHECK(values[1] == 2.0f && values[3] == 4.5f);

    thunder_values *map = NULL;
    OK(thunder_values_create(context, &map));
    thunder_values_open(map, 1, NULL);
    thunder_values_key(map, "fc.weight");
    thunder_values_push_tensor(map, table);
    thunder_values_close(map);
    OK(thunder_write_safetensors(map, weights));
    OK(thunder_read_safetensors(context, weights, map));
    CHECK(!strcmp(thunder_values_structure(map), "{\"fc.weight\":*}"));
    memset(values, 0, sizeof values);
    OK(thunder_tensor_read(thunder_values_tensor(map, 0), values, sizeof values));
    CHECK(values[2] == 3.0f);

    file = fopen(weights, "w");
    CHECK(file && fputs("short", file) >= 0 && !fclose(file));
    REFUSED(thunder_read_safetensors(context, weights, map), THUNDER_DATA_LOST, weights);
    CHECK(thunder_values_count(map) == 1);
    thunder_values_reset(map);
    thunder_values_push_tensor(map, table);
    REFUSED(thunder_write_safetensors(map, weights), THUNDER_INVALID_ARGUMENT, "in a map; leaf 0 has none");
    thunder_values_release(map);
    thunder_tensor_release(table);
    remove(csv);
    remove(weights);
}

static void arrays(thunder_context *context, const char *folder)
{
    char path[256];
    snprintf(path, sizeof path, "%s/array", folder);
    const int64_t shape[] = { 2, 3 };
    const float data[] = { 1, -2, 3, 4, 5.5f, 6 };
    float back[6];
    thunder_tensor *x = test_f32(context, 2, shape, data), *read = NULL;
    OK(thunder_write_npy(x, path));
    OK(thunder_read_npy(context, path, &read));
    CHECK(thunder_tensor_rank(read) == 2 && thunder_tensor_size(read, 1) == 3);
    OK(thunder_tensor_read(read, back, sizeof back));
    CHECK(!memcmp(back, data, sizeof data));
    thunder_tensor_release(read);
    thunder_tensor_release(x);
    read = NULL;
    REFUSED(thunder_read_idx(context, path, &read), THUNDER_DATA_LOST, path);

    static const unsigned char idx[] = { 0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 1, 7, 255 }; /* u8 [2, 1] */
    unsigned char bytes[2];
    FILE *file = fopen(path, "wb");
    CHECK(file && fwrite(idx, sizeof idx, 1, file) == 1 && !fclose(file));
    OK(thunder_read_idx(context, path, &read));
    CHECK(thunder_tensor_dtype(read) == THUNDER_U8 && thunder_tensor_size(read, 0) == 2);
    OK(thunder_tensor_read(read, bytes, sizeof bytes));
    CHECK(bytes[0] == 7 && bytes[1] == 255);
    thunder_tensor_release(read);
    read = NULL;
    REFUSED(thunder_read_npy(context, path, &read), THUNDER_DATA_LOST, path);
    CHECK(read == NULL);
    remove(path);
}

static void batches(thunder_context *context)
{
    const int64_t shape[] = { 5 }, rows[] = { 0, 1, 2, 3, 4 };
    thunder_tensor *source = NULL, *state = NULL;
    thunder_batches *all = NULL;
    thunder_values *batch = NULL;
    int64_t first[2], again[2], seen = 0;
    OK(thunder_tensor_create(context, THUNDER_I64, 1, shape, THUNDER_CPU, rows, sizeof rows, &source));
    OK(thunder_batches_create(context, &source, 1, 2, 1, 0, 7, &all));
    OK(thunder_values_create(context, &batch));
    CHECK(thunder_batches_count(all) == 3);
    OK(thunder_batches_state(all, &state));
    for (int i = 0; i < 3; i++) {
        OK(thunder_batches_next(all, batch));
        CHECK(thunder_values_count(batch) == 1);
        thunder_tensor *x = thunder_values_tensor(batch, 0);
        int64_t data[2] = { 0, 0 };
        OK(thunder_tensor_read(x, data, thunder_tensor_nbytes(x)));
        if (i == 0) memcpy(first, data, sizeof first);
        seen += data[0] + data[1];
    }
    CHECK(seen == 10);
    OK(thunder_batches_next(all, batch));
    CHECK(thunder_values_count(batch) == 0);
    OK(thunder_batches_set_state(all, state));
    OK(thunder_batches_next(all, batch));
    OK(thunder_tensor_read(thunder_values_tensor(batch, 0), again, sizeof again));
    CHECK(!memcmp(first, again, sizeof first));
    thunder_status *missing = thunder_batches_set_device(all, THUNDER_CUDA(99));
    CHECK(thunder_status_code(missing) == THUNDER_UNIMPLEMENTED);
    thunder_status_release(missing);
    OK(thunder_batches_set_device(all, THUNDER_CPU));
    OK(thunder_batches_set_state(all, state));
    OK(thunder_batches_next(all, batch));
    OK(thunder_tensor_read(thunder_values_tensor(batch, 0), again, sizeof again));
    CHECK(!memcmp(first, again, sizeof first));
    thunder_values_release(batch);
    thunder_batches_release(all);
    thunder_tensor_release(state);
    thunder_tensor_release(source);
}

static int64_t rows_of(thunder_batches *batches, thunder_values *batch, int64_t *first)
{
    int64_t data[2] = { 0, 0 };
    OK(thunder_batches_next(batches, batch));
    if (!thunder_values_count(batch)) return 0;
    thunder_tensor *x = thunder_values_tensor(batch, 0);
    OK(thunder_tensor_read(x, data, thunder_tensor_nbytes(x)));
    if (first) *first = data[0];
    return (int64_t)(thunder_tensor_nbytes(x) / sizeof *data);
}

/* Each pass is an epoch of its own, whatever became of those before it. */
static void passes(thunder_context *context)
{
    const int64_t shape[] = { 5 }, rows[] = { 0, 1, 2, 3, 4 };
    thunder_tensor *source = NULL, *state = NULL;
    thunder_batches *all = NULL, *left = NULL, *outer = NULL, *inner = NULL;
    thunder_values *batch = NULL;
    int64_t first = -1, seen = 0, position[4];
    OK(thunder_tensor_create(context, THUNDER_I64, 1, shape, THUNDER_CPU, rows, sizeof rows, &source));
    OK(thunder_batches_create(context, &source, 1, 2, 0, 0, 7, &all));
    OK(thunder_values_create(context, &batch));
    OK(thunder_batches_pass(all, &left));
    CHECK(rows_of(left, batch, NULL) == 2);
    OK(thunder_batches_pass(all, &outer));
    for (int64_t n; (n = rows_of(outer, batch, seen ? NULL : &first));) {
        OK(thunder_batches_pass(all, &inner));
        while (rows_of(inner, batch, NULL)) seen++;
        thunder_batches_release(inner);
        seen += 100 * n;
    }
    CHECK(first == 0 && seen == 509); /* five rows in three batches, each with three of the inner ones */
    CHECK(rows_of(left, batch, &first) == 2 && first == 2);
    OK(thunder_batches_state(all, &state));
    OK(thunder_tensor_read(state, position, sizeof position));
    CHECK(position[2] == 0 && position[1] == 5); /* at the beginning of what comes next */
    OK(thunder_batches_set_state(all, state));
    OK(thunder_batches_pass(all, &inner));
    CHECK(rows_of(inner, batch, &first) == 2 && first == 0);
    thunder_batches_release(inner);
    REFUSED(thunder_batches_pass(NULL, &inner), THUNDER_INVALID_ARGUMENT, "batches is NULL");
    thunder_batches_release(left);
    thunder_batches_release(outer);
    thunder_batches_release(all);
    thunder_tensor_release(state);
    thunder_tensor_release(source);
    thunder_values_release(batch);
}

int main(void)
{
    thunder_context *context = NULL;
    char folder[] = "thunder-data-XXXXXX";
    OK(thunder_context_create(NULL, &context));
    CHECK(mkdtemp(folder));
    files(context, folder);
    arrays(context, folder);
    batches(context);
    passes(context);
    remove(folder);
    thunder_context_release(context);
    return 0;
}
