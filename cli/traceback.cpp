#include "traceback.h"

#if THUNDER_WITH_LUA
#include <lua.hpp>

namespace {

// Whether a line of a script is running: an earlier error has no line.
bool in_script(lua_State* L) {
  lua_Debug frame;
  for (int level = 1; lua_getstack(L, level, &frame); level++) {
    lua_getinfo(L, "l", &frame);
    if (frame.currentline > 0) return true;
  }
  return false;
}

// th.traceback, which leaves out what is not the script's; false: the script has not asked for the library.
bool push_traceback_of_library(lua_State* L) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  if (lua_getfield(L, -1, "thunder") != LUA_TTABLE) return false;
  lua_pushliteral(L, "traceback");
  return lua_rawget(L, -2) == LUA_TFUNCTION;
}

}  // namespace

extern "C" int add_traceback(lua_State* L) {
  if (lua_type(L, 1) != LUA_TSTRING && luaL_callmeta(L, 1, "__tostring") && lua_type(L, -1) == LUA_TSTRING) return 1;
  luaL_tolstring(L, 1, nullptr);
  lua_replace(L, 1);
  if (push_traceback_of_library(L)) {
    lua_pushvalue(L, 1);
    lua_call(L, 1, 1);
  } else {
    lua_settop(L, 1);
    if (in_script(L)) luaL_traceback(L, L, lua_tostring(L, 1), 1);
  }
  return 1;
}
#endif
