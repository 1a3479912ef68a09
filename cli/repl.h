// The loop of the interactive tool, in Lua over `thunder` and `thunder.line`.
#pragma once

extern const char kReadAndRun[];
