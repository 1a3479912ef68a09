#include "traceback.h"

#if THUNDER_WITH_LUA
#include <cstring>
#include <lua.hpp>

namespace {

// Whether a line of the user's runs, and not the tool's own alone.
bool in_script(lua_State* L) {
  lua_Debug frame;
  for (int level = 1; lua_getstack(L, level, &frame); level++) {
    lua_getinfo(L, "Sl", &frame);
    if (frame.currentline > 0 && std::strncmp(frame.source, "=thunder.", 9) != 0) return true;
  }
  return false;
}

}  // namespace

extern "C" int add_traceback(lua_State* L) {
  if (lua_type(L, 1) != LUA_TSTRING && luaL_callmeta(L, 1, "__tostring") && lua_type(L, -1) == LUA_TSTRING) return 1;
  const char* text = luaL_tolstring(L, 1, nullptr);
  if (in_script(L)) luaL_traceback(L, L, text, 1);
  return 1;
}
#endif
