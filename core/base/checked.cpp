#include "base/checked.h"

namespace thunder {

void fail_size(int64_t a, char op, int64_t b) {
  fail(Code::invalid_argument, "size ", a, " ", op, " ", b, " does not fit in 64 bits");
}

}  // namespace thunder
