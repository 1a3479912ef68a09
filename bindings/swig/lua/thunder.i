// Lua: the module thunder_core, on which thunder_swig.lua is built.
%module "thunder_core"

// SWIG gives Lua every integer as a float, which loses what is beyond 2^53.
%typemap(in, checkfn="lua_isinteger") long long "$1 = (long long)lua_tointeger(L, $input);"
%typemap(out) long long, int "lua_pushinteger(L, (lua_Integer)$1); SWIG_arg++;"
%typemap(typecheck, precedence=SWIG_TYPECHECK_INT64) long long "$1 = lua_isinteger(L, $input);"

%typemap(in, checkfn="lua_isstring") const thunder_swig::Bytes & (thunder_swig::Bytes bytes) {
  size_t size = 0;
  const char *data = lua_tolstring(L, $input, &size);
  bytes.data.assign(data, size);
  $1 = &bytes;
}
%typemap(out) thunder_swig::Bytes "lua_pushlstring(L, $1.data.data(), $1.data.size()); SWIG_arg++;"

%include "../thunder.i"

%{
static lua_State *thunder_state = NULL;

// What set_dispatch() was given, with the ticket, on a stack of its own: the caller may be a coroutine.
static bool thunder_run(long long ticket) {
  lua_State *L = thunder_state;
  if (!L || !lua_checkstack(L, 1)) return false;
  lua_State *own = lua_newthread(L);
  lua_getfield(own, LUA_REGISTRYINDEX, "thunder_swig.dispatch");
  lua_pushinteger(own, (lua_Integer)ticket);
  const bool returned = lua_pcall(own, 1, 0, 0) == LUA_OK;
  lua_pop(L, 1);
  return returned;
}

static int thunder_set_dispatch(lua_State *L) {
  lua_settop(L, 1);
  lua_setfield(L, LUA_REGISTRYINDEX, "thunder_swig.dispatch");
  return 0;
}
%}
%native(set_dispatch) int thunder_set_dispatch(lua_State *L);

%init %{
  lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
  thunder_state = lua_tothread(L, -1);
  lua_pop(L, 1);
  thunder_swig::set_runner(thunder_run);
%}
