/* described.h: how described.c, which is generated, reads arguments; each refuses what it does not expect, and says what `what` is. */
#pragma once
#include "lua/layer.h"

const char *text_given(lua_State *L, int index, const char *what);
size_t count_given(lua_State *L, int index, const char *what);
thunder_values *values_given(lua_State *L, int index, const char *what); /* in a box on the stack */
void names_push(lua_State *L, const char *const *names);                 /* a list */
thunder_compiled *compiled_handle(lua_State *L, int index);
