// The arguments of one step of a program.
#pragma once

#include <string_view>

#include "base/thread_pool.h"
#include "ops/op.h"

namespace thunder {

struct Epilogue;

// Steps of one kind may be computed by one launch, from `least` on, at most `most` of them. "": each needs a launch of
// its own.
struct Joinable {
  std::string_view kind;  // valid until the step is joined or finished
  size_t most = 1;
  size_t least = 4;  // fewer do not justify compiling a joined kernel
};

// The argument of `run`. The front is frozen and new members are appended: it is thunder_launch.
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
  const Epilogue* epilogue = nullptr;  // of a step whose kernel has kRunsEpilogue; else null
};

// A part of a dense tensor seen as a matrix, in which all dims but the last count rows. Its first column is a multiple
// of 64; so is the number of its columns, unless it ends with the matrix.
struct Tile {
  int64_t row = 0, rows = 0, column = 0, columns = 0;
};

}  // namespace thunder
