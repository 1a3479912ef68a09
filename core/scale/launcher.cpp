#include "scale/launcher.h"

#include <array>
#include <charconv>
#include <cstring>

#include "base/text.h"

namespace thunder::scale {
namespace {

struct Launcher {
  const char *name, *rank, *ranks, *local_rank;
  const char* also;  // a variable without which the others mean nothing, or null
};

// The first whose count of ranks is set is taken. A batch script of Slurm has the variables of a task, too: only what
// srun starts is in a step.
constexpr std::array kLaunchers = {
    Launcher{"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", nullptr},
    Launcher{"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", nullptr},
    Launcher{"PMI", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", nullptr},
    Launcher{"Slurm", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_STEP_ID"},
};

int64_t read_number(const Launcher& from, const char* variable, const char* text) {
  int64_t value = -1;
  const char* end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, value);
  require(error == std::errc() && stop == end && value >= 0, "the variable ", variable, " of ", from.name, " is '",
          text, "', which is no number");
  return value;
}

}  // namespace

ProcessPlace read_launcher(GetVariable get) {
  for (const Launcher& l : kLaunchers) {
    const char* ranks = get(l.ranks);
    if (!ranks || (l.also && !get(l.also))) continue;
    const char* rank = get(l.rank);
    require(rank, "the variable ", l.ranks, " of ", l.name, " is set, and ", l.rank, " is not");
    ProcessPlace place{l.name, read_number(l, l.rank, rank), read_number(l, l.ranks, ranks)};
    require(place.rank < place.ranks, "the variables of ", l.name, " say rank ", place.rank, " (", l.rank, ") of ",
            place.ranks, " (", l.ranks, ")");
    const char* local = get(l.local_rank);
    place.local_rank = local ? read_number(l, l.local_rank, local) : place.rank;
    return place;
  }
  return {};
}

std::string launcher_variables() {
  return join(kLaunchers, ", ", [](const Launcher& l) { return cat(l.rank, " and ", l.ranks, " (", l.name, ")"); });
}

}  // namespace thunder::scale
