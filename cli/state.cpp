#include "state.h"

#if THUNDER_WITH_LUA
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <lua.hpp>

#include "files.h"
#include "interrupt.h"
#include "line_editor.h"
#include "output.h"
#include "traceback.h"

extern "C" int luaopen_thunder(lua_State* L);

namespace {

struct Script {
  const char* text;  // null: the first place is its file
  const Command* command;
  const Words& words;
};

int push_kind(lua_State* L) {
  constexpr const char* kNames[] = {"script", "program", "safetensors", "model", "array", "other"};
  return lua_pushstring(L, kNames[static_cast<int>(kind_of(luaL_checkstring(L, 1)))]), 1;
}

int push_description(lua_State* L) { return lua_pushstring(L, description_of(luaL_checkstring(L, 1))), 1; }

// with_output_to_error(f, ...)
int with_output_to_error(lua_State* L) {
  int failed;
  {
    const OutputToError guard;
    failed = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);
  }
  return failed ? lua_error(L) : lua_gettop(L);
}

// make_folder(path): nil, or why it could not be made.
int make_folder(lua_State* L) {
  const char* const path = luaL_checkstring(L, 1);
  bool failed;
  {
    std::error_code why;
    std::filesystem::create_directories(path, why);
    failed = static_cast<bool>(why);
    if (failed) lua_pushstring(L, why.message().c_str());
  }
  return failed;
}

int open_tool(lua_State* L) {
  constexpr luaL_Reg kFunctions[] = {{"kind_of", push_kind}, {"description_of", push_description},
                                     {"with_output_to_error", with_output_to_error}, {"make_folder", make_folder}, {nullptr, nullptr}};
  luaL_newlib(L, kFunctions);
  return 1;
}

void push_options(lua_State* L, const Script& script) {
  lua_createtable(L, 0, 4);
  if (script.command) {
    lua_pushstring(L, script.command->name);
    lua_setfield(L, -2, "command");
  }
  for (const Words::Given& given : script.words.options) {
    char name[32];
    std::snprintf(name, sizeof name, "%s", given.option->word + 2);
    std::replace(name, name + std::strlen(name), '-', '_');
    if (given.option->repeats) {
      luaL_getsubtable(L, -1, name);
      lua_pushlstring(L, given.value.data(), given.value.size());
      lua_rawseti(L, -2, static_cast<lua_Integer>(lua_rawlen(L, -2)) + 1);
      lua_pop(L, 1);
      continue;
    }
    if (given.option->value) lua_pushlstring(L, given.value.data(), given.value.size());
    else lua_pushboolean(L, true);
    lua_setfield(L, -2, name);
  }
}

void set_arg(lua_State* L, const Script& script) {
  const std::vector<std::string>& places = script.words.places;
  lua_createtable(L, static_cast<int>(places.size()), 1);
  if (script.text) {
    lua_pushstring(L, "thunder");
    lua_rawseti(L, -2, 0);
  }
  for (size_t i = 0; i < places.size(); i++) {
    lua_pushlstring(L, places[i].data(), places[i].size());
    lua_rawseti(L, -2, static_cast<lua_Integer>(i) + (script.text ? 1 : 0));
  }
  lua_setglobal(L, "arg");
}

void preload(lua_State* L, const char* name, lua_CFunction open) {
  lua_pushcfunction(L, open);
  lua_setfield(L, -2, name);
}

// Under lua_pcall: nothing here has a destructor.
int run_in_state(lua_State* L) {
  const Script& script = *static_cast<const Script*>(lua_touserdata(L, 1));
  luaL_openlibs(L);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  preload(L, "thunder", luaopen_thunder);
  preload(L, "thunder.line", open_line_editor);
  preload(L, "thunder.tool", open_tool);
  lua_pop(L, 1);
  set_arg(L, script);
  if (luaL_dostring(L, "require('thunder').show_compiles(true)")) return lua_error(L);
  const std::vector<std::string>& places = script.words.places;
  const char* const file = script.text || places[0] == "-" ? nullptr : places[0].c_str();
  const int failed = script.text ? luaL_loadbuffer(L, script.text, std::strlen(script.text), "=thunder.tool") : luaL_loadfilex(L, file, "t");
  if (failed) return lua_error(L);
  luaL_checkstack(L, static_cast<int>(places.size()) + 8, "too many arguments");
  const int before = lua_gettop(L);
  if (script.text) push_options(L, script);
  for (size_t i = script.text ? 0 : 1; i < places.size(); i++) lua_pushlstring(L, places[i].data(), places[i].size());
  lua_call(L, lua_gettop(L) - before, 0);
  return 0;
}

int run(Script script) {
  lua_State* L = luaL_newstate();
  if (!L) return std::fputs("thunder: out of memory\n", stderr), 1;
  lua_warning(L, "@on", 0);
  lua_pushcfunction(L, add_traceback);
  lua_pushcfunction(L, run_in_state);
  lua_pushlightuserdata(L, &script);
  const int failed = script.text ? lua_pcall(L, 1, 0, 1) : call_interruptibly(L, 1, 0, 1, true);
  if (failed) std::fprintf(stderr, "thunder: %s\n", lua_tostring(L, -1));
  lua_close(L);
  if (failed && was_interrupted()) std::raise(SIGINT);  // a shell that runs a loop of scripts ends it, too
  return failed ? 1 : 0;
}

}  // namespace

int run_script_file(const Words& words) { return run({nullptr, nullptr, words}); }
int run_tool_script(const char* text, const Command* command, const Words& words) { return run({text, command, words}); }

#else
#include <cstdio>

int run_script_file(const Words&) { return run_tool_script(nullptr, nullptr, {}); }
int run_tool_script(const char*, const Command*, const Words&) {
  std::fputs("thunder: this command needs Lua, which was not there when the tool was built\n", stderr);
  return 1;
}
#endif
