// Which function this thread traces: what is made meanwhile, and given up before its end, belongs to each call alone.
#pragma once

#include <cstdint>

namespace thunder {

// A number for each trace of a function, whatever is traced inside of it; 0: none is being traced.
uint64_t current_trace();

class CurrentTrace {
 public:
  // `inside`: of the function that is being traced already.
  explicit CurrentTrace(bool inside);
  ~CurrentTrace();
  CurrentTrace(const CurrentTrace&) = delete;
  CurrentTrace& operator=(const CurrentTrace&) = delete;

 private:
  const uint64_t outer_;
};

}  // namespace thunder
