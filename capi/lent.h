// Values while a callback has them.
#pragma once

#include "capi/handle.h"

namespace thunder::capi {

// A callback that releases lent values which it did not retain neither frees them nor goes unnoticed: the call fails.
// What it retained stays its own after the call. Requires: counted values with one owner, the caller.
class LentValues {
 public:
  explicit LentValues(Values& values) : values_(values) { values_.lent = true; }
  ~LentValues() { values_.lent = false, values_.reads = nullptr; }
  LentValues(const LentValues&) = delete;

 private:
  Values& values_;
};

}  // namespace thunder::capi
