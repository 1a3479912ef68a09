/* What a trace keeps that no call checks: calls, while a function is traced, of what gives something else each time or does something
 * outside. Looked for where the option `sharp_edges` asks, by a hook on calls; the host's own hook is called as before. */
#include <string.h>

#include "lua/layer.h"

static const char names_key; /* in the registry: [function] = what it is called */
static _Thread_local hook_state outer;
static _Thread_local bool *warns_once;

/* What is done for what it does is said by the option alone. */
static bool only_writes(const char *name) { return strcmp(name, "print") == 0 || strcmp(name, "io.write") == 0 || strcmp(name, "file.write") == 0; }

static void tell(lua_State *L, const char *name)
{
    thunder_scope *scope = layer_of(L)->scope;
    if (!scope || (warns_once && (!*warns_once || only_writes(name)))) return;
    const char *text = lua_pushfstring(L, "%s() is called once, while the function is traced", name), *where = script_place(L);
    if (!warns_once) {
        thunder_scope_sharp_edge(scope, text, where);
    } else {
        *warns_once = false;
        lua_warning(L, lua_pushfstring(L, "sharp_edges: %s [at %s]; give it as an argument, or compile with sharp_edges = \"allow\"", text, where ? where : "?"), 0);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

static void record_sharp_call(lua_State *L, lua_Debug *record)
{
    const int mask = record->event == LUA_HOOKCOUNT ? LUA_MASKCOUNT : record->event == LUA_HOOKLINE ? LUA_MASKLINE
                   : record->event == LUA_HOOKRET   ? LUA_MASKRET
                                                    : LUA_MASKCALL;
    if (mask == LUA_MASKCALL && lua_checkstack(L, 6) && lua_getinfo(L, "f", record)) {
        lua_rawgetp(L, LUA_REGISTRYINDEX, &names_key);
        lua_insert(L, -2);
        lua_rawget(L, -2);
        if (lua_isstring(L, -1)) tell(L, lua_tostring(L, -1));
        lua_pop(L, 2);
    }
    if (outer.hook && (outer.mask & mask)) outer.hook(L, record);
}

hook_state current_hook(lua_State *L) { return (hook_state){lua_gethook(L), lua_gethookmask(L), lua_gethookcount(L)}; }

void edges_watch(lua_State *L, bool *warns)
{
    if (lua_gethook(L) == record_sharp_call) return;
    outer = current_hook(L), warns_once = warns;
    lua_sethook(L, record_sharp_call, outer.mask | LUA_MASKCALL, outer.count);
}

void edges_end(lua_State *L, const hook_state *before)
{
    if (lua_gethook(L) == record_sharp_call && before->hook != record_sharp_call) lua_sethook(L, before->hook, before->mask, before->count);
}

/* Those of a library, by name; pops it. */
static void add_functions(lua_State *L, const char *library, const char *const *functions)
{
    const int names = lua_gettop(L) - 1;
    for (; lua_istable(L, -1) && *functions; functions++) {
        if (lua_getfield(L, -1, *functions) == LUA_TNIL) {
            lua_pop(L, 1);
            continue;
        }
        lua_pushfstring(L, *library ? "%s.%s" : "%s%s", library, *functions);
        lua_rawset(L, names);
    }
    lua_pop(L, 1);
}

void open_edges(lua_State *L)
{
    static const char *const math[] = {"random", NULL}, *const os[] = {"time", "clock", "date", "getenv", "tmpname", "execute", "remove", "rename", NULL},
                      *const io[] = {"read", "write", "open", "lines", "popen", NULL}, *const file[] = {"read", "write", "lines", NULL},
                      *const base[] = {"print", NULL};
    lua_newtable(L);
    lua_getglobal(L, "math"), add_functions(L, "math", math);
    lua_getglobal(L, "os"), add_functions(L, "os", os);
    lua_getglobal(L, "io"), add_functions(L, "io", io);
    lua_pushglobaltable(L), add_functions(L, "", base);
    if (luaL_getmetatable(L, LUA_FILEHANDLE) == LUA_TTABLE)
        lua_getfield(L, -1, "__index"), lua_remove(L, -2), add_functions(L, "file", file);
    else
        lua_pop(L, 1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &names_key);
}
