/* Devices as a whole: whether one is there, waiting for it, statistics of its memory. */
#include "lua/layer.h"

thunder_device device_check(lua_State *L, int index)
{
    const constant *self = userdata_check(L, index, BOX_CONSTANT);
    if (self->kind != THUNDER_DEVICE) refuse(L, "a device was expected");
    return self->value;
}

/* core.has_device(device): whether a tensor can be made there. The context makes it, not the scope: a function that asks
 * while it is traced records nothing. */
static int core_has_device(lua_State *L)
{
    const thunder_device device = device_check(L, 1);
    const int64_t one = 1;
    const float element = 0;
    thunder_tensor *made = NULL;
    thunder_status *status =
        thunder_tensor_create(layer_of(L)->context, THUNDER_F32, 1, &one, device, &element, sizeof element, &made);
    thunder_tensor_release(made);
    lua_pushboolean(L, !status);
    thunder_status_release(status);
    return 1;
}

static void set_count(lua_State *L, const char *name, uint64_t value)
{
    lua_pushinteger(L, (lua_Integer)value);
    lua_setfield(L, -2, name);
}

/* core.memory_stats(device): a table of integers. */
static int core_memory_stats(lua_State *L)
{
    thunder_memory_stats stats = {.size = sizeof stats};
    check_status(L, thunder_context_memory_stats(layer_of(L)->context, device_check(L, 1), &stats));
    lua_createtable(L, 0, 7);
    set_count(L, "allocated_bytes", stats.allocated_bytes);
    set_count(L, "max_allocated_bytes", stats.max_allocated_bytes);
    set_count(L, "reserved_bytes", stats.reserved_bytes);
    set_count(L, "max_reserved_bytes", stats.max_reserved_bytes);
    set_count(L, "hits", stats.hits);
    set_count(L, "misses", stats.misses);
    set_count(L, "retries", stats.retries);
    return 1;
}

/* core.device_info(device): a table. */
static int core_device_info(lua_State *L)
{
    thunder_device_info info = {.size = sizeof info};
    check_status(L, thunder_context_device_info(layer_of(L)->context, device_check(L, 1), &info));
    lua_createtable(L, 0, 8);
    lua_pushstring(L, info.name);
    lua_setfield(L, -2, "name");
    set_count(L, "major", (uint64_t)info.major);
    set_count(L, "minor", (uint64_t)info.minor);
    set_count(L, "multi_processor_count", (uint64_t)info.multiprocessors);
    set_count(L, "total_memory", info.total_bytes);
    set_count(L, "L2_cache_size", info.l2_bytes);
    set_count(L, "shared_memory_per_block_optin", info.shared_bytes_per_block);
    set_count(L, "free_memory", info.free_bytes);
    return 1;
}

void open_device(lua_State *L)
{
    static const luaL_Reg functions[] = {{"has_device", core_has_device},
                                         {"memory_stats", core_memory_stats},
                                         {"device_info", core_device_info},
                                         {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
}
