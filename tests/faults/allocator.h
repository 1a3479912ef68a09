// The memory of a test program, one allocation of which can be made to fail.
//
// allocator.cpp stands in for the C library's malloc and its kin, and so for operator new as well. It watches one thread at
// a time, between watch() and stop(): what that thread allocates is counted, may fail, and is known as a block until it is
// freed. What any other thread and the program itself do outside of that is left alone.
#pragma once

#include <cstddef>

namespace faults {

enum class Mode { once, from_then_on };

// From now on the `target`-th allocation of this thread fails (0: none), once or with all that follow it.
void watch(size_t target, Mode mode);
struct Seen {
  size_t allocations, failed;
};
Seen stop();
// While one lives, the thread is not watched: to look at what a failure left behind.
class Paused {
 public:
  Paused();
  ~Paused();
  Paused(const Paused&) = delete;

 private:
  bool was_;
};

// Blocks that were allocated while a thread was watched and are not freed.
size_t live_blocks();
void forget_live_blocks();
// Writes them, with their sizes and the callers of their allocation where they were traced, to the standard error.
void print_live_blocks();
// Notes the callers of each allocation, and writes those of the one that fails: slow, to look at one point.
void trace_callers(bool wanted);

}  // namespace faults
