/* Limits of a script: memory through its allocator, instructions through a hook, libraries by a list. They guard
 * against mistakes: a pattern that backtracks for ever, or a finalizer that never ends, is not stopped. */
#include <lualib.h>
#include <stdlib.h>

#include "lua/layer.h"

void *limits_allocate(void *user, void *memory, size_t old_bytes, size_t bytes)
{
    limits *self = user;
    if (!memory) old_bytes = 0; /* then it is the kind of object */
    if (!bytes) {
        free(memory);
        self->used_bytes -= old_bytes;
        return NULL;
    }
    if (bytes > old_bytes && self->memory_bytes && self->used_bytes + (bytes - old_bytes) > self->memory_bytes) {
        self->at_limit = true;
        return NULL;
    }
    void *made = realloc(memory, bytes);
    if (made) self->used_bytes += bytes - old_bytes;
    return made;
}

enum { STEP = 1000 };

static void count_instructions(lua_State *L, lua_Debug *event)
{
    void *user;
    (void)event;
    lua_getallocf(L, &user);
    limits *self = user;
    if (self->left > STEP) {
        self->left -= STEP;
        return;
    }
    /* From now on at each line, so that a script that catches the error does not go on. */
    self->left = 0;
    lua_sethook(L, count_instructions, LUA_MASKLINE | LUA_MASKCOUNT, 1);
    luaL_error(L, "the script ran more than %I instructions, its limit", (lua_Integer)self->instructions);
}

void limits_begin(lua_State *L, limits *self)
{
    if (!self || !self->instructions || self->depth++) return;
    self->left = self->instructions;
    lua_sethook(L, count_instructions, LUA_MASKCOUNT, STEP);
}

void limits_end(lua_State *L, limits *self)
{
    if (!self || !self->instructions || --self->depth) return;
    lua_sethook(L, NULL, 0, 0);
}

/* Calls upvalue 1, whose instructions are not counted. */
static int call_without_limit(lua_State *L)
{
    const int given = lua_gettop(L), mask = lua_gethookmask(L), every = lua_gethookcount(L);
    const lua_Hook hook = lua_gethook(L);
    if (hook == count_instructions) lua_sethook(L, NULL, 0, 0);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    const int failed = lua_pcall(L, given, LUA_MULTRET, 0);
    if (hook == count_instructions) lua_sethook(L, hook, mask, every);
    return failed ? lua_error(L) : lua_gettop(L);
}

int core_without_limit(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TFUNCTION);
    lua_settop(L, 1);
    lua_pushcclosure(L, call_without_limit, 1);
    return 1;
}

/* load(chunk, name, mode, env) that reads text alone: precompiled code can break the interpreter. Upvalue 1: Lua's. */
static int load_text(lua_State *L)
{
    const int given = lua_gettop(L);
    if (given < 3) lua_settop(L, 3);
    lua_pushliteral(L, "t");
    lua_replace(L, 3);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
}

/* require(name) of what is there. */
static int require_loaded(lua_State *L)
{
    const char *name = luaL_checkstring(L, 1);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    if (lua_getfield(L, -1, name) == LUA_TNIL) return luaL_error(L, "a restricted script cannot load the module '%s'", name);
    return 1;
}

static void forget_fields(lua_State *L, const char *const *names)
{
    for (; *names; names++) {
        lua_pushnil(L);
        lua_setfield(L, -2, *names);
    }
}

void limits_open_libraries(lua_State *L, const limits *self)
{
    static const luaL_Reg harmless[] = {{LUA_GNAME, luaopen_base},      {LUA_TABLIBNAME, luaopen_table}, {LUA_STRLIBNAME, luaopen_string},
                                        {LUA_MATHLIBNAME, luaopen_math}, {LUA_UTF8LIBNAME, luaopen_utf8}, {LUA_COLIBNAME, luaopen_coroutine},
                                        {LUA_OSLIBNAME, luaopen_os},    {NULL, NULL}};
    static const char *const of_base[] = {"dofile", "loadfile", "xpcall", NULL}, *const of_string[] = {"dump", NULL};
    static const char *const of_os[] = {"execute", "exit", "getenv", "remove", "rename", "setlocale", "tmpname", NULL};
    if (!self || !self->restricted) {
        luaL_openlibs(L);
        return;
    }
    for (const luaL_Reg *each = harmless; each->name; each++) {
        luaL_requiref(L, each->name, each->func, 1);
        lua_pop(L, 1);
    }
    lua_pushglobaltable(L);
    forget_fields(L, of_base);
    lua_getfield(L, -1, "load");
    lua_pushcclosure(L, load_text, 1);
    lua_setfield(L, -2, "load");
    lua_pushcfunction(L, require_loaded);
    lua_setfield(L, -2, "require");
    lua_getfield(L, -1, LUA_STRLIBNAME);
    forget_fields(L, of_string);
    lua_pop(L, 1);
    lua_getfield(L, -1, LUA_OSLIBNAME);
    forget_fields(L, of_os);
    lua_pop(L, 2);
}
