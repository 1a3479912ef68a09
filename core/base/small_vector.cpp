#include "base/small_vector.h"

#include "base/text.h"

namespace thunder {

void throw_out_of_bounds(size_t position, size_t size) {
  fail(Code::internal, "internal error, please report it: position ", position, " of a list of ", size);
}

}  // namespace thunder
