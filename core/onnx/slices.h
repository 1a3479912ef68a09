// The attributes and inputs of Slice and Split, for values on the host and for tensors.
#pragma once

#include "onnx/node.h"

namespace thunder::onnx {

// One axis of a Slice, as given: ends that are negative count from the back, and those beyond are cut off.
struct Cut {
  size_t axis = 0;
  Dim start, end;
  int64_t step = 1;
};

// False where starts, ends, axes or steps are not known.
bool known_cuts(Node& n, size_t rank, std::vector<Cut>& cuts);

struct CutRange {
  int64_t begin, count;
};
// Requires: the size is known.
CutRange range_of(const Cut& cut, int64_t size);

// The sizes of the parts; `given` empty: as many equal ones as there are outputs, the last one smaller.
std::vector<int64_t> split_sizes(Node& n, int64_t size, const std::vector<int64_t>& given);

}  // namespace thunder::onnx
