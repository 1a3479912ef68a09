/* Passes of Lua: rules, and functions over a trace that is edited through a box, which is empty once they have returned. */
#include <string.h>

#include "lua/layer.h"

typedef struct pass_frame {
    const kept *pass;
    thunder_editor *editor;
} pass_frame;

static int call_pass(lua_State *L)
{
    const pass_frame *f = lua_touserdata(L, 1);
    kept_push(L, f->pass);
    lua_getfield(L, -1, "run");
    box *lent = box_push(L, BOX_EDITOR);
    lent->handle = f->editor;
    lua_pushvalue(L, -1);
    lua_insert(L, -3); /* the box stays below the call */
    const int failed = lua_pcall(L, 1, 0, 0);
    lent->handle = NULL;
    return failed ? lua_error(L) : 0;
}

static thunder_status *run(thunder_editor *editor, void *user)
{
    pass_frame f = {user, editor};
    return layer_run(f.pass->layer, call_pass, &f, NULL);
}

static const char *text_field(lua_State *L, int spec, const char *name)
{
    lua_getfield(L, spec, name); /* left on the stack, so that Lua does not collect the text */
    return lua_tostring(L, -1);
}

/* core.pass({ name, before, after, rules, run }, registered): the pass. */
static int core_pass(lua_State *L)
{
    thunder_pass_desc d;
    memset(&d, 0, sizeof d);
    luaL_checktype(L, 1, LUA_TTABLE);
    const bool registered = lua_toboolean(L, 2);
    lua_settop(L, 1);
    d.size = sizeof d;
    d.name = text_field(L, 1, "name"), d.before = text_field(L, 1, "before"), d.after = text_field(L, 1, "after");
    const int rules = lua_getfield(L, 1, "rules") == LUA_TTABLE ? lua_gettop(L) : 0;
    const size_t count = rules ? lua_rawlen(L, rules) : 0;
    const char **texts = lua_newuserdatauv(L, (count + 1) * sizeof *texts, 0);
    luaL_checkstack(L, (int)count + 8, "rules");
    for (size_t i = 0; i < count; i++) {
        lua_rawgeti(L, rules, (lua_Integer)i + 1);
        texts[i] = luaL_checkstring(L, -1);
    }
    d.rules = texts, d.n_rules = count;
    if (lua_getfield(L, 1, "run") == LUA_TFUNCTION) d.run = run;
    box *made = box_push(L, BOX_PASS);
    lua_pushvalue(L, 1);
    d.user = registered ? registered_create(L) : kept_create(L);
    d.destroy = registered ? registered_destroy : kept_destroy;
    thunder_pass *handle = NULL;
    check_status(L, thunder_pass_create(layer_of(L)->context, &d, &handle));
    made->handle = handle;
    return 1;
}

/* ---- the editor: lines count from 1 ---- */

static thunder_editor *editor_check(lua_State *L) { return box_check(L, 1, BOX_EDITOR); }
static size_t line_check(lua_State *L) { return (size_t)(luaL_checkinteger(L, 2) - 1); }

/* Raises the first error that the editor's scope has recorded, with the script's line. */
static void check_editor(lua_State *L, thunder_editor *editor)
{
    check_status(L, thunder_scope_status(thunder_editor_before(editor, thunder_editor_line_count(editor))));
}

static int core_editor_line(lua_State *L)
{
    thunder_editor *editor = editor_check(L);
    const thunder_node *node = thunder_editor_line(editor, line_check(L));
    check_editor(L, editor);
    node_push(L, node);
    return 1;
}

/* core.editor_before(editor, line, f, ...): f(...) with the ops that it calls inserted before the line; its results. */
static int core_editor_before(lua_State *L)
{
    thunder_editor *editor = editor_check(L);
    layer *self = layer_of(L);
    thunder_scope *scope = thunder_editor_before(editor, line_check(L)), *outer = self->scope;
    check_status(L, thunder_scope_status(scope));
    self->scope = scope;
    const int failed = lua_pcall(L, lua_gettop(L) - 3, LUA_MULTRET, 0);
    self->scope = outer;
    if (failed) return lua_error(L);
    return lua_gettop(L) - 2;
}

static int core_editor_arguments(lua_State *L)
{
    thunder_editor *editor = editor_check(L);
    const thunder_values *arguments = thunder_editor_arguments(editor, line_check(L));
    check_editor(L, editor);
    return values_push(L, arguments, false);
}

/* core.editor_values(editor, line): its results, as tensors to compute with. */
static int core_editor_values(lua_State *L)
{
    thunder_editor *editor = editor_check(L);
    const thunder_node *node = thunder_editor_line(editor, line_check(L));
    check_editor(L, editor);
    const size_t count = thunder_node_output_count(node);
    luaL_checkstack(L, (int)count + 4, "results");
    for (size_t i = 0; i < count; i++) tensor_push(L, thunder_editor_value(editor, thunder_node_output_value(node, i)));
    check_editor(L, editor);
    return (int)count;
}

/* core.editor_replace(editor, line, results ...) */
static int core_editor_replace(lua_State *L)
{
    thunder_editor *editor = editor_check(L);
    const size_t line = line_check(L);
    thunder_values *results = values_box(L);
    lua_insert(L, 3);
    const int last = lua_gettop(L);
    for (int i = 4; i <= last; i++) {
        const char *wrong = values_add(L, i, results);
        if (wrong) refuse(L, "replace: result %d: %s", i - 3, wrong);
        lua_settop(L, last);
    }
    thunder_editor_replace(editor, line, results);
    check_editor(L, editor);
    return 0;
}

static int core_editor_delete(lua_State *L)
{
    thunder_editor *editor = editor_check(L);
    thunder_editor_delete(editor, line_check(L));
    check_editor(L, editor);
    return 0;
}

void open_pass(lua_State *L)
{
    static const luaL_Reg functions[] = {{"pass", core_pass},
                                         {"editor_line", core_editor_line},
                                         {"editor_before", core_editor_before},
                                         {"editor_arguments", core_editor_arguments},
                                         {"editor_values", core_editor_values},
                                         {"editor_replace", core_editor_replace},
                                         {"editor_delete", core_editor_delete},
                                         {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
}
