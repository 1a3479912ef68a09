/* Kernels for CUDA devices: the library's descriptor of a table { symbol =, source = or image =, grid = ... }. */
#include <string.h>

#include "lua/layer.h"

static const char *text(lua_State *L, int index, const char *field)
{
    lua_getfield(L, index, field);
    return lua_tostring(L, -1); /* the table keeps it */
}

/* Leaves what it points to on the stack. */
void cuda_kernel_read(lua_State *L, int index, thunder_kernel_desc *d)
{
    luaL_checkstack(L, 16, "a kernel");
    memset(d, 0, sizeof *d);
    d->size = sizeof *d, d->device = THUNDER_CUDA(0);
    d->symbol = text(L, index, "symbol"), d->source = text(L, index, "source");
    d->parameters = text(L, index, "parameters"), d->shared_bytes = text(L, index, "shared_bytes");
    d->grid = text(L, index, "grid"), d->block = text(L, index, "block");
    lua_getfield(L, index, "image");
    d->image = lua_tolstring(L, -1, &d->image_bytes);
    lua_getfield(L, index, "strided");
    if (lua_toboolean(L, -1)) d->flags = THUNDER_EXECUTOR_STRIDED;
    if (lua_getfield(L, index, "options") != LUA_TTABLE) return;
    const int options = lua_gettop(L);
    const size_t count = lua_rawlen(L, options);
    const char **texts = lua_newuserdatauv(L, (count + 1) * sizeof *texts, 0);
    luaL_checkstack(L, (int)count + 4, "options");
    for (size_t i = 0; i < count; i++) {
        lua_rawgeti(L, options, (lua_Integer)i + 1);
        texts[i] = luaL_checkstring(L, -1);
    }
    d->options = texts, d->n_options = count;
}
