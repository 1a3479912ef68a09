// Which build of a file the code in this process comes from.
#pragma once

#include <string>

namespace thunder {

// The build id that the linker gave the program or library that contains this address, in hexadecimal: the same file
// has it on every machine. A file without one: its size and time of change. "" if neither is known.
std::string build_id(const void* address);

// The path of that file; "" if it is not known.
std::string file_of(const void* address);

}  // namespace thunder
