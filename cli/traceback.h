// The message for an error that no Lua code caught.
#pragma once

struct lua_State;

// A message handler, as lua5.4 has it: the text of an object that has one of its own (__tostring) says all; the traceback
// follows any other, where a line of a script led to it.
extern "C" int add_traceback(lua_State* L);
