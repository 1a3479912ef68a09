#include "ir/type.h"

#include <algorithm>

#include "base/checked.h"
#include "ir/dim_reads.h"

namespace thunder {

bool fits_in_memory(const TensorType& type) {
  const DimReads::Pause asked_again;  // of every type that is made
  Checked checked;
  auto bytes = static_cast<int64_t>(size_of(type.dtype));
  for (Dim d : type.shape) {
    checked.fits &= hint(d) >= 0;
    bytes = checked.mul(bytes, std::max<int64_t>(1, hint(d)));
  }
  return checked.fits;
}

}  // namespace thunder
