// Where a slice begins or ends.
#pragma once

#include "ir/dim.h"

namespace thunder {

// A place in a dim of this size: counted from the end where it is negative, then brought inside, as was seen.
inline Dim bound(Dim at, Dim size) {
  if (hint(at) < 0) at = at + size;
  if (hint(at) < 0) return 0;
  return hint(at) > hint(size) ? size : at;
}

}  // namespace thunder
