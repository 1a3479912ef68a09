// Which process of a world this is, by the variables that its launcher sets.
#pragma once

#include <cstdint>
#include <string>

namespace thunder::scale {

struct ProcessPlace {
  std::string launcher;                         // "Open MPI", "torchrun" ...; "": none, and the process is alone
  int64_t rank = 0, ranks = 1, local_rank = 0;  // local_rank: among those on this machine
};

// Reads a variable of the environment; null where it is not set.
using GetVariable = const char* (*)(const char* name);

// Throws invalid_argument where a launcher's variables contradict each other, naming them.
ProcessPlace read_launcher(GetVariable get);

// "RANK and WORLD_SIZE (torchrun), ...": what read_launcher looks for.
std::string launcher_variables();

}  // namespace thunder::scale
