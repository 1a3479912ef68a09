#include "ir/type.h"

#include <algorithm>

#include "base/checked.h"
#include "ir/dim_reads.h"

namespace thunder {

namespace {

// The dtype is not looked at and products are not checked one by one: elements are taken to have eight bytes, the most,
// and sizes to be so small that their product fits.
bool is_small(const TensorType& type) {
  constexpr uint64_t kSmall = uint64_t{1} << 31;
  uint64_t bytes = 8;
  for (Dim d : type.shape) {
    if (!d.constant() || static_cast<uint64_t>(d.value()) >= kSmall || bytes >= kSmall) return false;
    bytes *= static_cast<uint64_t>(std::max<int64_t>(1, d.value()));
  }
  return true;
}

}  // namespace

bool fits_in_memory(const TensorType& type) {
  if (is_small(type)) [[likely]]
    return true;
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
