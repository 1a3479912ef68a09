// What `thunder inspect` says of a file, in Lua. Its arguments are the options and the file.
#pragma once

extern const char* const kInspect;
