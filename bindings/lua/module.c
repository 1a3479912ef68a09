/* Modules: handles with a Lua table of children, attributes and the forward function. */
#include "lua/arguments.h"

static thunder_module *module_check(lua_State *L, int index) { return box_check(L, index, BOX_MODULE); }

/* Pushes an empty box with its table. */
static box *push_module(lua_State *L)
{
    box *made = box_push(L, BOX_MODULE);
    lua_newtable(L);
    lua_setiuservalue(L, -2, 1);
    return made;
}

void module_push(lua_State *L, thunder_module *module) { push_module(L)->handle = thunder_module_retain(module); }

static int construct(lua_State *L)
{
    const signature *kind = lua_touserdata(L, lua_upvalueindex(1));
    arguments c = {.signature = kind, .count = 0, .named = false};
    arguments_read(L, &c);
    box *made = push_module(L);
    thunder_module *module = NULL;
    check_status(L, thunder_module_create(layer_of(L)->context, kind->name, c.any, (size_t)c.count,
                                          c.named ? c.names : NULL, &module));
    made->handle = module;
    layer_note_made(layer_of(L));
    return 1;
}

/* The setter of options of a kind: set(module, name, value). */
static int set_option(lua_State *L)
{
    const signature *kind = lua_touserdata(L, lua_upvalueindex(1));
    thunder_module *module = module_check(L, 1);
    const char *name = luaL_checkstring(L, 2);
    arguments c = {.signature = kind, .count = 0, .named = false};
    const bool none = lua_isnoneornil(L, 3);
    if (!none) {
        lua_newtable(L);
        lua_pushvalue(L, 3);
        lua_setfield(L, -2, name);
        lua_replace(L, 1);
        lua_settop(L, 1);
        arguments_read(L, &c);
    }
    const thunder_any absent = {.kind = THUNDER_NONE, .u.i = 0};
    check_status(L, thunder_module_set_option(module, none ? name : c.names[0], none ? &absent : &c.any[0]));
    return 0;
}

/* core.kind(name, {parameter names}, {kinds}): the function that makes one, and the one that sets its options. */
static int core_kind(lua_State *L)
{
    lua_settop(L, 3);
    lua_pushinteger(L, 1);
    signature_push(L);
    lua_pushvalue(L, -1);
    lua_pushcclosure(L, construct, 1);
    lua_insert(L, -2);
    lua_pushcclosure(L, set_option, 1);
    return 2;
}

/* core.fields(m): the table of children, attributes and forward. */
static int core_fields(lua_State *L)
{
    userdata_check(L, 1, BOX_MODULE);
    lua_getiuservalue(L, 1, 1);
    return 1;
}

/* core.child(m, name): the child of this name, or nil. */
static int core_child(lua_State *L)
{
    thunder_module *parent = module_check(L, 1), *found = NULL;
    const char *name = luaL_checkstring(L, 2);
    box *made = push_module(L);
    thunder_status *missing = thunder_module_child(parent, name, &found);
    thunder_status_release(missing);
    if (missing) lua_pushnil(L);
    made->handle = found;
    return 1;
}

/* core.module_option(m, name): whether its kind has an option of this name, and what it is. */
static int core_module_option(lua_State *L)
{
    thunder_any value;
    thunder_status *missing = thunder_module_option(module_check(L, 1), luaL_checkstring(L, 2), &value);
    thunder_status_release(missing);
    lua_pushboolean(L, !missing);
    if (missing) return 1;
    any_push(L, &value);
    return 2;
}

/* core.module_copy(m): a copy that knows nothing of the table yet. */
static int core_module_copy(lua_State *L)
{
    thunder_module *module = module_check(L, 1), *copy = NULL;
    box *made = push_module(L);
    check_status(L, thunder_module_copy(module, &copy));
    made->handle = copy;
    return 1;
}

/* core.set_forward(m): from now on the library calls the function in its table. */
static int core_set_forward(lua_State *L)
{
    thunder_module *module = module_check(L, 1);
    check_status(L, thunder_module_set_forward(module, callback_run, callback_create(L, 1), callback_destroy));
    return 0;
}

static int core_module_tensor(lua_State *L)
{
    layer *state = layer_of(L);
    thunder_module *module = module_check(L, 1);
    thunder_scope *scope = scope_now(L, state);
    thunder_tensor *tensor = thunder_module_tensor(scope, module, luaL_checkstring(L, 2));
    scope_check(L, state, scope);
    tensor_push(L, tensor);
    scope_done(state, scope);
    return 1;
}

static int module_call(lua_State *L)
{
    layer *state = layer_of(L);
    thunder_module *module = module_check(L, 1);
    thunder_values *in = values_box(L);
    lua_insert(L, 1);
    values_add_all(L, 3, in);
    thunder_scope *scope = scope_now(L, state);
    /* An eager layer's error is raised here and now, with the line in front. */
    const char *place = scope == state->eager ? NULL : script_place(L);
    if (scope == state->eager) memory_collect_garbage(L, state);
    lua_State *running = layer_enter(state, L);
    thunder_values *out = thunder_module_call_at(scope, module, in, place);
    layer_leave(state, running);
    scope_check(L, state, scope);
    const int results = values_push(L, out, layer_recording(state));
    scope_done(state, scope);
    return results;
}

static int core_training(lua_State *L)
{
    layer *state = layer_of(L);
    thunder_scope *scope = scope_now(L, state);
    lua_pushboolean(L, thunder_module_training(scope, module_check(L, 1)));
    scope_check(L, state, scope);
    return 1;
}

static int core_module_to(lua_State *L)
{
    thunder_module *module = module_check(L, 1);
    const constant *to = constant_test(L, 2);
    if (!to) return refuse(L, "to: a dtype or a device was expected, got %s", type_text(L, 2));
    check_status(L, to->kind == THUNDER_DEVICE ? thunder_module_to(module, to->value)
                                               : thunder_module_to_dtype(module, to->value));
    return 0;
}

static int core_is_module(lua_State *L)
{
    lua_pushboolean(L, luaL_testudata(L, 1, box_name(BOX_MODULE)) != NULL);
    return 1;
}

void open_module(lua_State *L)
{
  static const luaL_Reg functions[] = {{"kind", core_kind},
                                       {"fields", core_fields},
                                       {"child", core_child},
                                       {"module_option", core_module_option},
                                       {"module_copy", core_module_copy},
                                       {"set_forward", core_set_forward},
                                       {"module_tensor", core_module_tensor},
                                       {"training", core_training},
                                       {"module_to", core_module_to},
                                       {"is_module", core_is_module},
                                       {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
  luaL_getmetatable(L, box_name(BOX_MODULE));
  lua_pushcfunction(L, module_call);
  lua_setfield(L, -2, "__call");
  lua_pop(L, 1);
}
