// Reads the words after a command.
#pragma once

#include "command.h"
#include "thunder.h"

// False: they are not understood, and this was said in two lines, with the nearest that is.
bool read_words(const Command& command, std::span<char* const> argv, Words& words);

// " (did you mean 'run'?)", or all that there are.
std::string suggestion(const char* name, std::span<const char* const> known);

// Prints and releases what failed. The exit status.
int report(thunder_status* failed);
