// The table of living scopes. A scope that has ended is recognized by its address alone: its memory is not read.
#pragma once

#include "tracer/scope.h"

namespace thunder::capi {

// While it lives, a caller may use the scope: one that it made, or that a callback is lent while it runs. Several at a
// time may stand for one scope. Throws without memory.
class Live {
 public:
  explicit Live(const Scope& scope);
  ~Live();
  Live(const Live&) = delete;
  Live& operator=(const Live&) = delete;

 private:
  const Scope& scope_;
};

bool is_live(const Scope* scope) noexcept;

}  // namespace thunder::capi
