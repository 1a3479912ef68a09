/* Meshes: the ranks of the world as a grid with named axes. */
#include "lua/layer.h"

static thunder_mesh *mesh_check(lua_State *L, int index) { return box_check(L, index, BOX_MESH); }

/* The axis at `index`, or NULL for the world; one that the mesh does not have is refused. */
static const char *axis_check(lua_State *L, int index, thunder_mesh *mesh)
{
    if (lua_isnoneornil(L, index)) return NULL;
    if (lua_type(L, index) != LUA_TSTRING) refuse(L, "mesh: an axis is a string, not %s", type_text(L, index));
    const char *axis = lua_tostring(L, index);
    if (thunder_mesh_size(mesh, axis) < 0) refuse(L, "mesh: there is no axis '%s'; %s", axis, thunder_mesh_text(mesh));
    return axis;
}

/* core.mesh("data=2,tensor=2", options) */
static int core_mesh(lua_State *L)
{
    const char *axes = luaL_checkstring(L, 1);
    lua_settop(L, 2);
    thunder_options *options = options_check(L, 2);
    box *made = box_push(L, BOX_MESH);
    thunder_mesh *mesh = NULL;
    check_status(L, thunder_mesh_create(layer_of(L)->context, axes, options, &mesh));
    made->handle = mesh;
    return 1;
}

/* core.mesh_size(mesh, axis or nil) and core.mesh_index */
static int core_mesh_size(lua_State *L)
{
    thunder_mesh *mesh = mesh_check(L, 1);
    lua_pushinteger(L, thunder_mesh_size(mesh, axis_check(L, 2, mesh)));
    return 1;
}
static int core_mesh_index(lua_State *L)
{
    thunder_mesh *mesh = mesh_check(L, 1);
    lua_pushinteger(L, thunder_mesh_index(mesh, axis_check(L, 2, mesh)));
    return 1;
}

static int core_mesh_local_rank(lua_State *L)
{
    lua_pushinteger(L, thunder_mesh_local_rank(mesh_check(L, 1)));
    return 1;
}

static int core_mesh_device(lua_State *L)
{
    constant_push(L, THUNDER_DEVICE, (int32_t)thunder_mesh_device(mesh_check(L, 1)));
    return 1;
}

static int core_mesh_text(lua_State *L)
{
    lua_pushstring(L, thunder_mesh_text(mesh_check(L, 1)));
    return 1;
}

/* core.mesh_barrier(mesh, axis or nil) */
static int core_mesh_barrier(lua_State *L)
{
    thunder_mesh *mesh = mesh_check(L, 1);
    check_status(L, thunder_mesh_barrier(mesh, axis_check(L, 2, mesh)));
    return 0;
}

/* core.mesh_broadcast(mesh, tensors, axis or nil, root) */
static int core_mesh_broadcast(lua_State *L)
{
    thunder_mesh *mesh = mesh_check(L, 1);
    const char *axis = axis_check(L, 3, mesh);
    if (!lua_isinteger(L, 4)) return refuse(L, "broadcast: the rank must be an integer, got %s", type_text(L, 4));
    thunder_values *values = values_box(L);
    const char *wrong = values_add(L, 2, values);
    if (wrong) return refuse(L, "broadcast: %s", wrong);
    check_status(L, thunder_mesh_broadcast(mesh, axis, values, lua_tointeger(L, 4)));
    return 0;
}

/* core.mesh_fully_shard(mesh, module, axis, reshard_after_forward) */
static int core_mesh_fully_shard(lua_State *L)
{
    thunder_mesh *mesh = mesh_check(L, 1);
    thunder_module *module = box_check(L, 2, BOX_MODULE);
    check_status(L, thunder_mesh_fully_shard(mesh, axis_check(L, 3, mesh), module, lua_toboolean(L, 4)));
    return 0;
}

/* core.mesh_parallelize_module(mesh, module, axis, plan) */
static int core_mesh_parallelize_module(lua_State *L)
{
    thunder_mesh *mesh = mesh_check(L, 1);
    thunder_module *module = box_check(L, 2, BOX_MODULE);
    check_status(L, thunder_mesh_parallelize_module(mesh, axis_check(L, 3, mesh), module, luaL_checkstring(L, 4)));
    return 0;
}

void open_mesh(lua_State *L)
{
    static const luaL_Reg functions[] = {{"mesh", core_mesh},
                                         {"mesh_size", core_mesh_size},
                                         {"mesh_index", core_mesh_index},
                                         {"mesh_local_rank", core_mesh_local_rank},
                                         {"mesh_device", core_mesh_device},
                                         {"mesh_text", core_mesh_text},
                                         {"mesh_barrier", core_mesh_barrier},
                                         {"mesh_broadcast", core_mesh_broadcast},
                                         {"mesh_fully_shard", core_mesh_fully_shard},
                                         {"mesh_parallelize_module", core_mesh_parallelize_module},
                                         {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
}
