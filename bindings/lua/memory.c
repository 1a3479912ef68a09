/* What Lua's collector learns of tensors, each of which is a few bytes to it: when it is told to go on, and when all garbage goes. */
#define _POSIX_C_SOURCE 200809L
#include <time.h>

#include "lua/layer.h"

static const size_t kTellCollector = 1 << 20;
/* Garbage on devices. A collection goes over all of Lua's objects, which takes longer than a device takes to fill a small tensor: it may
 * take this share of the time, unless there may be more garbage than the most. */
static const size_t kLeastGarbage = (size_t)64 << 20, kMostGarbage = (size_t)1 << 30;
static const double kShareOfTime = 0.125;

void memory_allocated(lua_State *L, size_t bytes)
{
    layer *self = layer_of(L);
    self->unseen_bytes += bytes;
    if (self->unseen_bytes < kTellCollector) return;
    const size_t kilobytes = self->unseen_bytes >> 10;
    self->unseen_bytes = 0;
    lua_gc(L, LUA_GCSTEP, kilobytes > 1 << 20 ? 1 << 20 : (int)kilobytes);
}

void memory_allocated_device(lua_State *L, box *tensor, size_t bytes)
{
    tensor->device_bytes = bytes;
    layer_of(L)->device_bytes += bytes;
}

void memory_forget_device(lua_State *L, const box *tensor)
{
    layer *self = tensor->device_bytes ? layer_of(L) : NULL;
    if (self) self->device_bytes -= tensor->device_bytes; /* else the state is closing */
}

static double now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void collect_now(lua_State *L, layer *self)
{
    const double start = now_seconds();
    lua_gc(L, LUA_GCCOLLECT);
    const double end = now_seconds();
    self->next_collection = end + (end - start) / kShareOfTime;
    self->device_bytes_kept = self->device_bytes;
}

void memory_collect_garbage(lua_State *L, layer *self)
{
    if (self->device_bytes < self->device_bytes_kept) self->device_bytes_kept = self->device_bytes;
    const size_t grown = self->device_bytes - self->device_bytes_kept;
    if (grown < kLeastGarbage || lua_gc(L, LUA_GCISRUNNING) != 1) return;
    if (grown >= kMostGarbage || now_seconds() >= self->next_collection) collect_now(L, self);
}

bool memory_can_retry(lua_State *L, layer *self, const thunder_status *failed)
{
    if (!failed || thunder_status_code(failed) != THUNDER_OUT_OF_MEMORY) return false;
    const size_t before = self->device_bytes;
    collect_now(L, self);
    return self->device_bytes < before;
}
