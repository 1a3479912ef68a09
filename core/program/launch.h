// What one step of a program is called with.
#pragma once

#include "base/thread_pool.h"
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
  Status* (*parallel_for)(const Launch*, int64_t n, int64_t grain, ThreadPool::Body body, void* arg) = nullptr;
  ThreadPool* threads = nullptr;
};

}  // namespace thunder
