// What the process has compiled, as one text for another process on a machine of the same kind.
#pragma once

#include <string>
#include <string_view>

#include "base/artifacts.h"
#include "base/machine.h"

namespace thunder {

struct ArtifactCounts {
  uint64_t cpu_kernels = 0, cuda_kernels = 0, product_choices = 0;
};

// The kernels that the process has compiled, found on disk or been given since it began. `counts`: of the text.
std::string save_cache_artifacts(const Machine& machine, ArtifactCounts& counts);

// Later compiles of the same kernels take those. Throws as `unpack` does, and failed_precondition, saying what differs,
// where they are for another machine or another build of the library; then nothing is taken.
ArtifactCounts load_cache_artifacts(const Machine& machine, std::string_view text);

// The same of some kernels for the CPU, by their nests' texts; and what is wrong with artifacts for this machine and
// library: "": nothing.
Artifacts collect_artifacts(const Machine& machine, std::vector<std::string> nests);
std::string mismatch(const Artifacts& artifacts, const Machine& machine);
// Requires: there is no mismatch.
ArtifactCounts add_to_caches(Artifacts&& artifacts);

}  // namespace thunder
