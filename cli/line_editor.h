// Lines from whoever uses the tool: on a terminal with history and completion, through libedit where it is installed.
#pragma once

struct lua_State;

// The Lua module `thunder.line`:
//   interactive        whether standard input is a terminal
//   read(prompt)       the next line without its end, or nil when there is none; off a terminal nothing is prompted. An interrupt
//                      (Ctrl-C) clears the line: nil, true
//   complete(f)        f(text) gives a list of what the word before the cursor may become
//   remember(path)     history is read from this file, and each line is added to it
//   call(f)            as pcall with a traceback; an interrupt raises "interrupted" inside
int open_line_editor(lua_State* L);
