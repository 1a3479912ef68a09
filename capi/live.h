// While a scope may be used by a caller. Its handles are good for that long, however long the object lives.
#pragma once

#include "capi/handle.h"

namespace thunder::capi {

// While it lives, a caller may use the scope: one that it made, or that a callback is lent while it runs. Several at a
// time may stand for one scope, on the thread that the scope belongs to.
class Live {
 public:
  explicit Live(Scope& scope) : scope_(scope) { scope_.lent++; }
  ~Live() {
    if (--scope_.lent == 0) scope_.retire_handles();
  }
  Live(const Live&) = delete;
  Live& operator=(const Live&) = delete;

 private:
  Scope& scope_;
};

}  // namespace thunder::capi
