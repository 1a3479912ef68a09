#include "line_editor.h"

#include "traceback.h"

#if THUNDER_WITH_LUA
#include <dlfcn.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <lua.hpp>
#include <type_traits>

namespace {

// The little of libedit's readline interface that is used here; editline/readline.h declares it.
struct Editor {
  using Generator = char* (*)(const char* text, int state);
  using Complete = char** (*)(const char* text, int start, int end);
  char* (*readline)(const char* prompt) = nullptr;
  int (*add_history)(const char* line) = nullptr;
  int (*read_history)(const char* path) = nullptr;
  int (*write_history)(const char* path) = nullptr;
  char** (*matches)(const char* text, Generator) = nullptr;
  Complete* complete = nullptr;
  const char** word_breaks = nullptr;
  int* append = nullptr;

  bool open() {
    void* library = dlopen("libedit.so.2", RTLD_LAZY | RTLD_LOCAL);
    if (!library) return false;
    const auto find = [library](const char* name, auto& to) { return (to = reinterpret_cast<std::decay_t<decltype(to)>>(dlsym(library, name))) != nullptr; };
    return find("readline", readline) && find("add_history", add_history) && find("read_history", read_history) &&
           find("write_history", write_history) && find("rl_completion_matches", matches) && find("rl_attempted_completion_function", complete) &&
           find("rl_basic_word_break_characters", word_breaks) && find("rl_completion_append_character", append);
  }
};

Editor editor;
bool edits = false;
char* history = nullptr;       // path
lua_State* at_work = nullptr;  // what an interrupt stops, and completion asks
int completer = LUA_NOREF;

// ---- completion ----

// libedit asks for one match after the other, from state 0 on, until there is none. The list is on the Lua stack.
char* next_match(const char*, int state) {
  lua_State* L = at_work;
  char* copy = lua_rawgeti(L, -1, state + 1) == LUA_TSTRING ? strdup(lua_tostring(L, -1)) : nullptr;
  lua_pop(L, 1);
  return copy;
}
char** complete_word(const char* text, int, int) {
  lua_State* L = at_work;
  const int top = lua_gettop(L);
  lua_rawgeti(L, LUA_REGISTRYINDEX, completer);
  lua_pushstring(L, text);
  char** found = nullptr;
  if (lua_pcall(L, 1, 1, 0) == LUA_OK && lua_istable(L, -1)) found = editor.matches(text, next_match);
  lua_settop(L, top);
  return found;
}

// ---- interrupts ----

void raise_interrupt(lua_State* L, lua_Debug*) {
  lua_sethook(L, nullptr, 0, 0);
  luaL_error(L, "interrupted");
}
void on_interrupt(int) { lua_sethook(at_work, raise_interrupt, LUA_MASKCALL | LUA_MASKRET | LUA_MASKLINE | LUA_MASKCOUNT, 1); }

// ---- the module ----

int read_plain(lua_State* L) {
  luaL_Buffer line;
  luaL_buffinit(L, &line);
  int c, read = 0;
  while ((c = std::getc(stdin)) != EOF && c != '\n') luaL_addchar(&line, static_cast<char>(c)), read++;
  luaL_pushresult(&line);
  if (c == EOF && !read) lua_pushnil(L);
  return 1;
}

int read_line(lua_State* L) {
  const char* prompt = luaL_checkstring(L, 1);
  if (!edits) {
    if (isatty(0)) std::fputs(prompt, stdout), std::fflush(stdout);
    return read_plain(L);
  }
  at_work = L;
  char* line = editor.readline(prompt);
  if (!line) return std::fputs("\n", stdout), lua_pushnil(L), 1;
  lua_pushstring(L, line);
  if (*line) editor.add_history(line);
  if (*line && history) editor.write_history(history);
  std::free(line);
  return 1;
}

int complete(lua_State* L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  luaL_unref(L, LUA_REGISTRYINDEX, completer);
  lua_settop(L, 1);
  completer = luaL_ref(L, LUA_REGISTRYINDEX);
  if (edits) *editor.complete = complete_word, *editor.word_breaks = " \t\n\"'`@$><=;|&{}()[]+-*/%^#,~", *editor.append = 0;
  return 0;
}

int remember(lua_State* L) {
  const char* path = luaL_checkstring(L, 1);
  if (edits) editor.read_history(path), std::free(history), history = strdup(path);
  return 0;
}

int call(lua_State* L) {
  lua_settop(L, 1);
  lua_pushcfunction(L, add_traceback);
  lua_insert(L, 1);
  at_work = L;
  const auto before = std::signal(SIGINT, on_interrupt);
  const bool ok = lua_pcall(L, 0, LUA_MULTRET, 1) == LUA_OK;
  std::signal(SIGINT, before);
  lua_sethook(L, nullptr, 0, 0);
  lua_pushboolean(L, ok);
  lua_replace(L, 1);
  return lua_gettop(L);
}

}  // namespace

int open_line_editor(lua_State* L) {
  edits = isatty(0) && editor.open();
  const luaL_Reg functions[] = {{"read", read_line}, {"complete", complete}, {"remember", remember}, {"call", call}, {nullptr, nullptr}};
  luaL_newlib(L, functions);
  lua_pushboolean(L, isatty(0));
  lua_setfield(L, -2, "interactive");
  return 1;
}
#endif
