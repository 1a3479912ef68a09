#include "ir/type.h"

#include <algorithm>

#include "base/checked.h"
#include "ir/dim_reads.h"

namespace thunder {

bool fits_in_memory(const TensorType& type) {
  Checked checked;
  auto bytes = static_cast<int64_t>(size_of(type.dtype));
  for (Dim d : type.shape) {
    const int64_t size = d.constant() ? d.value() : unnoted_hint(d);  // asked again of every type that is made
    checked.fits &= size >= 0;
    bytes = checked.mul(bytes, std::max<int64_t>(1, size));
  }
  return checked.fits;
}

}  // namespace thunder
