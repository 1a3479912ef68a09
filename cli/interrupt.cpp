#include "interrupt.h"

#if THUNDER_WITH_LUA
#include <csignal>
#include <cstring>
#include <lua.hpp>

namespace {

lua_State* at_work = nullptr;
bool ends = false;  // at the second one
bool raised = false;

// Functions of the Lua layer itself are left out: they have no line in a script.
void push_place(lua_State* L) {
  lua_Debug frame;
  for (int level = 0; lua_getstack(L, level, &frame); level++) {
    lua_getinfo(L, "Sl", &frame);
    if (frame.currentline <= 0 || std::strncmp(frame.source, "=thunder.", 9) == 0) continue;
    lua_pushfstring(L, "%s:%d: ", frame.short_src, frame.currentline);
    return;
  }
  lua_pushliteral(L, "");
}

void raise_interrupt(lua_State* L, lua_Debug*) {
  lua_sethook(L, nullptr, 0, 0);
  raised = true;
  push_place(L);
  lua_pushliteral(L, "interrupted");
  lua_concat(L, 2);
  lua_error(L);
}

void on_interrupt(int) {
  if (ends) std::signal(SIGINT, SIG_DFL);
  lua_sethook(at_work, raise_interrupt, LUA_MASKCALL | LUA_MASKRET | LUA_MASKLINE | LUA_MASKCOUNT, 1);
}

}  // namespace

int call_interruptibly(lua_State* L, int arguments, int results, int handler, bool ends_at_second) {
  struct sigaction ours {}, before {};
  at_work = L, ends = ends_at_second;
  sigaction(SIGINT, nullptr, &before);
  ours.sa_handler = on_interrupt;  // reads of the terminal end: without SA_RESTART
  const bool ignored = before.sa_handler == SIG_IGN;
  if (!ignored) sigaction(SIGINT, &ours, nullptr);
  const int failed = lua_pcall(L, arguments, results, handler);
  if (!ignored) sigaction(SIGINT, &before, nullptr);
  lua_sethook(L, nullptr, 0, 0);
  return failed;
}

bool was_interrupted() { return raised; }
#endif
