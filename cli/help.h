// What the tool says of itself.
#pragma once

#include <cstdio>

#include "command.h"

void print_help(std::FILE* to);
void print_help(std::FILE* to, const Command& command);
void print_usage(std::FILE* to, const Command& command);
void print_version();
