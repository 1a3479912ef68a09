// Which build of a file the code in this process comes from.
#pragma once

#include <string>

namespace thunder {

// Of the program or library that holds this address: the linker's build id, which the same file has on every machine,
// in hexadecimal; of a file without one its size and when it was changed. "" if that is not known either.
std::string build_id(const void* address);

// The path of that file; "" if it is not known.
std::string file_of(const void* address);

}  // namespace thunder
