// Commands run in a Lua state with the layer in it.
#include "commands.h"

#include "interrupt.h"
#include "line_editor.h"
#include "models.h"
#include "repl.h"
#include "seeing.h"
#include "traceback.h"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#if THUNDER_WITH_LUA
#include <lua.hpp>

extern "C" int luaopen_thunder(lua_State* L);

namespace {

constexpr const char* kListOps = R"lua(
print((require "thunder").help(... or ""))
)lua";

constexpr const char* kDoctor = R"lua(
local th = require "thunder"
local json = ... == "--json"
local other = select(json and 2 or 1, ...)
if other then
  io.stderr:write("thunder: doctor takes --json alone, got '", other, "'\n")
  os.exit(2, true)
end
if json then return print(th.describe "installation") end
local function row(name, text, state) print(("%-13s %s%s"):format(name, state == "works" and "" or state .. ": ", text)) end
row("thunder", ("%s, %s, %d ops"):format(th.version, _VERSION, #th.ops()), "works")
local failed = false
for _, found in ipairs(th.installation()) do
  row(found.name, found.text, found.state)
  failed = failed or found.state == "fails"
end
if failed then os.exit(1, true) end
)lua";

constexpr const char* kRunProgram = R"lua(
local th = require "thunder"
local words = { ... }
local run_saved_kernels = words[1] == "--run-saved-kernels"
if run_saved_kernels then table.remove(words, 1) end
local f = th.load_program(table.remove(words, 1), run_saved_kernels and { run_saved_kernels = true } or nil)
local arguments = {}
for i, word in ipairs(words) do
  if word:find "%.npy$" then arguments[i] = th.data.npy(word)
  else arguments[i] = math.tointeger(word) or tonumber(word) or word end
end
print(f(table.unpack(arguments, 1, #words)))
)lua";

bool ends_with(const char* file, const char* ending) {
  const size_t bytes = std::strlen(file), of = std::strlen(ending);
  return bytes > of && !std::strcmp(file + bytes - of, ending);
}

enum class FileKind { script, program, model };

// Decided by the file's first bytes. By its name if they do not tell, and for pipes, which can be read only once.
FileKind kind_of(const char* file) {
  std::error_code ignored;
  char first[9] = {};  // a saved program: the eight bytes of a length below 4 GiB, and a brace; a model: a field with its version
  if (std::filesystem::is_regular_file(file, ignored)) std::ifstream(file, std::ios::binary).read(first, sizeof first);
  if (first[8] == '{' && !std::memcmp(first + 4, "\0\0\0", 4)) return FileKind::program;
  if (first[0] == 8 && first[1] > 0) return FileKind::model;
  return ends_with(file, ".thunder") ? FileKind::program : ends_with(file, ".onnx") ? FileKind::model : FileKind::script;
}
bool is_program(const char* file) { return kind_of(file) == FileKind::program; }
bool is_model(int argc, char** argv) {
  for (int i = 0; i < argc; i++)
    if (kind_of(argv[i]) == FileKind::model) return i == 0 || argv[0][0] == '-';
  return false;
}

int open_is_script(lua_State* L) {
  lua_pushcfunction(L, [](lua_State* state) {
    lua_pushboolean(state, kind_of(luaL_checkstring(state, 1)) == FileKind::script);
    return 1;
  });
  return 1;
}

struct Script {
  const char* file;  // or null:
  const char* text;
  int argc;
  char** argv;
};

// Under lua_pcall: nothing here has a destructor.
int run_in_state(lua_State* L) {
  const auto* script = static_cast<const Script*>(lua_touserdata(L, 1));
  luaL_openlibs(L);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  lua_pushcfunction(L, luaopen_thunder);
  lua_setfield(L, -2, "thunder");
  lua_pushcfunction(L, open_line_editor);
  lua_setfield(L, -2, "thunder.line");
  lua_pushcfunction(L, open_is_script);
  lua_setfield(L, -2, "thunder.is_script");
  lua_createtable(L, script->argc, 1);
  lua_pushstring(L, script->file ? script->file : "thunder");
  lua_rawseti(L, -2, 0);
  for (int i = 0; i < script->argc; i++) {
    lua_pushstring(L, script->argv[i]);
    lua_rawseti(L, -2, i + 1);
  }
  lua_setglobal(L, "arg");
  if (luaL_dostring(L, "require('thunder').show_compiles(true)")) return lua_error(L);
  const int failed = script->file ? luaL_loadfilex(L, script->file, "t") : luaL_loadbuffer(L, script->text, std::strlen(script->text), "=thunder.tool");
  if (failed) return lua_error(L);
  luaL_checkstack(L, script->argc, "too many arguments");
  for (int i = 0; i < script->argc; i++) lua_pushstring(L, script->argv[i]);
  lua_call(L, script->argc, 0);
  return 0;
}

int run(Script script) {
  lua_State* L = luaL_newstate();
  if (!L) return std::fputs("thunder: out of memory\n", stderr), 1;
  lua_pushcfunction(L, add_traceback);
  lua_pushcfunction(L, run_in_state);
  lua_pushlightuserdata(L, &script);
  const int failed = script.file ? call_interruptibly(L, 1, 0, 1, true) : lua_pcall(L, 1, 0, 1);
  if (failed) std::fprintf(stderr, "thunder: %s\n", lua_tostring(L, -1));
  lua_close(L);
  if (failed && was_interrupted()) std::raise(SIGINT);  // a shell that runs a loop of scripts ends it, too
  return failed ? 1 : 0;
}

int run_on_model(const char* script, int argc, char** argv) {
  const std::string text = std::string(kModelInputs) + script;
  return run({nullptr, text.c_str(), argc, argv});
}

}  // namespace

int convert_file(int argc, char** argv) {
  for (int i = 0; i < argc && !is_program(argv[i]); i++)
    if (kind_of(argv[i]) == FileKind::model) return run_on_model(kConvertModel, argc, argv);
  return convert_program(argc, argv);
}
int run_script(int argc, char** argv) {
  if (argc < 1) return 2;
  const bool runs_kernels = !std::strcmp(argv[0], "--run-saved-kernels");
  if (runs_kernels && (argc < 2 || !is_program(argv[1]))) return 2;
  if (runs_kernels || is_program(argv[0])) return run({nullptr, kRunProgram, argc, argv});
  if (is_model(argc, argv)) return run_on_model(kRunModel, argc, argv);
  return run({argv[0], nullptr, argc - 1, argv + 1});
}
int inspect_model(int argc, char** argv) {
  return argc == 1 ? run({nullptr, kInspectModel, argc, argv}) : 2;
}
int read_and_run(int argc, char** argv) { return run({nullptr, kReadAndRun, argc, argv}); }
// argv[-1] is the command's name, which the script begins with.
static int see(int argc, char** argv) { return argc > 0 ? run({nullptr, kSee, argc + 1, argv - 1}) : 2; }
int examine_script(int argc, char** argv) { return see(argc, argv); }
int profile_script(int argc, char** argv) { return see(argc, argv); }
int trace_script(int argc, char** argv) { return see(argc, argv); }
int write_repro(int argc, char** argv) { return see(argc, argv); }
int list_ops(int argc, char** argv) { return run({nullptr, kListOps, argc, argv}); }
int examine_installation(int argc, char** argv) { return run({nullptr, kDoctor, argc, argv}); }

#else

static int without_lua() {
  std::fputs("thunder: this command needs Lua, which was not there when the tool was built\n", stderr);
  return 1;
}
int run_script(int, char**) { return without_lua(); }
int inspect_model(int, char**) { return without_lua(); }
int convert_file(int argc, char** argv) { return convert_program(argc, argv); }
int read_and_run(int, char**) { return without_lua(); }
int list_ops(int, char**) { return without_lua(); }
int examine_installation(int, char**) { return without_lua(); }
int examine_script(int, char**) { return without_lua(); }
int profile_script(int, char**) { return without_lua(); }
int trace_script(int, char**) { return without_lua(); }
int write_repro(int, char**) { return without_lua(); }

#endif
