// Lua with the layer in it, in which most commands are scripts.
#pragma once

#include "command.h"

// A script of the user's: its arguments are the places behind the first, which is its file ("-": standard input). The exit status.
int run_script_file(const Words& words);
// A script of the tool's: its arguments are a table of the options by name ({ run_saved_kernels = true, save = "out", dim = { "n=3" } }),
// the name of the command in it as `command`, then the places.
int run_tool_script(const char* text, const Command* command, const Words& words);
