// The loop of the interactive tool, in Lua over `thunder` and `thunder.line`.
#pragma once

extern const char kReadAndRun[];
// Its argument is a line, which is run like one of those; the others are in `arg`.
extern const char kRunCode[];
