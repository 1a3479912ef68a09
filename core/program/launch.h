// What one step of a program is called with.
#pragma once

#include "ops/op.h"

namespace thunder {

// What `run` sees. Frozen at the front, append-only: it is thunder_launch.
struct Launch {
  size_t size = sizeof(Launch);
  const Buffer* inputs = nullptr;
  size_t n_inputs = 0;
  const Buffer* outputs = nullptr;
  size_t n_outputs = 0;
  void* scratch = nullptr;
  void* native_stream = nullptr;
  void (*parallel_for)(const Launch*, size_t n, void (*body)(size_t begin, size_t end, void* arg), void* arg) = nullptr;
};

}  // namespace thunder
