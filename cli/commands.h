// What the commands of the tool do. The exit status; 2: the words make no sense, and this was said.
#pragma once

#include "command.h"

int run_file(const Command& command, const Words& words);
int inspect_file(const Command& command, const Words& words);
int list_ops(const Command& command, const Words& words);
int examine_installation(const Command& command, const Words& words);
// Of a script, a saved program or a model.
int see_calls(const Command& command, const Words& words);
int export_program(const Command& command, const Words& words);
// A saved program as a model, and a model as a saved program.
int convert_program(const Command& command, const Words& words);
int convert_file(const Command& command, const Words& words);
int print_completion(const Command& command, const Words& words);
int explain_command(const Command& command, const Words& words);
int say_version(const Command& command, const Words& words);

// Without a command: reads lines, or runs `code` as one, its arguments in `arg`.
int read_and_run();
int run_code(const char* code, std::span<char* const> arguments);
