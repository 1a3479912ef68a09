// Machine code that one process made, in one text for another: what it was made by and for, and blobs by key. The text
// is checked when it is read, but the code is run as it is: it must come from where programs may come from.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace thunder {

struct Artifact {
  std::string kind, key, blob;
};

struct Artifacts {
  std::string library;    // the build of the library that made them
  std::string machine;    // whose instructions the code may use
  std::string generator;  // of the code, in whose words; "" if nothing generates code here
  std::vector<Artifact> entries;
};

// The version of the layout; other versions are refused, since kernels can always be compiled again.
constexpr uint64_t kArtifactsVersion = 1;

std::string pack(const Artifacts& artifacts);
// Throws data_lost for a text that `pack` has not made or that was changed, unimplemented for one of another version.
// `what` names it in messages.
Artifacts unpack(std::string_view text, std::string_view what);

}  // namespace thunder
