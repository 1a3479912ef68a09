// Ctrl-C while Lua runs.
#pragma once

struct lua_State;

// lua_pcall, while which an interrupt (SIGINT) raises "interrupted" at the line of the script that runs, in a compiled function between
// two steps of its program. `ends_at_second`: a second one ends the process, as without a handler. Where the host ignores
// interrupts they stay ignored.
int call_interruptibly(lua_State* L, int arguments, int results, int handler, bool ends_at_second);

// Whether an interrupt was raised since the process began; a process that ends by one tells the shell so.
bool was_interrupted();
