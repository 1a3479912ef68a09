#include "traceback.h"

#if THUNDER_WITH_LUA
#include <lua.hpp>

extern "C" int add_traceback(lua_State* L) {
  if (lua_type(L, 1) != LUA_TSTRING && luaL_callmeta(L, 1, "__tostring") && lua_type(L, -1) == LUA_TSTRING) return 1;
  luaL_traceback(L, L, luaL_tolstring(L, 1, nullptr), 1);
  return 1;
}
#endif
