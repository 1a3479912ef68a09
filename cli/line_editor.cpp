#include "line_editor.h"

#include "interrupt.h"
#include "traceback.h"

#if THUNDER_WITH_LUA
#include <dlfcn.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
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
  void (*install)(const char* prompt, void (*take)(char* line)) = nullptr;
  void (*read_char)() = nullptr;
  void (*remove)() = nullptr;
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
    return find("rl_callback_handler_install", install) && find("rl_callback_read_char", read_char) &&
           find("rl_callback_handler_remove", remove) && find("add_history", add_history) && find("read_history", read_history) &&
           find("write_history", write_history) && find("rl_completion_matches", matches) && find("rl_attempted_completion_function", complete) &&
           find("rl_basic_word_break_characters", word_breaks) && find("rl_completion_append_character", append);
  }
};

Editor editor;
bool edits = false;
char* history = nullptr;       // path
lua_State* at_work = nullptr;  // what completion asks
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

// ---- a line ----

volatile std::sig_atomic_t cleared = 0;  // Ctrl-C at the prompt
char* typed = nullptr;
bool done = false;

volatile std::sig_atomic_t reading = 0;  // the editor reads a key
// The terminal drops what was typed before an interrupt, so a read for which there was input may wait for more. From here on reads
// of the terminal return at once; the editor sets its own mode again when it begins a line.
void clear(int) {
  cleared = 1;
  const int error = errno;
  termios mode{};
  if (reading && tcgetattr(STDIN_FILENO, &mode) == 0) {
    mode.c_cc[VMIN] = mode.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSANOW, &mode);
  }
  errno = error;
}
// For the whole session, also between reading a line and running it; where the host ignores interrupts they stay ignored.
void note_interrupts() {
  struct sigaction ours {}, before {};
  sigaction(SIGINT, nullptr, &before);
  ours.sa_handler = clear;  // without SA_RESTART: it ends a read
  if (before.sa_handler != SIG_IGN) sigaction(SIGINT, &ours, nullptr);
}
void take(char* line) {
  typed = line, done = true;
  reading = 0;
  editor.remove();
}

// While this object lives, an interrupt is noted, and only `wait` and `read` react to it.
class Waiting {
 public:
  Waiting() {
    sigset_t interrupts;
    sigemptyset(&interrupts);
    sigaddset(&interrupts, SIGINT);
    pthread_sigmask(SIG_BLOCK, &interrupts, &mask_);
    sigaction(SIGINT, nullptr, &before_);
    take_over();
  }
  ~Waiting() {
    sigaction(SIGINT, &before_, nullptr);
    pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
  }
  Waiting(const Waiting&) = delete;
  // Called again when the editor has begun a line, since the editor installs its own handlers.
  void take_over() const {
    struct sigaction ours {};
    ours.sa_handler = clear;
    if (before_.sa_handler != SIG_IGN) sigaction(SIGINT, &ours, nullptr);
  }
  // Waits for input; false at its end.
  bool wait() const {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    return ppoll(&input, 1, nullptr, &mask_) < 0 || input.revents & POLLIN;
  }
  // Reads the key that was pressed; an interrupt ends it.
  void read() const {
    sigset_t blocked;
    reading = 1;
    pthread_sigmask(SIG_SETMASK, &mask_, &blocked);
    if (!cleared) editor.read_char();
    pthread_sigmask(SIG_SETMASK, &blocked, nullptr);
    reading = 0;
  }

 private:
  sigset_t mask_;
  struct sigaction before_ {};
};

enum class Read { line, end, interrupted };

Read edit_line(const char* prompt) {
  const Waiting waiting;
  typed = nullptr, done = false;
  cleared = 0;
  editor.install(prompt, take);
  waiting.take_over();
  while (!done) {
    const bool more = waiting.wait();
    if (more && !cleared) {
      waiting.read();
      if (done || !cleared) continue;
    }
    editor.remove();
    std::fputs(cleared ? "^C\n" : "", stdout);
    return cleared ? Read::interrupted : Read::end;
  }
  return typed ? Read::line : Read::end;
}

// ---- the module ----

// Without an editor the terminal's own line is what Ctrl-C clears.
Read read_plain(lua_State* L) {
  cleared = 0;
  luaL_Buffer line;
  luaL_buffinit(L, &line);
  int c, read = 0;
  while ((c = std::getc(stdin)) != EOF && c != '\n') luaL_addchar(&line, static_cast<char>(c)), read++;
  luaL_pushresult(&line);
  if (c != EOF || read) return Read::line;
  if (!cleared) return Read::end;
  std::clearerr(stdin);
  std::fputs("\n", stdout);
  return Read::interrupted;
}

int read_line(lua_State* L) {
  const char* prompt = luaL_checkstring(L, 1);
  Read read;
  if (edits) {
    at_work = L;
    read = edit_line(prompt);
    if (read == Read::line) {
      lua_pushstring(L, typed);
      if (*typed) editor.add_history(typed);
      if (*typed && history) editor.write_history(history);
      std::free(typed);
    }
    if (read == Read::end) std::fputs("\n", stdout);
  } else {
    if (isatty(STDIN_FILENO)) std::fputs(prompt, stdout), std::fflush(stdout);
    read = read_plain(L);
  }
  if (read == Read::line) return 1;
  lua_pushnil(L);
  lua_pushboolean(L, read == Read::interrupted);
  return 2;
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
  const bool ok = call_interruptibly(L, 0, LUA_MULTRET, 1, false) == LUA_OK;
  lua_pushboolean(L, ok);
  lua_replace(L, 1);
  return lua_gettop(L);
}

}  // namespace

int open_line_editor(lua_State* L) {
  edits = isatty(0) && editor.open();
  note_interrupts();
  const luaL_Reg functions[] = {{"read", read_line}, {"complete", complete}, {"remember", remember}, {"call", call}, {nullptr, nullptr}};
  luaL_newlib(L, functions);
  lua_pushboolean(L, isatty(0));
  lua_setfield(L, -2, "interactive");
  return 1;
}
#endif
